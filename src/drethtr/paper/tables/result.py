"""The result of a row, and its file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.files import atomic_write
from drethtr.evaluation.metrics import Counts

CER, WER, MEAN_OF_BATCHES, LINES = "CER %", "WER %", "CER %, mean of batches", "test lines"
NATS, PARAMETERS, SECONDS, GIGABYTES = "nats per character", "parameters, million", "seconds", "GB"
MEASURES = (CER, MEAN_OF_BATCHES, WER, NATS, LINES, PARAMETERS, SECONDS, GIGABYTES)
"""The measures, in display order."""
BATCH = 16
"""Lines per batch in the paper."""


@dataclass(frozen=True)
class Share:
    """A line's contribution to a rate; `sum(shares, Share())` adds them up."""

    part: float = 0.0
    whole: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def rate(self) -> float:
        """The part divided by the whole."""
        return self.part / max(self.whole, 1)


@dataclass(frozen=True)
class LineResult:
    """The result of a test line: origin, correct text, reading, and nats as in `likelihood.py`."""

    key: str
    page: str
    text: str
    read: str
    counts: Counts
    nats: float | None = None

    @property
    def nats_per_character(self) -> Share:
        """Nats of the text and its end."""
        return Share() if self.nats is None else Share(self.nats, len(self.text) + 1)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Figures by `MEASURES`; for a trained system also its model, the lines that it read, and their files."""

    figures: Mapping[str, float]
    lines: tuple[LineResult, ...] = ()
    files: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of a row and seed, with the `fingerprint` of all settings that affect it, and the machine."""

    table: str
    row: str
    seed: int
    fingerprint: str
    outcome: Measurement
    machine: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        with atomic_write(path) as unfinished:
            unfinished.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """The inverse of `save`.

        Raises:
            DataError: if the file does not contain a result.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            outcome = found.pop("outcome")
            lines = tuple(LineResult(**line | {"counts": Counts(**line["counts"])}) for line in outcome.pop("lines"))
            files = tuple(outcome.pop("files"))
            return cls(outcome=Measurement(lines=lines, files=files, **outcome), **found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"not a result ({error}); delete it to run the row again", path) from error


def mean_of_batches(counts: Sequence[Counts]) -> float:
    """The paper's own measure: the mean CER of batches of test lines, in order (spec, Sec. 3)."""
    batches = [sum(counts[start : start + BATCH], Counts()) for start in range(0, len(counts), BATCH)]
    return fmean(of_batch.cer for of_batch in batches if of_batch.characters)
