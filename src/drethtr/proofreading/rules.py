"""What counts as an error: the minimum probability of a word, and the allowed transcription conventions."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.proofreading.check import DOUBTED, CheckedWord, Kind, TextCheck, check_lines
from drethtr.proofreading.evidence import ReadText
from drethtr.recognition.recognizer import Recognizer

Convention: TypeAlias = Callable[[str, str], bool]
"""Whether the convention explains the difference between a word of a text and the reading."""

SIGNS = {"ſ": "s", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "’": "'", "‘": "'", "⁊": "&"}

SOUNDS = (
    ("oi(?=[st]?$|ent$)", "ai"),
    ("[vw]", "u"),
    ("[jy]", "i"),
    ("ph", "f"),
    ("th", "t"),
    ("ck", "k"),
    ("c(?=[aou])", "k"),
    ("[sz]", "s"),
    (r"([^\W\d])\1+", r"\1"),
    ("(?<=[a-z]{2})e$", ""),
)
"""Replacements that unify older spellings, applied in order.

Pairs of letters come before single letters, and double letters after rules that produce them: "ck" is "kk", then "k".
"""

MAX_WORDS = 100
"""Maximum words of each text that `excused_pairs` compares: each with each, so 10,000 comparisons."""

CONJUNCTIONS = frozenset({"et", "and", "und", "e", "etc"})
"""Words that an ampersand may stand for."""


def plain(text: str) -> str:
    """A text in lower case, without accents and ligatures."""
    folded = "".join(SIGNS.get(character, character) for character in text.casefold())
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))


def letters(text: str) -> str:
    """The letters and digits of a text, with their marks, such as the vowels of many scripts."""
    return "".join(c for c in text if c.isalnum() or unicodedata.category(c).startswith("M"))


def punctuation(text: str, read: str) -> bool:
    """Different punctuation of the same letters: commas, quotation marks, apostrophes, hyphens."""
    return letters(text) == letters(read)


def spelling(text: str, read: str) -> bool:
    """A different spelling of the same word: accents, capitals, long s, u for v, doubled letters and the like."""
    return sounds(text) == sounds(read)


def sounds(text: str) -> str:
    """A word with the variation of older spellings removed."""
    folded = plain(text)
    for pattern, instead in SOUNDS:
        folded = re.sub(pattern, instead, folded)
    return folded


def abbreviations(text: str, read: str) -> bool:
    """A word abbreviated in the ink: `Mr`, `M^r`, `d.`, `&`; it begins alike and its other letters are in order."""
    whole, short = letters(plain(text)), letters(plain(read))
    if plain(read).strip(".,;:") == "&":
        return whole in CONJUNCTIONS
    if not short or len(short) >= len(whole) or short[0] != whole[0] or any(map(str.isdigit, whole + short)):
        return False
    rest = iter(whole)
    marked = (
        short[-1] == whole[-1]
        or any(sign in read for sign in ".^:~'")
        or read != unicodedata.normalize("NFC", plain(read))
    )
    return marked and all(letter in rest for letter in short)


CONVENTIONS: Mapping[str, Convention] = {
    "spelling": spelling,
    "abbreviations": abbreviations,
    "punctuation": punctuation,
}
"""Conventions by name, as on the command line."""


def conventions_named(names: str) -> tuple[Convention, ...]:
    """The conventions in a comma-separated list.

    Raises:
        ConfigError: naming an unknown one.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return tuple(named("convention", name, CONVENTIONS) for name in wanted)


def explained(text: str, read: str, allowed: Sequence[Convention]) -> bool:
    """Whether one or several of the allowed conventions explain a difference."""
    if any(convention(text, read) for convention in allowed):
        return True
    return punctuation in allowed and any(convention(letters(text), letters(read)) for convention in allowed)


def excused_pairs(text: str, read: str, allowed: Sequence[Convention]) -> list[tuple[str, str]]:
    """Pairs of different words of two texts that conventions explain; an empty string is a missing word."""
    words, others = (list(dict.fromkeys(one.split()))[:MAX_WORDS] for one in (text, read))
    pairs = [(word, other) for word in words for other in others if word != other and explained(word, other, allowed)]
    if punctuation in allowed:
        pairs += [(word, "") for word in words if punctuation(word, "")]
        pairs += [("", other) for other in others if punctuation("", other)]
    return pairs


@dataclass(frozen=True)
class Rules:
    """Words less probable than `least` are doubtful, unless an allowed convention explains them.

    Raises:
        ConfigError: if `least` is not a probability.
    """

    least: float = DOUBTED
    allowed: tuple[Convention, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ConfigError(f"the least probability must be between 0 and 1, not {self.least}")

    def check(
        self, recognizer: Recognizer, lines: Sequence[Line], texts: Sequence[str], read: Sequence[ReadText]
    ) -> list[TextCheck]:
        """Check the texts of some lines against their images; `read` are the readings of the lines.

        A word that a convention explains gets the verdict of the reading in its place.

        Raises:
            CheckpointError, ConfigError: as `check_text`.
        """
        checks = check_lines(recognizer, lines, texts, read, self.least)
        excused = [number for number, check in enumerate(checks) if any(map(self.excuses, check.words))]
        if not excused:
            return checks
        # An excused word is not yet supported: its ink may be unclear, and its neighbors were judged together with it.
        instead = [" ".join(self.as_read(checks[number])) for number in excused]
        again = check_lines(
            recognizer, [lines[number] for number in excused], instead, [read[number] for number in excused], self.least
        )
        for number, other in zip(excused, again, strict=True):
            checks[number] = self.merged(checks[number], other)
        return checks

    def excuses(self, word: CheckedWord) -> bool:
        """Whether a convention explains the difference between a word and the reading."""
        if word.kind is Kind.SUPPORTED or len(word.instead.split()) > 1:
            return False
        if word.text and word.instead:
            return explained(word.text, word.instead, self.allowed)
        return punctuation in self.allowed and word.text != word.instead and punctuation(word.text, word.instead)

    def as_read(self, check: TextCheck) -> Iterator[str]:
        """The text, with the reading in place of excused words."""
        for word in check.words:
            if word.text and (part := word.instead if self.excuses(word) else word.text):
                yield part

    def merged(self, check: TextCheck, other: TextCheck) -> TextCheck:
        """A check, with the verdicts on excused words from `other`, the check of the text from `as_read`."""
        verdicts = iter(word for word in other.words if word.text)
        words = []
        for word in check.words:
            if not self.excuses(word):
                words.append(word)
                if word.text:
                    next(verdicts)
            elif word.text and word.instead:
                words.append(replace(next(verdicts), text=word.text))
            elif word.text:
                words.append(replace(word, kind=Kind.SUPPORTED, reason=""))
        return replace(check, words=tuple(words), probability=other.probability)
