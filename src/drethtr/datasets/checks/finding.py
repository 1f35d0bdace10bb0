"""A finding of a check, with its severity and the lines it concerns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from drethtr.datasets.sample import Sample

Splits: TypeAlias = Mapping[str, Sequence[Sample]]
"""The lines of each split, with texts as written, before normalization."""


def all_lines(splits: Splits) -> list[Sample]:
    """The lines of all splits together."""
    return [sample for samples in splits.values() for sample in samples]


class Severity(StrEnum):
    """How severe a finding is."""

    ERROR = "error"
    """Metrics or training would be wrong."""
    WARNING = "warning"
    """Probably a mistake; a person should look."""
    NOTE = "note"
    """Worth knowing."""


class Row(NamedTuple):
    """A line with a finding, and what exactly was found."""

    key: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.detail}" if self.detail else self.key


@dataclass(frozen=True)
class Finding:
    """One kind of finding, with all lines it concerns."""

    severity: Severity
    check: str
    message: str
    rows: tuple[Row, ...] = ()


Check: TypeAlias = Callable[[Splits], list[Finding]]


def finding_if(severity: Severity, check: str, message: str, rows: Sequence[Row]) -> list[Finding]:
    """A list with one finding, or an empty list if there are no rows."""
    return [Finding(severity, check, message, tuple(rows))] if rows else []
