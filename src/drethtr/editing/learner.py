"""Learns from confirmed lines: fine-tunes the model in another process, and measures it on lines kept out of that.

The gain on them is shown before the new model is
adopted; then it is a file in the folder, which every command takes as `--model`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from os import getpid
from pathlib import Path
from shutil import copyfile, rmtree
from threading import Thread
from typing import Any

from drethtr.base.atomic import atomic_write
from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.exit_codes import NOTHING_BETTER
from drethtr.editing.confirmed import FEWEST, LEARN, Confirmed, gather
from drethtr.editing.jobs import Cancelled, Job, Jobs, State
from drethtr.editing.journal import FOLDER, Change
from drethtr.editing.reader import Reader
from drethtr.editing.summary import Summary
from drethtr.editing.workspace import Workspace
from drethtr.lines.write_parquet import store_parquet
from drethtr.recognition.model_file import SHIPPED
from drethtr.recognition.recognizer import Recognizer

MODEL = "drethtr.safetensors"
ADAPTER = "drethtr.adapter.safetensors"
"""The adopted model or adapter in the folder."""

NEEDED = ("torch", "accelerate", "pyarrow")

SECONDS = 1.0
"""How often progress is looked at."""

STEPS = 100
"""Of a job; the last tenth is measuring."""


class Learner:
    """Learning for one folder; one run at a time.

    Args:
        load: Loads a model with the user's options.
        model: The model that reads; by default the shipped one.
        device: Where to train and measure.
        samples: Lines that a training sees, repeats included; by default as many as fine-tuning finds right.
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
        self.base = SHIPPED if self.adopted else self.model
        self.models: dict[str, Path] = {}
        self.thread: Thread | None = None

    @property
    def adopted(self) -> str | None:
        """The name of the model of this folder, if that is in use."""
        return self.model.name if self.model.parent.resolve() == self.workspace.folder else None

    def why_not(self, confirmed: int) -> str | None:
        """Why nothing can be learned from so many confirmed lines; None if it can."""
        if any(find_spec(package) is None for package in NEEDED):
            return "learning needs torch; end this program, run: pip install 'drethtr[train]', and start it again"
        if confirmed < FEWEST:
            return f"{confirmed} lines are confirmed and {FEWEST} needed; confirm {FEWEST - confirmed} more"
        return None

    def learn(self, *, adapter: bool = False) -> Job:
        """Begin to learn a model, or an adapter, which is small but learns no new characters.

        Raises:
            DataError: if there is too little to learn from, a package is missing, or it is being done already.
        """
        confirmed = sum(summary.learnable for _, summary in self.workspace.summarized() if isinstance(summary, Summary))
        if (reason := self.why_not(confirmed)) is not None:
            raise DataError(reason)
        if self.jobs.running(LEARN) is not None:
            raise DataError("the model is already learning from this folder; wait, or cancel that first")
        job = self.jobs.new(LEARN, STEPS)
        self.thread = Thread(target=self.work, args=(job, adapter), name="learn", daemon=True)
        self.thread.start()
        return job

    def close(self) -> None:
        """End learning, and the process that does it."""
        if (job := self.jobs.running(LEARN)) is not None:
            job.cancelled.set()
        if self.thread is not None:
            self.thread.join()

    def work(self, job: Job, adapter: bool) -> None:
        """Learn, in the thread of the job."""
        place = self.workspace.folder / FOLDER / LEARN / job.id
        try:
            rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            self.jobs.update(job, state=State.RUNNING, message="gathering confirmed lines")
            lines = gather(self.workspace, job.check)
            adapter = adapter and self.base == SHIPPED  # only the shipped model is found wherever the adapter is
            target = place / (ADAPTER if adapter else MODEL)
            if not self.train(job, lines, target, adapter=adapter):
                rmtree(place, ignore_errors=True)
                self.jobs.update(job, state=State.DONE, done=STEPS, message=nothing_better(lines))
                return
            result = self.measure(job, lines, target)
            self.models[job.id] = target
            notes = [
                Change(page, line, LEARN, None, None, None, model=self.reader.model) for page, line, _ in lines.train
            ]
            self.workspace.journal.add(notes)
            self.jobs.update(job, state=State.DONE, done=STEPS, result=result, message="learned")
        except Cancelled:
            rmtree(place, ignore_errors=True)
            self.jobs.update(job, state=State.CANCELLED, message="nothing was changed")
        except Exception as error:
            rmtree(place, ignore_errors=True)
            self.jobs.update(job, state=State.FAILED, error=self.workspace.without_private_paths(error))
            if not isinstance(error, DrethtrError | OSError):
                raise

    def train(self, job: Job, lines: Confirmed, target: Path, *, adapter: bool) -> bool:
        """Fine-tune in another process; whether the model became better, and was written."""
        data = target.with_name("train.parquet")
        store_parquet([sample for _, _, sample in lines.train], data)
        start = self.base if adapter or self.model.name == ADAPTER else self.model  # an adapter is no start
        arguments = ["finetune", str(data), "--output", str(target), "--model", str(start)]
        arguments += ["--adapter"] if adapter else []
        arguments += [] if self.samples is None else ["--samples", str(self.samples)]
        self.jobs.update(job, message=f"training on {len(lines.train)} lines")
        for _ in self.running(job, arguments, fine=(0, NOTHING_BETTER)):
            self.jobs.update(job, done=round(0.9 * STEPS * share_seen(target.with_suffix(".run"))))
        return target.exists()

    def measure(self, job: Job, lines: Confirmed, target: Path) -> dict[str, Any]:
        """Read the held-out lines with both models."""
        data, report = target.with_name("held_out.parquet"), target.with_name("gain.json")
        store_parquet([sample for _, _, sample in lines.held_out], data)
        self.jobs.update(job, done=round(0.9 * STEPS), message=f"evaluating on {len(lines.held_out)} held-out lines")
        for _ in self.running(job, ["compare", str(self.model), str(target), str(data), "--json", str(report)]):
            pass
        found = json.loads(report.read_text(encoding="utf-8"))
        cer, wer = found["cer"], found["wer"]
        return {
            "held_out": len(lines.held_out),
            "learned_from": len(lines.train),
            "cer_before": round(cer["a"], 4),
            "cer_after": round(cer["b"], 4),
            "difference": round(cer["difference"], 4),
            "low": cer["low"],
            "high": cer["high"],
            "wer_before": round(wer["a"], 4),
            "wer_after": round(wer["b"], 4),
            "better": cer["difference"] < 0,
            "adopted": False,
            "file": None,
        }

    def running(self, job: Job, arguments: Sequence[str], fine: Collection[int] = (0,)) -> Iterator[None]:
        """Run a command of drethtr, and return now and then until it ends; it is ended when the job is cancelled.

        Raises:
            Cancelled: if the job is.
            DataError: with the last words of the command, if its exit code is not a fine one.
        """
        log = self.workspace.folder / FOLDER / LEARN / job.id / "log.txt"
        command = tied_to_parent([*arguments, "--device", self.device])
        with log.open("ab") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            try:
                while process.poll() is None:
                    job.check()
                    yield
                    job.cancelled.wait(SECONDS)
            except BaseException:
                process.terminate()
                raise
        if process.returncode not in fine:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no message"]
            raise DataError(f"drethtr {arguments[0]} failed: {said[-1].removeprefix('drethtr: ')}")

    def adopt(self, job: Job) -> Job:
        """Read with what a job has learned from now on, and read again all lines that no person has touched.

        Returns:
            The job that reads them.

        Raises:
            DataError: if the job has learned nothing, or the file cannot be written.
        """
        target = self.models.get(job.id)
        if target is None or job.result is None:
            raise DataError("this job has nothing to adopt")
        file = self.workspace.folder / target.name
        recognizer = self.load(target)
        try:
            with atomic_write(file) as unfinished:
                copyfile(target, unfinished)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", file) from error
        other = self.workspace.folder / (MODEL if file.name == ADAPTER else ADAPTER)
        other.unlink(missing_ok=True)  # of an earlier time
        self.model = file
        self.reader.use(recognizer)
        self.jobs.update(job, result=job.result | {"adopted": True, "file": file.name})
        self.discard(job)
        return self.reader.read_pages(list(self.workspace.folder_pages), again=True)

    def discard(self, job: Job) -> None:
        """Remove what a job has learned; an adopted copy stays."""
        if self.models.pop(job.id, None) is not None:
            rmtree(self.workspace.folder / FOLDER / LEARN / job.id, ignore_errors=True)


def adopted_in(folder: Path) -> Path | None:
    """The model that was adopted in a folder; None if there is none."""
    return next((folder / name for name in (ADAPTER, MODEL) if (folder / name).is_file()), None)


def tied_to_parent(arguments: Sequence[str]) -> list[str]:
    """The command line of drethtr, as a process that does not outlive this one."""
    follow = f"from drethtr.base.processors import end_with_parent; end_with_parent({getpid()})"
    return [sys.executable, "-c", f"{follow}; from drethtr.cli.main import main; main()", *arguments]


def nothing_better(lines: Confirmed) -> str:
    """What there is to say if the model did not become better."""
    return (
        f"The model did not become better from {len(lines.train)} confirmed lines, so it stays as it is. "
        "More confirmed lines may help."
    )


def share_seen(run: Path) -> float:
    """The share of its lines that a training has seen, by its metrics; 0 before it begins."""
    for metrics in run.glob("*_lines/metrics.jsonl"):
        with suppress(OSError, ValueError, KeyError, IndexError):
            rows = metrics.read_bytes()
            last = json.loads(rows[: rows.rfind(b"\n")].splitlines()[-1])
            return min(float(last["samples"] / last["of"]), 1.0)
    return 0.0
