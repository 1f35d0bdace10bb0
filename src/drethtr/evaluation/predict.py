"""How well the error rate of unlabelled lines can be told: learned and measured on sets whose texts are known."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, stdev
from typing import TypeAlias

from drethtr.base.errors import DataError
from drethtr.evaluation.metrics import Counts, compare
from drethtr.lines.sample import Sample, page_of
from drethtr.recognition.confidence.error_rate import Doubt, ErrorRate, Expected, doubt_of
from drethtr.recognition.reading import Reading
from drethtr.recognition.search.decoder import Decoder

FEWEST = 3
"""Sets from which it can be told how sets differ."""

DIGITS = 4

Pair: TypeAlias = tuple[Sample, Reading]
"""A line whose text is known, and what was read."""


@dataclass(frozen=True)
class Told:
    """The expected error rate of a set or page, beside the one it has; none without a text."""

    name: str
    lines: int
    characters: int
    expected: Expected
    cer: float | None

    @property
    def inside(self) -> bool | None:
        """Whether the interval holds the truth."""
        return None if self.cer is None else self.expected.low <= self.cer <= self.expected.high


@dataclass(frozen=True)
class Known:
    """What was doubted in some lines, and the share of characters that was wrong; none without a text."""

    read: Doubt
    cer: float | None

    @property
    def teaches(self) -> bool:
        """Whether there is something to set the edits against, and something to count them in."""
        return self.read.doubt > 0 and self.cer is not None

    @property
    def edits(self) -> float:
        """The edits of as many characters of text as were read."""
        return (self.cer or 0.0) * self.read.characters

    @property
    def factor(self) -> float:
        """Edits for each expected wrong character; half of one more of each keeps it finite."""
        return (self.edits + 0.5) / (self.read.doubt + 0.5)


def known(pairs: Sequence[Pair]) -> Known:
    """What was doubted and what was wrong."""
    counts = sum((compare(sample.text, reading.text) for sample, reading in pairs), Counts())
    return Known(doubt_of(reading for _, reading in pairs), counts.cer if counts.characters else None)


def grouped(pairs: Sequence[Pair], name: Callable[[Sample], str]) -> dict[str, list[Pair]]:
    """Lines by what they share, in the order of its names."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for sample, reading in pairs:
        groups[name(sample)].append((sample, reading))
    return dict(sorted(groups.items()))


def set_of(sample: Sample) -> str:
    """The set of a line."""
    return sample.set


def learn(decoder: Decoder, pairs: Sequence[Pair]) -> ErrorRate:
    """The factor between doubt and edits, and how far it can be trusted.

    Every set counts alike, however many lines it has: the next collection will be a set of its own.

    Raises:
        DataError: if there are too few sets to know how they differ.
    """
    sets = [of_set for of_set in grouped(pairs, set_of).values() if known(of_set).teaches]
    if len(sets) < FEWEST:
        raise DataError(f"{of_sets(len(sets))}; at least {FEWEST} different sets tell how far sets differ")
    logs = [log(known(of_set).factor) for of_set in sets]
    residuals = [residual for of_set in sets for residual in residuals_of(of_set)]
    return ErrorRate(
        decoder,
        factor=round(exp(fmean(logs)), DIGITS),
        spread=round(stdev(logs), DIGITS),
        noise=round(sum(residuals) / max(len(residuals) - len(sets), 1), DIGITS),
        sets=len(sets),
    )


def residuals_of(of_set: Sequence[Pair]) -> list[float]:
    """For each page of a set, the square of the edits that were not expected, for each that was.

    A single page is what the factor comes from and says nothing; its lines stand for pages then.
    """
    factor, by_page = known(of_set).factor, grouped(of_set, page_or_line)
    pages = map(known, (by_page if len(by_page) > 1 else grouped(of_set, key_of)).values())
    return [(page.edits - factor * page.read.doubt) ** 2 / (factor * page.read.doubt) for page in pages if page.teaches]


def key_of(sample: Sample) -> str:
    """A name of the line itself."""
    return sample.key


def page_or_line(sample: Sample) -> str:
    """The page of a line, or the line itself where its page is unknown."""
    return page_of(sample) or sample.key


def tell(error_rate: ErrorRate, pairs: Sequence[Pair], name_of: Callable[[Sample], str] = set_of) -> list[Told]:
    """What would have been told of each set, or of each group of another name, beside the truth."""
    found = {name: known(group) for name, group in grouped(pairs, name_of).items()}
    return [
        Told(name, one.read.lines, one.read.characters, error_rate(one.read), one.cer) for name, one in found.items()
    ]


def check_sets(samples: Sequence[Sample]) -> None:
    """Refuse lines of too few sets to leave one out.

    Raises:
        DataError: if they are.
    """
    sets = len(set(map(set_of, samples)))
    if sets <= FEWEST:
        raise DataError(f"{of_sets(sets)}; at least {FEWEST + 1} are needed to learn from all but one")


def of_sets(sets: int) -> str:
    """What there is, for people."""
    return f"lines of {sets} {'set' if sets == 1 else 'sets'}"


def leave_one_set_out(decoder: Decoder, pairs: Sequence[Pair], name_of: Callable[[Sample], str] = set_of) -> list[Told]:
    """The same, each set told by what was learned from all others: as it will be with a new collection.

    Raises:
        DataError: if there are too few sets.
    """
    check_sets([sample for sample, _ in pairs])
    sets = grouped(pairs, set_of)
    told = []
    for name, own in sets.items():
        others = [pair for pair in pairs if pair[0].set != name]
        told += tell(learn(decoder, others), own, name_of)
    return told


def mean_absolute_error(told: Sequence[Told]) -> float:
    """How far off the expected rates are, on average, of those with a text."""
    return fmean(abs(one.expected.cer - one.cer) for one in told if one.cer is not None)
