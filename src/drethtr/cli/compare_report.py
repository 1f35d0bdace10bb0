"""What `drethtr compare` prints, and writes for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

from drethtr.cli.tables import figure
from drethtr.documents.document import Provenance
from drethtr.evaluation.compare import (
    CONFIDENCES,
    CONVENTION,
    NOTHING_READ,
    Comparison,
    Difference,
    OfConfidence,
)
from drethtr.recognition.reading import Reading

CONFUSIONS_SHOWN = 12


class Side(NamedTuple):
    """A or B when it has read: its name, what it turned out to be and how it read, and its readings."""

    name: str
    made_by: Provenance
    way: Mapping[str, str]
    readings: list[Reading]

    def __str__(self) -> str:
        return f"{self.name} ({self.made_by}, {', '.join(self.way.values())})"


def summary(found: Comparison, a: Side, b: Side) -> str:
    """What was found, for people."""
    parts = [f"A: {a}", f"B: {b}", "", *table("all lines", [found.cer, found.wer])]
    parts += ["", *table("CER by set", found.sets), "", *table("CER by length", found.lengths)]
    parts += ["", *confidence_table(found), "", *confusion_table(found)]
    parts += ["", CONVENTION, *([without_text(found)] if found.empty else [])]
    return "\n".join([*parts, f"CER: {found.cer.verdict}."])


def without_text(found: Comparison) -> str:
    """How many lines have no text."""
    return f"Without text, so that all that is read there is wrong: {found.empty:,} of {found.cer.lines:,} lines."


def table(title: str, rows: Sequence[Difference]) -> Iterator[str]:
    """Differences, a row each."""
    width = max(len(title), *(len(row.name) for row in rows))
    yield f"{title:{width}}  {'lines':>6}  {'A %':>6}  {'B %':>6}  {'B - A':>22}  B better"
    for row in rows:
        interval = f"[{100 * row.low:+.2f}, {100 * row.high:+.2f}]" if row.sure else ""
        difference, better = f"{100 * row.difference:+.2f} {interval:15}", f"{row.better:.0%}" if row.sure else ""
        rates = f"{100 * row.a:>6.2f}  {100 * row.b:>6.2f}  {difference:>22}  {better:>8}"
        yield f"{row.name:{width}}  {row.lines:>6,}  {rates}"


def confidence_table(found: Comparison) -> Iterator[str]:
    """How right each of the two is where it is so sure."""
    yield f"{'confidence':13}  {'lines A':>8}  {'CER A %':>8}  {'lines B':>8}  {'CER B %':>8}"
    for name, *row in confidence_rows(found):
        yield "  ".join([f"{name:13}", *(f"{cell:>8}" for cell in row)])


def confidence_rows(found: Comparison) -> Iterator[tuple[str, str, str, str, str]]:
    """For each class of confidence its name, and lines and CER in percent of A, then of B."""
    of_a, of_b = ({row.name: row for row in rows} for rows in (found.confidences_a, found.confidences_b))
    for name in (NOTHING_READ, *(name for name, _ in CONFIDENCES)):
        if name in of_a or name in of_b:
            yield name, *cells(of_a.get(name)), *cells(of_b.get(name))


def cells(row: OfConfidence | None) -> tuple[str, str]:
    """Lines and error rate of one class of confidence."""
    return (f"{row.lines:,}", figure(row.cer)) if row is not None else ("0", "")


def confusion_table(found: Comparison) -> Iterator[str]:
    """The most frequent confusions of both."""
    yield f"{'written':8}  {'read':8}  {'A':>6}  {'B':>6}"
    for one in islice(found.confusions, CONFUSIONS_SHOWN):
        yield f"{shown(one.written):8}  {shown(one.read):8}  {one.a:>6,}  {one.b:>6,}"


def shown(character: str) -> str:
    """A character that can be seen, or that there is none."""
    return {"": "(none)", " ": "(space)"}.get(character, character)


def difference(row: Difference) -> dict[str, Any]:
    """A difference in plain values; what tables leave out where pages are too few is null."""
    return asdict(row) if row.sure else asdict(row) | dict.fromkeys(("low", "high", "better"))


def plain(found: Comparison, a: Side, b: Side) -> dict[str, Any]:
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
