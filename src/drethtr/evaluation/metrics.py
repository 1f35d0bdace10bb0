"""Character and word error rates over a corpus, with an interval.

Edits are counted per line and divided only at the end, so that long lines weigh more than short ones and no
batch matters. All rates are fractions: 0.03 is 3 %, and more than 1 is possible.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import erfc, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.evaluation.words import APART, Words, between_spaces
from drethtr.recognition.confidence.error_rate import student
from drethtr.text.normalize import for_scoring

CONVENTION = (
    "CER: all edits / all reference characters, over NFC code points; white space folded and stripped, case and "
    "punctuation kept. WER: the same over words between white space. In brackets the 95 % interval of a bootstrap that "
    "draws pages, or lines where pages are unknown, made wider where these are few; none of fewer than 6."
)
CUSTOMS_CONVENTION = (
    f"WER in other customs: with each of {APART} a word of its own (HTR-VT, VAN, DAN); over Unicode words "
    "(Annex 29), those of punctuation alone left out (dinglehopper)."
)

FEWEST = 6
"""Pages; fewer tell nothing of others: even if B were better on each of five, that would be chance in 6 % of cases."""

DRAWS = 4000
"""How often pages are drawn; the ends of the interval of six pages are passed by ten of them."""

DRAWN_TOGETHER = 4_000_000
"""Numbers drawn at a time, so that the lines of a large collection take no more than 32 MB."""


@dataclass(frozen=True)
class Counts:
    """What is known of some lines before anything is divided; `sum(counts, Counts())` adds them up.

    An empty reference adds no characters, but what was read there adds its insertions.
    """

    edits: int = 0
    characters: int = 0
    word_edits: int = 0
    words: int = 0
    lines: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def cer(self) -> float:
        """Character error rate; not a number where there is no text to read."""
        return self.edits / self.characters if self.characters else nan

    @property
    def wer(self) -> float:
        """Word error rate, likewise."""
        return self.word_edits / self.words if self.words else nan


@dataclass(frozen=True)
class Rates:
    """Error rates with the ends of their 95 % intervals, and how much text they rest on.

    drawn  how many pages there are to draw from; a line of unknown page is one by itself
    """

    cer: float
    cer_low: float
    cer_high: float
    wer: float
    wer_low: float
    wer_high: float
    lines: int
    characters: int
    drawn: int

    @property
    def sure(self) -> bool:
        """Whether there are enough pages for the intervals to mean something."""
        return self.drawn >= FEWEST


def score(references: Sequence[str], hypotheses: Sequence[str], words_of: Words = between_spaces) -> list[Counts]:
    """Compare each reading with its transcription, in the form `CONVENTION` describes."""
    pairs = zip(references, hypotheses, strict=True)
    return [compare(reference, hypothesis, words_of) for reference, hypothesis in pairs]


def compare(reference: str, hypothesis: str, words_of: Words = between_spaces) -> Counts:
    """Count the fewest insertions, deletions and substitutions between two lines."""
    reference, hypothesis = for_scoring(reference), for_scoring(hypothesis)
    words, read = words_of(reference), words_of(hypothesis)
    return Counts(
        edits=Levenshtein.distance(reference, hypothesis),
        characters=len(reference),
        word_edits=Levenshtein.distance(words, read),
        words=len(words),
        lines=1,
    )


def bootstrap(
    counts: Sequence[Counts], groups: Sequence[str] | None = None, samples: int = DRAWS, seed: int = 0
) -> Rates:
    """Rates of all lines, and how far they move when other pages are drawn from the same source.

    Lines of a page share a hand and a photograph, so pages are drawn, not lines: drawing lines would make the
    interval too narrow.

    Args:
        counts: One per line.
        groups: Page of each line, "" where unknown; such lines are drawn alone. With fewer than two pages
            to draw from, all lines are drawn alone.

    Raises:
        DataError: if there are no lines.
    """
    if not counts:
        raise DataError("no lines to score")
    table = np.array([astuple(line) for line in counts], dtype=np.int64)
    drawn = len(counts)
    if groups is not None:
        table, drawn = sum_by_group(table, groups), len(set(units(groups)))
    edits, characters, word_edits, words, _ = drawn_sums(table, samples, np.random.default_rng(seed)).T
    cer_low, cer_high = interval_95(rates_of(edits, characters), len(table))
    wer_low, wer_high = interval_95(rates_of(word_edits, words), len(table))
    total = sum(counts, Counts())
    return Rates(total.cer, cer_low, cer_high, total.wer, wer_low, wer_high, total.lines, total.characters, drawn)


def sum_by_group(table: NDArray[np.int64], groups: Sequence[str]) -> NDArray[np.int64]:
    """Add up the rows of each group; rows of group "" stay apart, and all rows do if there would be one sum left."""
    names = units(groups)
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(place) == 1:
        return table
    sums = np.zeros((len(place), table.shape[1]), dtype=np.int64)
    np.add.at(sums, [place[name] for name in names], table)
    return sums


def units(groups: Sequence[str]) -> list[tuple[str, int]]:
    """What is drawn together with each row: its group, or itself alone in group ""."""
    return [(group, -1) if group else ("", row) for row, group in enumerate(groups)]


def drawn_sums(table: NDArray[np.int64], draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sums over as many rows as there are, drawn with replacement, again and again: (draws, columns)."""
    rows = len(table)
    together = max(DRAWN_TOGETHER // rows, 1)
    sizes = [min(together, draws - done) for done in range(0, draws, together)]
    return np.concatenate([rng.multinomial(rows, np.full(rows, 1 / rows), size=size) @ table for size in sizes])


def rates_of(edits: NDArray[np.int64], characters: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rate of every draw that has any text."""
    told = characters > 0
    return np.asarray(edits[told] / characters[told])


def interval_95(rates: NDArray[np.float64], rows: int) -> tuple[float, float]:
    """The ends of the 95 % interval, from the rates of draws of so many rows; not numbers if there are none.

    Between which 95 % of the rates lie would be too narrow: draws from few rows vary less than rows do, and how much
    these vary is itself known from few. The ends are the quantiles that make up for both, of 99.5 % for six rows.

    Source: Hesterberg 2015, What Teachers Should Know About the Bootstrap, "expanded percentile interval".
    """
    if not len(rates):
        return nan, nan
    freedom = max(rows - 1, 1)
    outside = erfc(sqrt((freedom + 1) / freedom) * student(freedom) / sqrt(2)) / 2
    low, high = np.quantile(rates, [outside, 1 - outside])
    return float(low), float(high)
