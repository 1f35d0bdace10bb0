"""A comparison of two systems in plain values and words, for every kind of report."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from drethtr.documents.document import Provenance
from drethtr.evaluation.compare import CONFIDENCES, CONVENTION, NOTHING_READ, Comparison, Difference, OfConfidence
from drethtr.recognition.reading import Reading


class Side(NamedTuple):
    """System A or B: its name, the provenance of its readings, and the readings."""

    name: str
    made_by: Provenance
    way: Mapping[str, str]
    readings: list[Reading]

    def __str__(self) -> str:
        return f"{self.name} ({self.made_by}, {', '.join(self.way.values())})"


def without_text(found: Comparison) -> str:
    """A note on lines without text."""
    return f"Without text, so anything read there counts as an error: {found.empty:,} of {found.cer.lines:,} lines."


def confidence_rows(found: Comparison) -> Iterator[tuple[str, str, str, str, str]]:
    """A row for each class of confidence: its name, then lines and CER in percent for A, and for B."""
    of_a, of_b = ({row.name: row for row in rows} for rows in (found.confidences_a, found.confidences_b))
    for name in (NOTHING_READ, *(name for name, _ in CONFIDENCES)):
        if name in of_a or name in of_b:
            yield name, *cells(of_a.get(name)), *cells(of_b.get(name))


def cells(row: OfConfidence | None) -> tuple[str, str]:
    """Lines and error rate of one class of confidence."""
    if row is None:
        return "0", ""
    return f"{row.lines:,}", "–" if row.cer is None else f"{100 * row.cer:.2f}"


def shown(character: str) -> str:
    """A character, made visible if it is a space or missing."""
    return {"": "(none)", " ": "(space)"}.get(character, character)


def difference(row: Difference) -> dict[str, Any]:
    """A difference in plain values; its interval is null if there are too few pages for one."""
    return asdict(row) if row.sure else asdict(row) | dict.fromkeys(("low", "high", "better"))


def to_json(found: Comparison, a: Side, b: Side) -> dict[str, Any]:
    """The comparison in plain values; rates are fractions."""
    return {
        "convention": CONVENTION,
        "a": a.name,
        "b": b.name,
        "verdict": found.cer.verdict,
        **{name: difference(getattr(found, name)) for name in ("cer", "wer")},
        **{name: [difference(row) for row in getattr(found, name)] for name in ("sets", "lengths")},
        **{
            name: [asdict(row) for row in getattr(found, name)]
            for name in ("confidences_a", "confidences_b", "confusions")
        },
        "empty": found.empty,
        "made_by": {name: {**side.made_by.to_json(), **side.way} for name, side in (("a", a), ("b", b))},
    }
