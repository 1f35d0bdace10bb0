"""Error rates of characters and of words, with bootstrap intervals over pages.

Publications define words differently: `WORD_CONVENTIONS` has three definitions.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from math import erfc, nan, sqrt
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.recognition.confidence.error_rate import student_quantile
from drethtr.text.normalize import for_scoring

Words: TypeAlias = Callable[[str], list[str]]

APART = "!\"#%&'()*+,-./:;<=>?[]_{}°—€"
"""The signs that HTR-VT, VAN and DAN separate from words; not others such as “, ’ or –."""


def between_spaces(text: str) -> list[str]:
    """Words separated by white space, with attached punctuation; as counted by `jiwer`."""
    return text.split()


def with_punctuation_apart(text: str) -> list[str]:
    """Words separated by white space, with each of the signs in `APART` as a word of its own."""
    apart = (f" {character} " if character in APART else character for character in text)
    return "".join(apart).split()


# Of Unicode's word break classes: L letter, N digit, I ideograph, m inside letters, n inside numbers, b inside both,
# _ joins, x belongs to the character before it, k is a word by itself.
MIDDLES = {
    **dict.fromkeys(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a", "m"),
    **dict.fromkeys(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", "n"),
    **dict.fromkeys(".'\u2018\u2019\u2024\ufe52\uff07\uff0e", "b"),
    "\u202f": "_",
    "\u200b": "o",
}
CLASSES = {**dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Co"), "L"), "Nd": "N", "Pc": "_", "No": "k", "Cn": "k"}
"""By Unicode category; dinglehopper treats private-use characters (Co) as letters."""
EXTENDING = ("Mn", "Mc", "Me", "Cf")
ALONE = ("CJK ", "HIRAGANA", "THAI", "LAO ", "KHMER", "MYANMAR")
WORD = re.compile(r"(?:Lx*(?:[mb]x*(?=L))?|Nx*(?:[nb]x*(?=N))?|_x*)+|Ix*|kx*")


def by_unicode(text: str) -> list[str]:
    """Words by the default rules of Unicode Annex 29, without those that are only punctuation; as in dinglehopper."""
    classes = "".join(map(class_of, text))
    found = (match.span() for match in WORD.finditer(classes))
    return [text[start:end] for start, end in found if not set(classes[start:end]) <= {"_", "x"}]


@lru_cache(maxsize=4096)
def class_of(character: str) -> str:
    """The word break class of a character, `o` for characters outside words."""
    if character in MIDDLES:
        return MIDDLES[character]
    category = unicodedata.category(character)
    if category in EXTENDING:
        return "x"
    if category == "Lo" and unicodedata.name(character, "").startswith(ALONE):
        return "I"
    return CLASSES.get(category, "o")


WORD_CONVENTIONS: Mapping[str, Words] = {
    "wer": between_spaces,
    "wer_punctuation": with_punctuation_apart,
    "wer_unicode": by_unicode,
}
"""The JSON name of each rate, with its definition of words."""

MIN_PAGES = 6
"""Minimum number of pages for an interval: with five, B would be better on every page by chance in 6 % of cases."""

CONVENTION = (
    "CER: all edits / all reference characters, over NFC code points; white space collapsed and stripped, case and "
    "punctuation kept. WER: the same over words separated by white space. In brackets the 95 % interval of a bootstrap "
    f"over pages, or over lines if pages are unknown, widened for few pages; none for fewer than {MIN_PAGES}."
)
WORD_CONVENTION = (
    f"WER in other conventions: with each of {APART} as a word of its own (HTR-VT, VAN, DAN); over Unicode words "
    "(Annex 29), without those that are only punctuation (dinglehopper)."
)

Number = TypeVar("Number", np.int64, np.float64)

DRAWS = 4000
"""Number of bootstrap samples; for six pages, ten of them lie beyond each end of the interval."""

DRAWN_TOGETHER = 4_000_000
"""Random numbers drawn at a time, which limits memory to 32 MB for large collections."""


@dataclass(frozen=True)
class Counts:
    """Counts of errors and text; `sum(counts, Counts())` adds them up.

    An empty reference adds no characters, but text read there adds insertions.
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
        """Character error rate; NaN if there is no reference text."""
        return self.edits / self.characters if self.characters else nan

    @property
    def wer(self) -> float:
        """Word error rate; NaN if there is no reference text."""
        return self.word_edits / self.words if self.words else nan


class EditKinds(NamedTuple):
    """The edits of characters by kind; they sum to `Counts.edits`."""

    substitutions: int
    insertions: int
    deletions: int


