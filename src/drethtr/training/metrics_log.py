"""Reports of a run: a progress bar on a terminal, lines of progress in a log, JSON lines for scripts, TensorBoard."""

import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

from tqdm import tqdm

from drethtr.base.files import atomic_write, make_folders
from drethtr.base.wording import in_words
from drethtr.documents.names import free_name

EVERY = 30.0
"""Seconds between lines of progress where there is no bar."""


class TrainingLog:
    """Receives the reports of a run; this base class discards them, for processes other than the main one."""

    def record(self, kind: str, samples: int, values: Mapping[str, float]) -> None:
        """Write one record; its numbers also go to TensorBoard."""

    def advance(self, lines: int, **shown: float) -> None:
        """Advance the progress bar."""

    def record_validation(self, samples: int, rates: Mapping[str, float]) -> None:
        """Write and print the error rates of the validation lines, overall and by set."""

    def note(self, text: str) -> None:
        """Print a sentence."""

    def close(self) -> None:
        """Close all outputs."""


class MetricsLog(TrainingLog):
    """Writes the metrics of a run of `total` lines to `folder`; a run resumed after `seen` lines appends.

    `unit` is the word for what is counted, if not lines, and `measure` the name of the validation's rate.
    """

    def __init__(self, folder: Path, total: int, seen: int, *, unit: str = "lines", measure: str = "CER") -> None:
        self.total, self.unit, self.measure = total, unit, measure
        self.first = self.seen = seen
        self.begun = self.reported = time.monotonic()
        self.rate: float | None = None
        make_folders(folder)
        metrics = folder / "metrics.jsonl"
        # A resumed run repeats the steps after its snapshot; their records must not be there twice.
        kept = records_until(seen, metrics.read_bytes()) if seen and metrics.exists() else b""
        with atomic_write(metrics) as unfinished:
            unfinished.write_bytes(kept)
        self.file = metrics.open("a", encoding="utf-8")
        self.bar = tqdm(
            total=total, initial=seen, unit=f" {unit}", smoothing=0.05, mininterval=1, disable=not sys.stderr.isatty()
        )
        try:
            from torch.utils.tensorboard import SummaryWriter

            self.board: Any = SummaryWriter(str(folder), purge_step=seen + 1)
        except (ImportError, UnicodeEncodeError):  # not installed, or the name of the folder is not UTF-8
            self.board = None

    def record(self, kind: str, samples: int, values: Mapping[str, float]) -> None:
        entry = {"kind": kind, "time": round(time.time(), 1), "samples": samples, "of": self.total}
        taken = set(entry)  # a set may be named like one of them
        named = {free_name(name, taken): value for name, value in values.items()}
        self.file.write(json.dumps(entry | named, ensure_ascii=False) + "\n")
        self.file.flush()
        if self.board is not None:
            for name, value in named.items():
                self.board.add_scalar(f"{kind}/{name}", value, samples)

    def advance(self, lines: int, **shown: float) -> None:
        self.seen += lines
        self.bar.set_postfix({name: f"{value:.3f}" for name, value in shown.items()}, refresh=False)
        self.bar.update(lines)
        if self.bar.disable and time.monotonic() - self.reported >= EVERY:
            self.reported = time.monotonic()
            self.note(self.progress(shown))

    def progress(self, losses: Mapping[str, float]) -> str:
        """How far the run is, and how long the rest takes at the speed so far."""
        parts = [f"{self.seen:,} of {self.total:,} {self.unit} seen"]
        parts += [f"{name} loss {value:.3f}" for name, value in losses.items()]
        if self.rate is not None:
            parts.append(f"validation {self.measure} {100 * self.rate:.2f} %")
        rest = max(self.total - self.seen, 0) * (time.monotonic() - self.begun) / max(self.seen - self.first, 1)
        return ", ".join([*parts, f"{in_words(rest)} left"])

    def record_validation(self, samples: int, rates: Mapping[str, float]) -> None:
        self.rate = rates["all"]
        self.record("validation", samples, rates)
        overall, sets = rates["all"], [f"{name} {100 * rate:.2f} %" for name, rate in rates.items() if name != "all"]
        seen = f"{samples:,} of {self.total:,} {self.unit} seen"
        self.note(f"{seen}, validation {self.measure} {100 * overall:.2f} % ({', '.join(sets)})")

    def note(self, text: str) -> None:
        self.bar.write(text, file=sys.stderr)

    def close(self) -> None:
        self.bar.close()
        self.file.close()
        if self.board is not None:
            self.board.close()


def records_until(seen: int, metrics: bytes) -> bytes:
    """The whole records of a run up to `seen` lines, without those that a killed run wrote after its last snapshot."""
    rows = metrics[: metrics.rfind(b"\n") + 1].splitlines(keepends=True)  # the last one may be incomplete
    return b"".join(row for row in rows if seen_at(row) <= seen)


def seen_at(row: bytes) -> float:
    """The lines seen before a record; infinite for a row that a loss of power has damaged."""
    with suppress(ValueError, LookupError, TypeError):
        return float(json.loads(row)["samples"])
    return inf
