"""The text of a line: its words with their places and confidences, flags, and what a person did with it."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self

from drethtr.documents.points import Box, Points, box_around

HYPHENS = ("-", "\u2010", "¬", "=", "⸗", "\u00ad")
"""Signs that hyphenate a word at the end of a line."""


@dataclass(frozen=True)
class PageWord:
    """A word on a line, with its polygon if known, and its confidence from 0 to 1 if available."""

    text: str
    confidence: float | None = None
    polygon: Points | None = None
    doubtful: bool = False

    @property
    def box(self) -> Box | None:
        """The bounding box of the word's polygon."""
        return box_around(self.polygon or ())


@dataclass(frozen=True)
class PageFlag:
    """A warning about a line or a page; in files, `kind: reason`.

    kind     a fixed word for programs
    reason   an explanation for people
    polygon  the place of the doubt, if known
    """

    kind: str
    reason: str
    polygon: Points | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a flag from a file."""
        kind, _, reason = text.partition(": ")
        return cls(kind, reason)

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


class Review(StrEnum):
    """The review of a line's text by a person, who corrected it or confirmed that it is right."""

    CORRECTED = "corrected"
    CONFIRMED = "confirmed"


class Tag(NamedTuple):
    """A passage that a person marked with a name such as `person`; a passage of 0 characters marks the line.

    details  further values by name, such as the expansion of an abbreviation
    """

    name: str
    start: int = 0
    length: int = 0
    details: tuple[tuple[str, str], ...] = ()

    def detail(self, name: str) -> str:
        """A value, or ""."""
        return dict(self.details).get(name, "")


@dataclass(frozen=True)
class Transcription:
    """The text of a line; `words` cover all of it, or are empty if unknown.

    Words that do not add up to the text, as in some files, are dropped.

    flags       warnings about the line as a whole
    calibrated  whether confidences are calibrated probabilities; None if unknown
    review      what a person did with the text; None if nothing is known
    tags        passages that people marked in it, such as names and dates; not the doubts of drethtr
    """

    text: str
    confidence: float | None = None
    words: tuple[PageWord, ...] = ()
    flags: tuple[PageFlag, ...] = ()
    calibrated: bool | None = None
    review: Review | None = None
    tags: tuple[Tag, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if "".join(self.text.split()) != "".join(part for word in self.words for part in word.text.split()):
            object.__setattr__(self, "words", ())

    @property
    def by_program(self) -> bool:
        """Whether a program read the text and no person has touched it: only programs state confidences."""
        stated = self.confidence is not None or any(word.confidence is not None for word in self.words)
        return self.review is None and stated

    @property
    def parts(self) -> tuple[tuple[str, PageWord | None], ...]:
        """The text, split into words and the text between them, which has None as its word."""
        found: list[tuple[str, PageWord | None]] = []
        end = 0
        for word in self.words:
            start = self.text.find(word.text, end)
            if start < 0:  # the word contains spaces that the text lacks
                return ((self.text, None),)
            found += [(self.text[end:start], None), (word.text, word)]
            end = start + len(word.text)
        return tuple(part for part in (*found, (self.text[end:], None)) if part[0])

    @property
    def doubts(self) -> tuple[tuple[int, int], ...]:
        """The place of each doubtful word in the text, and its length, if they can be found in order."""
        found, start = [], 0
        for part, word in self.parts:
            if word is not None and word.doubtful:
                found.append((start, len(part)))
            start += len(part)
        return tuple(found)

    @property
    def settled(self) -> Self:
        """The text as exported: once a person has confirmed it, nothing in it is doubtful."""
        if self.review is not Review.CONFIRMED:
            return self
        words = tuple(PageWord(word.text, None, word.polygon) for word in self.words)
        return replace(self, confidence=None, words=words, flags=())


class Grade(StrEnum):
    """The grade of a word by its probability of being right."""

    CERTAIN = "certain"
    LIKELY = "likely"
    UNLIKELY = "unlikely"
    GUESS = "guess"

    @classmethod
    def of(cls, confidence: float | None) -> Self:
        """The grade of a confidence; a word without confidence counts as certain."""
        return next(cls(grade) for grade, least in MIN_CONFIDENCE.items() if confidence is None or confidence >= least)


MIN_CONFIDENCE = {Grade.CERTAIN: 0.9, Grade.LIKELY: 0.5, Grade.UNLIKELY: 0.25, Grade.GUESS: 0.0}
"""The minimum probability of each grade.

0.5 is `DOUBTFUL`: below, a word is more likely wrong than right. The other steps only shade what is on either side.
"""

SHADES = {Grade.LIKELY: "fff3c9", Grade.UNLIKELY: "ffd5a8", Grade.GUESS: "ffb9b9"}
"""Background colors of words in hexadecimal RGB; certain words have none."""

UNDERLINE = "c25e00"
"""The color of the line under doubtful words."""
