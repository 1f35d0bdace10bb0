"""Compare two systems on the same lines: which is better, on which lines, and how certain that is.

Both read the same pages, and the bootstrap is paired over pages: a page that is hard for one system is hard for the
other, so the interval of the difference is much narrower than those of the two rates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, grouped, page_of, set_of
from drethtr.documents.document import Provenance
from drethtr.evaluation.metrics import (
    DRAWS,
    MIN_PAGES,
    Counts,
    drawn_sums,
    interval_95,
    rates_of,
    sum_by_group,
    units,
)
from drethtr.evaluation.reading import ScoredLine
from drethtr.text.normalize import for_scoring

CONVENTION = (
    "Differences are B minus A in points, negative if B is better; in brackets the 95 % interval of a paired "
    "bootstrap over pages, or over lines if pages are unknown or there is only one. Rates as in drethtr evaluate."
)

Classes: TypeAlias = tuple[tuple[str, float], ...]
"""Names of classes with the upper limit of each, in order."""

LENGTHS: Classes = (("up to 15", 15), ("16 to 30", 30), ("31 to 45", 45), ("46 to 60", 60), ("over 60", inf))
CONFIDENCES: Classes = (
    ("up to 0.5", 0.5),
    ("0.5 to 0.7", 0.7),
    ("0.7 to 0.8", 0.8),
    ("0.8 to 0.9", 0.9),
    ("0.9 to 0.95", 0.95),
    ("over 0.95", inf),
)
NOTHING_READ = "nothing read"
"""Readings without text have no confidence and form a class of their own."""


@dataclass(frozen=True)
class Difference:
    """Error rates of A and B over some lines, and B minus A with its 95 % interval.

    drawn   number of pages to draw from; a line of unknown page counts as one
    better  share of the bootstrap samples in which B has the lower rate
    """

    name: str
    lines: int
    drawn: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    better: float

    @property
    def sure(self) -> bool:
        """Whether there are enough pages for a meaningful interval."""
        return self.drawn >= MIN_PAGES

    @property
    def verdict(self) -> str:
        """The conclusion the interval allows; with few pages, none."""
        if not self.sure:
            return "too few pages to tell"
        if self.low <= 0 <= self.high:
            return "no difference shown"
        return "B is better" if self.high < 0 else "A is better"


@dataclass(frozen=True)
class OfConfidence:
    """Lines that one system read with similar confidence, and their error rate, None without text."""

    name: str
    lines: int
    cer: float | None


@dataclass(frozen=True)
class Confusion:
    """A character read as another ("" for an insertion or deletion), with the number of times for A and B."""

    written: str
    read: str
    a: int
    b: int


class ComparedLine(NamedTuple):
    """A line as A read it, and as B did."""

    a: ScoredLine
    b: ScoredLine

    @property
    def sample(self) -> Sample:
        """The line."""
        return self.a.sample

    @property
    def edits_a(self) -> int:
        """The errors of A."""
        return self.a.counts.edits

    @property
    def edits_b(self) -> int:
        """The errors of B."""
        return self.b.counts.edits


@dataclass(frozen=True)
class Comparison:
    """The comparison of A and B; `lines` are those that differ most, `empty` is the number of lines without text.

    Sets and lengths without any text are omitted.
    """

    cer: Difference
    wer: Difference
    sets: tuple[Difference, ...]
    lengths: tuple[Difference, ...]
    confidences_a: tuple[OfConfidence, ...]
    confidences_b: tuple[OfConfidence, ...]
    confusions: tuple[Confusion, ...]
    lines: tuple[ComparedLine, ...]
    empty: int


def compare_lines(a: Sequence[ScoredLine], b: Sequence[ScoredLine]) -> Comparison:
    """Compare how A and B read the same lines."""
    samples = [line.sample for line in a]
    counts_a, counts_b = [line.counts for line in a], [line.counts for line in b]
    pages, sets = list(map(page_of, samples)), list(map(set_of, samples))
    lengths = [class_of(len(for_scoring(sample.text)), LENGTHS) for sample in samples]
    return Comparison(
        cer=paired(counts_a, counts_b, pages, name="CER"),
        wer=paired(list(map(of_words, counts_a)), list(map(of_words, counts_b)), pages, name="WER"),
        sets=paired_by(sets, sorted(set(sets)), counts_a, counts_b, pages),
        lengths=paired_by(lengths, [name for name, _ in LENGTHS], counts_a, counts_b, pages),
        confidences_a=by_confidence(a),
        confidences_b=by_confidence(b),
        confusions=confusions(a, b),
        lines=tuple(sorted(map(ComparedLine, a, b), key=lambda line: -abs(line.edits_a - line.edits_b))),
        empty=sum(not count.characters for count in counts_a),
    )


def of_words(counts: Counts) -> Counts:
    """The counts with words in place of characters, so that `cer` is the word error rate."""
    return Counts(edits=counts.word_edits, characters=counts.words, lines=counts.lines)


def paired(a: Sequence[Counts], b: Sequence[Counts], pages: Sequence[str], *, name: str = "") -> Difference:
    """The difference of two error rates on the same lines, with a bootstrap paired over pages.

    Args:
        pages: Page of each line, "" if unknown; such lines are drawn one by one.

    Raises:
        DataError: if there are no lines.
    """
    if not a:
        raise DataError("no lines to compare")
    pairs = zip(a, b, strict=True)
    table = np.array([(one.edits, other.edits, one.characters) for one, other in pairs], dtype=np.int64)
    of_pages = sum_by_group(table, pages)
    # Always the same draws, so that the same readings always give the same verdict.
    sums = drawn_sums(of_pages, DRAWS, np.random.default_rng(0))
    differences = rates_of(sums[:, 1] - sums[:, 0], sums[:, 2])
    rate_a, rate_b, _ = table.sum(axis=0) / max(table[:, 2].sum(), 1)
    low, high = interval_95(differences, len(of_pages))
    # Ties count half: two equal systems are each better in half of the samples.
    better = float((differences < 0).mean() + (differences == 0).mean() / 2)
    drawn = len(set(units(pages)))
    return Difference(name, len(a), drawn, float(rate_a), float(rate_b), float(rate_b - rate_a), low, high, better)


def paired_by(
    names: Sequence[str], in_order: Sequence[str], a: Sequence[Counts], b: Sequence[Counts], pages: Sequence[str]
) -> tuple[Difference, ...]:
    """The differences of groups of lines, such as sets, without those that have no text.

    Args:
        names: The group of each line.
    """
    groups = grouped(zip(names, a, b, pages, strict=True), lambda line: line[0])
    found = {}
    for name, lines in groups.items():
        _, of_a, of_b, of_pages = zip(*lines, strict=True)
        if any(counts.characters for counts in of_a):
            found[name] = paired(of_a, of_b, of_pages, name=name)
    return tuple(found[name] for name in in_order if name in found)


def class_of(value: float, classes: Classes) -> str:
    """The name of the class that contains a value."""
    return next(name for name, largest in classes if value <= largest)


def by_confidence(lines: Sequence[ScoredLine]) -> tuple[OfConfidence, ...]:
    """Error rates of lines grouped by confidence, least confident first."""
    classes: dict[str, Counts] = defaultdict(Counts)
    for line in lines:
        reading = line.reading
        classes[class_of(reading.confidence, CONFIDENCES) if reading.text else NOTHING_READ] += line.counts
    in_order = (NOTHING_READ, *(name for name, _ in CONFIDENCES))
    found = [(name, classes[name]) for name in in_order if name in classes]
    return tuple(OfConfidence(name, one.lines, one.cer if one.characters else None) for name, one in found)


def confusions(a: Sequence[ScoredLine], b: Sequence[ScoredLine]) -> tuple[Confusion, ...]:
    """The most frequent confusions first."""
    counts_a, counts_b = (
        Counter(pair for sample, reading in lines for pair in edits_of(sample.text, reading.text)) for lines in (a, b)
    )
    total = counts_a + counts_b
    return tuple(Confusion(*pair, counts_a[pair], counts_b[pair]) for pair, _ in total.most_common())


def edits_of(text: str, read: str) -> list[tuple[str, str]]:
    """A minimal edit script as (written, read) pairs, with "" for an insertion or deletion."""
    text, read = for_scoring(text), for_scoring(read)
    found = []
    for step in Levenshtein.editops(text, read):
        written = "" if step.tag == "insert" else text[step.src_pos]
        found.append((written, "" if step.tag == "delete" else read[step.dest_pos]))
    return found


class Side(NamedTuple):
    """System A or B: its name, the provenance of its readings, decoder and precision."""

    name: str
    made_by: Provenance
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.name} ({self.made_by}, {', '.join(self.settings.values())})"


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
        "made_by": {name: {**side.made_by.to_json(), **side.settings} for name, side in (("a", a), ("b", b))},
    }
