"""The text report of `drethtr model compare`."""

from collections.abc import Iterator, Sequence
from itertools import islice

from drethtr.evaluation.compare import CONVENTION, Comparison, Difference
from drethtr.evaluation.comparison import Side, confidence_rows, shown, without_text

CONFUSIONS_SHOWN = 12


def summary(found: Comparison, a: Side, b: Side) -> str:
    """The comparison as text."""
    parts = [f"A: {a}", f"B: {b}", "", *table("all lines", [found.cer, found.wer])]
    parts += ["", *table("CER by set", found.sets), "", *table("CER by length", found.lengths)]
    parts += ["", *confidence_table(found), "", *confusion_table(found)]
    parts += ["", CONVENTION, *([without_text(found)] if found.empty else [])]
    return "\n".join([*parts, f"CER: {found.cer.verdict}."])


def table(title: str, rows: Sequence[Difference]) -> Iterator[str]:
    """Differences, one per row."""
    width = max(len(title), *(len(row.name) for row in rows))
    yield f"{title:{width}}  {'lines':>6}  {'A %':>6}  {'B %':>6}  {'B - A':>22}  B better"
    for row in rows:
        interval = f"[{100 * row.low:+.2f}, {100 * row.high:+.2f}]" if row.sure else ""
        difference, better = f"{100 * row.difference:+.2f} {interval:15}", f"{row.better:.0%}" if row.sure else ""
        rates = f"{100 * row.a:>6.2f}  {100 * row.b:>6.2f}  {difference:>22}  {better:>8}"
        yield f"{row.name:{width}}  {row.lines:>6,}  {rates}"


def confidence_table(found: Comparison) -> Iterator[str]:
    """The accuracy of each system by confidence."""
    yield f"{'confidence':13}  {'lines A':>8}  {'CER A %':>8}  {'lines B':>8}  {'CER B %':>8}"
    for name, *row in confidence_rows(found):
        yield "  ".join([f"{name:13}", *(f"{cell:>8}" for cell in row)])


def confusion_table(found: Comparison) -> Iterator[str]:
    """The most frequent confusions of both systems."""
    yield f"{'written':8}  {'read':8}  {'A':>6}  {'B':>6}"
    for one in islice(found.confusions, CONFUSIONS_SHOWN):
        yield f"{shown(one.written):8}  {shown(one.read):8}  {one.a:>6,}  {one.b:>6,}"
