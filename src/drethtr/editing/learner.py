"""Learns from confirmed lines: fine-tunes a model in another process, which measures the gain by cross-fitting.

The gain is shown before the new model is adopted; until then, or until it is discarded, it is offered after each start.
An adopted model is a file in the folder, which every command takes as `--model`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from os import getpid
from pathlib import Path
from secrets import token_hex
from shutil import copyfile
from threading import RLock, Thread
from typing import Any

from drethtr.base.errors import NOTHING_BETTER, CheckpointError, DataError, DrethtrError
from drethtr.base.files import atomic_write, write_own
from drethtr.base.links import is_own, make_marked, refuse_foreign, remove_marked, text_of_own
from drethtr.base.locks import claimed
from drethtr.base.sandbox import is_frozen
from drethtr.datasets.parquet import png_of, store_parquet
from drethtr.datasets.sample import Sample
from drethtr.editing.jobs import Job, Jobs, State
from drethtr.editing.journal import FOLDER, Change
from drethtr.editing.overview import Summary
from drethtr.editing.reader import Reader
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.recognition.model.adapter import load_named
from drethtr.recognition.model.file import SHIPPED
from drethtr.recognition.recognizer import Recognizer

LEARN = "learn"
"""The kind of job, and the action that the history records of lines trained on."""

MIN_CONFIRMED = 25
"""Minimum number of confirmed lines for learning. With 25, held-out lines gain next to nothing (CER 21.4 to 21.1 %;
with 50 lines 21.6 to 18.0; LOG.md, 2026-11-25, later), so fewer are not worth the wait."""

MODEL = "drethtr.safetensors"
ADAPTER = "drethtr.adapter.safetensors"
"""The adopted model or adapter in the folder."""

NO_GAIN = (
    "The model did not become better from {} confirmed lines, so it stays as it is. More confirmed lines may help."
)

NEEDED = ("torch", "accelerate", "pyarrow")

SECONDS = 1.0
"""Seconds between checks of the progress."""

TRAININGS = 3
"""How often `finetune --cross-fit` trains: on two folds to measure, and on all lines."""

STEPS = 100
"""Progress steps of a job."""

BASE = "base.txt"
"""A file that names the base of the learned model in its folder, beside the journal that of the adopted one; without
it, the base is the shipped model."""

MAX_PATH = 4096  # the limit of Linux; the folder may come from a stranger


class AlreadyLearning(DataError):
    """A model is learning from the folder already."""


class Learner:
    """Learning for one folder; one run at a time.

    Args:
        load: Loads a model with the user's options.
        model: The model that is in use; by default the shipped one.
        device: Where to train and evaluate.
        samples: Lines to train on, including repeats; by default fine-tuning chooses the number.
    """

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        reader: Reader,
        load: Callable[[Path], Recognizer],
        model: Path | None = None,
        device: str = "auto",
        samples: int | None = None,
    ) -> None:
        self.load = load
        self.device = device
        self.samples = samples
        self.workspace = workspace
        self.jobs = jobs
        self.reader = reader
        self.model = model or SHIPPED
        self.base = base_of(workspace.folder / FOLDER) if self.adopted else self.model
        self.models: dict[str, Path] = {}
        self.thread: Thread | None = None
        self.lock = RLock()  # held while a job is started, adopted or discarded
        self.place = workspace.folder / FOLDER / LEARN  # has a folder for each model that is learned
        for left in self.place.glob("*"):
            if not self.offer(left):
                remove_marked(left)

    def offer(self, place: Path) -> bool:
        """Offer a model that an earlier run has learned, and nobody adopted or discarded; False if there is none.

        One that cannot be read, such as that of a later version, is kept for a version that can.
        """
        try:
            target = adopted_in(place)
            if target is None or not (is_own(self.place) and is_own(place)):
                return False
            refuse_foreign(target)
            result = gain_of(load_named(target, None).card["fine_tuned"])
            json.dumps(result, allow_nan=False)  # as the folder may come from a stranger
        except (OSError, CheckpointError):
            return True
        except (DrethtrError, LookupError, TypeError, ValueError, AttributeError):
            return False
        job = self.jobs.new(LEARN, STEPS)
        self.models[job.id] = target
        self.jobs.update(job, state=State.DONE, done=STEPS, result=result, message="learned")
        return True

    @property
    def adopted(self) -> str | None:
        """The file name of the adopted model, if it is in use."""
        return self.model.name if self.model.parent.resolve() == self.workspace.folder else None

    def why_not_learnable(self, confirmed: int) -> str | None:
        """Why learning is impossible with this many confirmed lines; None if it is possible."""
        if is_frozen():
            return "learning needs the command drethtr model finetune, which a frozen program (PyInstaller) lacks"
        if any(find_spec(package) is None for package in NEEDED):
            return "learning needs torch; end this program, run: pip install 'drethtr[train]', and start it again"
        if confirmed < MIN_CONFIRMED:
            return f"learning needs {MIN_CONFIRMED} confirmed lines; confirm {MIN_CONFIRMED - confirmed} more"
        return None

    def learn(self, *, adapter: bool = False) -> Job:
        """Start learning a model, or an adapter, which is small but learns no new characters.

        Raises:
            AlreadyLearning: if that is being done.
            DataError: if there is too little to learn from, or a package is missing.
        """
        confirmed = sum(
            summary.learnable for _, summary in self.workspace.page_summaries() if isinstance(summary, Summary)
        )
        if (reason := self.why_not_learnable(confirmed)) is not None:
            raise DataError(reason)
        with self.lock:
            if self.jobs.running(LEARN) is not None:
                raise AlreadyLearning("the model is already learning from this folder; wait, or cancel that first")
            job = self.jobs.new(LEARN, STEPS)
            self.thread = Thread(target=self.run, args=(job, adapter), name="learn", daemon=True)
            self.thread.start()
            return job

    def close(self) -> None:
        """Stop learning, and its process."""
        if (job := self.jobs.running(LEARN)) is not None:
            self.jobs.cancel(job)
        if self.thread is not None:
            self.thread.join()

    def run(self, job: Job, adapter: bool) -> None:
        """Run a job, in its own thread."""
        place = self.place / token_hex(8)
        with self.jobs.in_progress(job, cancelled="nothing was changed"):
            self.jobs.update(job, message="gathering confirmed lines")
            try:
                make_marked(place)
                keep_base(place, self.base)
                lines = gather(self.workspace, job.check)
                adapter = adapter and self.base == SHIPPED  # an adapter finds only the shipped model from any place
                target = place / (ADAPTER if adapter else MODEL)
                if not self.train(job, [sample for _, _, sample in lines], target, adapter=adapter):
                    self.jobs.update(job, done=STEPS, message=NO_GAIN.format(len(lines)))
                    return
                model = self.reader.model
                for page_id, of_page in groupby(lines, itemgetter(0)):
                    changes = [Change(line, LEARN, model=model) for _, line, _ in of_page]
                    self.workspace.journal.add(page_id, changes)
                result = gain_of(load_named(target, None).card["fine_tuned"])
                self.models[job.id] = target
                self.jobs.update(job, done=STEPS, result=result, message="learned")
            finally:
                if job.id not in self.models:
                    remove_marked(place)

    def train(self, job: Job, lines: Sequence[Sample], target: Path, *, adapter: bool) -> bool:
        """Fine-tune in another process; returns whether a better model was written to `target`."""
        data = target.with_name("confirmed.parquet")
        store_parquet(lines, data)
        # Start from the base, never from an adopted model: that was trained on most of the lines that measure the gain.
        arguments = [str(data), "--cross-fit", "--output", str(target), "--model", str(self.base)]
        arguments += ["--adapter"] if adapter else []
        arguments += [] if self.samples is None else ["--samples", str(self.samples)]
        self.jobs.update(job, message=f"learning from {len(lines)} lines: twice to measure, then from all")
        for _ in self.finetune(job, arguments, data.with_name("log.txt")):
            self.jobs.update(job, done=round(STEPS * trained_share(target.with_suffix(".run"))))
        return target.exists()

    def finetune(self, job: Job, arguments: Sequence[str], log: Path) -> Iterator[None]:
        """Run `drethtr model finetune`, and yield regularly until it ends; it is terminated if the job is cancelled.

        Raises:
            Cancelled: if the job is.
            DataError: with the last line of its output, if it fails.
        """
        command = drethtr_command(["model", "finetune", *arguments, "--device", self.device])
        with log.open("ab") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            try:
                while process.poll() is None:
                    job.check()
                    yield
                    job.cancelled.wait(SECONDS)
            except BaseException:
                process.terminate()
                raise
        if process.returncode not in (0, NOTHING_BETTER):
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no message"]
            raise DataError(f"drethtr model finetune failed: {said[-1].removeprefix('drethtr: ')}")

    def adopt(self, job: Job) -> Job:
        """Use the model of a job from now on, and read again all lines that no person has touched.

        Returns:
            The job that reads them.

        Raises:
            DataError: if the job has no model, or the file cannot be written or is being written by another program.
        """
        with self.lock:
            target = self.models.get(job.id)
            if target is None or job.result is None:
                raise DataError("this job has nothing to adopt")
            file = self.workspace.folder / target.name
            refuse_foreign(file)
            recognizer = self.load(target)  # before it is in the folder, so that a model that fails changes nothing
            try:
                with claimed(file), atomic_write(file) as unfinished:
                    copyfile(target, unfinished)
                    base = base_of(target.parent)
                    # Before the model takes its name, so that it never names another base.
                    keep_base(self.workspace.folder / FOLDER, base)
            except OSError as error:
                raise DataError(f"cannot be written: {error.strerror}", file) from error
            other = self.workspace.folder / (MODEL if file.name == ADAPTER else ADAPTER)
            other.unlink(missing_ok=True)  # an earlier adopted model, which the next start might use
            self.model, self.base = file, base
            before = self.reader.recognizer
            self.reader.use(recognizer)
            self.reader.executor.submit_background(lambda: self.reader.index.renew(before, recognizer))
            self.jobs.update(job, result=job.result | {"adopted": True, "file": file.name})
            self.discard(job)
            return self.reader.read_pages(list(self.workspace.folder_pages), again=True)

    def discard(self, job: Job) -> None:
        """Remove the model of a job, which is then no longer offered; an adopted copy stays."""
        with self.lock:
            if (target := self.models.pop(job.id, None)) is not None:
                remove_marked(target.parent)
                if job.result is not None and not job.result.get("adopted"):
                    self.jobs.update(job, result=None, message="The new model was discarded.")


def gather(workspace: Workspace, check: Callable[[], None]) -> list[tuple[str, str, Sample]]:
    """The confirmed lines, cut out of their scans, with their pages and ids.

    `check` is called for every page, and may raise to cancel.
    """
    found: list[tuple[str, str, Sample]] = []
    for page, summary in workspace.page_summaries():
        check()
        if isinstance(summary, DataError) or not summary.counts[Status.CONFIRMED]:
            continue
        opened = workspace.page_files.open_existing(page)
        for line in opened.file.page.lines:
            if opened.status(line) is Status.CONFIRMED and line.text:
                with suppress(DataError):
                    strip = workspace.scans.straighten_line(page, line, opened.file.page.lines)
                    key = f"{page.name} line {line.id}"
                    name = workspace.folder.name
                    sample = Sample(strip.line, line.text, name, page=page.name, key=key, id=line.id)
                    found.append((page.id, line.id, replace(sample, image=png_of(sample))))
    return found


def adopted_in(folder: Path) -> Path | None:
    """The model or adapter with the name of an adopted one in a folder; None if there is none."""
    return next((folder / name for name in (ADAPTER, MODEL) if (folder / name).is_file()), None)


def drethtr_command(arguments: Sequence[str]) -> list[str]:
    """The command line that runs drethtr in a process that ends with this one; nothing in the folder is imported."""
    follow = f"from drethtr.base.processors import end_with_parent; end_with_parent({getpid()})"
    return [sys.executable, "-P", "-c", f"{follow}; from drethtr.cli.main import main; main()", *arguments]


def keep_base(place: Path, base: Path) -> None:
    """Record the base of a learned model, see `BASE`.

    Raises:
        OSError, DataError: if it cannot be written.
    """
    if base == SHIPPED:
        (place / BASE).unlink(missing_ok=True)
    else:
        write_own(place / BASE, str(base.resolve()))


def base_of(place: Path) -> Path:
    """The model that `keep_base` recorded; the shipped one if that is not known, or gone."""
    path = Path(text_of_own(place / BASE, MAX_PATH))
    with suppress(OSError, ValueError):
        if path.is_absolute() and path.is_file():
            return path
    return SHIPPED


def gain_of(card: Mapping[str, Any]) -> dict[str, Any]:
    """The gain of a fine-tuned model, from its card, as JSON values of a job."""
    before, after, change = card["validation_before"], card["validation_after"], card["change"]
    return {
        "learned_from": card["lines"],
        "measured": card["validation_lines"],
        "by_page": card["validation_by_page"],
        **{f"{rate}_before": round(before[rate], 4) for rate in ("cer", "wer")},
        **{f"{rate}_after": round(after[rate], 4) for rate in ("cer", "wer")},
        "change": {key: None if value is None else float(value) for key, value in change.items()},
        "better": change["cer"] < 0 and change["wer"] <= 0,
        "adopted": False,
        "file": None,
    }


def trained_share(run: Path) -> float:
    """The share of its lines that fine-tuning with cross-fitting has seen, according to its files."""
    return sum(map(seen_share, (*run.glob("fold_*"), run))) / TRAININGS


def seen_share(place: Path) -> float:
    """The share of its lines that one training has seen, from its result and metrics; 0 before it begins."""
    if any(place.glob("*_lines.safetensors")):
        return 1.0
    for metrics in place.glob("*_lines/metrics.jsonl"):
        with suppress(OSError, ValueError, KeyError, IndexError):
            rows = metrics.read_bytes()
            last = json.loads(rows[: rows.rfind(b"\n")].splitlines()[-1])
            return min(float(last["samples"] / last["of"]), 1.0)
    return 0.0
