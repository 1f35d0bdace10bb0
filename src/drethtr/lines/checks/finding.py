"""What a check says about some lines, and how much it matters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from drethtr.lines.sample import Sample

Splits: TypeAlias = Mapping[str, Sequence[Sample]]
"""The lines of each split; texts as written, before any normalization."""


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """Figures or training would be wrong."""
    WARNING = "warning"
    """Probably a mistake; a person should look."""
    NOTE = "note"
    """Worth knowing."""


class Row(NamedTuple):
    """A line that something was found in, and what in particular."""

    key: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.detail}" if self.detail else self.key


@dataclass(frozen=True)
class Finding:
    """One thing found, with all lines it was found in."""

    severity: Severity
    check: str
    message: str
    rows: tuple[Row, ...] = ()


Check: TypeAlias = Callable[[Splits], list[Finding]]


def finding_if(severity: Severity, check: str, message: str, rows: Sequence[Row]) -> list[Finding]:
    """A finding if there are rows, else none."""
    return [Finding(severity, check, message, tuple(rows))] if rows else []