@dataclass(frozen=True)
class Rates:
    """Error rates with the limits of their 95 % intervals, and the amount of text behind them.

    drawn  number of pages to draw from; a line of unknown page counts as one
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
        """Whether there are enough pages for meaningful intervals."""
        return self.drawn >= MIN_PAGES


def score(references: Sequence[str], hypotheses: Sequence[str]) -> list[Counts]:
    """Compare each reading with its transcription, as described in `CONVENTION`."""
    return [compare(*pair) for pair in zip(references, hypotheses, strict=True)]


def compare(reference: str, hypothesis: str, words_of: Words = between_spaces) -> Counts:
    """Count the insertions, deletions and substitutions between two lines."""
    reference, hypothesis = for_scoring(reference), for_scoring(hypothesis)
    words, read = words_of(reference), words_of(hypothesis)
    return Counts(
        edits=Levenshtein.distance(reference, hypothesis),
        characters=len(reference),
        word_edits=Levenshtein.distance(words, read),
        words=len(words),
        lines=1,
    )


def edit_kinds(reference: str, hypothesis: str) -> EditKinds:
    """Count the kinds of edits in one of the shortest alignments of two lines."""
    edits = Levenshtein.editops(for_scoring(reference), for_scoring(hypothesis))
    kinds = Counter(edit.tag for edit in edits)
    return EditKinds(kinds["replace"], kinds["insert"], kinds["delete"])


def bootstrap(counts: Sequence[Counts], groups: Sequence[str] | None = None) -> Rates:
    """Error rates of all lines, with bootstrap intervals over pages.

    Lines of a page share a hand and a photograph; drawing lines instead of pages would make the interval too narrow.

    Args:
        counts: One per line.
        groups: Page of each line, "" if unknown; such lines are drawn one by one. With fewer than two pages, all lines
            are drawn one by one.

    Raises:
        DataError: if there are no lines.
    """
    if not counts:
        raise DataError("no lines to score")
    table = np.array([astuple(line) for line in counts], dtype=np.int64)
    drawn = len(counts)
    if groups is not None:
        table, drawn = sum_by_group(table, groups), len(set(units(groups)))
    edits, characters, word_edits, words, _ = drawn_sums(table, DRAWS, np.random.default_rng(0)).T
    cer_low, cer_high = interval_95(rates_of(edits, characters), len(table))
    wer_low, wer_high = interval_95(rates_of(word_edits, words), len(table))
    total = sum(counts, Counts())
    return Rates(total.cer, cer_low, cer_high, total.wer, wer_low, wer_high, total.lines, total.characters, drawn)


def sum_by_group(table: NDArray[np.int64], groups: Sequence[str]) -> NDArray[np.int64]:
    """Add up the rows of each group; rows of group "" stay separate, and so do all rows if there is only one group."""
    names = units(groups)
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    # One page says nothing about others; drawing its lines is then the best option.
    if len(place) == 1:
        return table
    sums = np.zeros((len(place), table.shape[1]), dtype=np.int64)
    np.add.at(sums, [place[name] for name in names], table)
    return sums


def units(groups: Sequence[str]) -> list[tuple[str, int]]:
    """The unit each row is drawn with: its group, or the row itself in group ""."""
    return [(group, -1) if group else ("", row) for row, group in enumerate(groups)]


def drawn_sums(table: NDArray[Number], draws: int, rng: np.random.Generator) -> NDArray[Number]:
    """Sums over as many rows as the table has, drawn with replacement: (draws, columns)."""
    rows = len(table)
    # A draw with replacement is a row of counts, so that all draws are one matrix product.
    together = max(DRAWN_TOGETHER // rows, 1)
    sizes = [min(together, draws - done) for done in range(0, draws, together)]
    return np.concatenate([rng.multinomial(rows, np.full(rows, 1 / rows), size=size) @ table for size in sizes])


def rates_of(edits: NDArray[np.int64], characters: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rates of all draws that contain text."""
    with_text = characters > 0
    return np.asarray(edits[with_text] / characters[with_text])


def interval_95(rates: NDArray[np.float64], rows: int) -> tuple[float, float]:
    """The limits of the 95 % interval, from bootstrap rates over `rows` rows; NaN if there are none.

    The central 95 % of the rates would be too narrow: the bootstrap understates the variance of few rows, and that
    variance is itself estimated from few. Wider quantiles correct for both, 99.5 % for six rows.

    Source: Hesterberg 2015, What Teachers Should Know About the Bootstrap, "expanded percentile interval".
    """
    if not len(rates):
        return nan, nan
    # Student’s t for the uncertain variance; the root for the n - 1 that the bootstrap ignores.
    freedom = max(rows - 1, 1)
    outside = erfc(sqrt((freedom + 1) / freedom) * student_quantile(freedom) / sqrt(2)) / 2
    low, high = np.quantile(rates, [outside, 1 - outside])
    return float(low), float(high)
