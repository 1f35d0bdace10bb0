"""Checks of a finished reading: each looks for one kind of problem.

A check is a frozen config that is called with an `Observation` and returns a `Flag`, in pixels of the line, or None.
`OutOfDistribution` is fitted for a model; the others need no fitting.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite
from typing import ClassVar, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.reading import Character, Flag

MAX_UNIT_LENGTH = 20
"""Characters of the longest text whose repetition is detected."""


class Observation(NamedTuple):
    """The input of the checks: one line and its reading.

    height      of the line in pixels
    inked       which of its columns have ink, (width,)
    characters  the reading, placed in pixels of the line
    unknown     left and right edge of each character outside the model's alphabet
    draft       the CTC reading, if a decoder wrote the text
    ended       whether the decoder ended the text itself
    features    features for out-of-distribution detection, (features,)
    """

    height: int
    inked: Booleans
    characters: tuple[Character, ...]
    unknown: tuple[tuple[float, float], ...]
    draft: str | None
    ended: bool
    features: Floats

    @property
    def text(self) -> str:
        """The reading."""
        return "".join(character.text for character in self.characters)


class Check(ABC):
    """Looks for one kind of problem."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, seen: Observation) -> Flag | None:
        """The flag, if there is a problem."""

    def flag(self, seen: Observation, reason: str, places: tuple[float, float] | None = None) -> Flag:
        """A flag at a place, or on the whole line."""
        left, right = places or (0.0, float(len(seen.inked)))
        return Flag(self.kind, reason, left, right)


@dataclass(frozen=True)
class Blank(Check):
    """No ink: fewer inked columns than `narrowest` times the height of the line, or its width if that is smaller."""

    narrowest: float = 0.1  # a dot or a short dash can still be read
    kind: ClassVar[str] = "blank"

    def __call__(self, seen: Observation) -> Flag | None:
        if seen.inked.sum() >= self.narrowest * min(seen.height, len(seen.inked)):
            return None
        reason = "there is almost no ink on this line"
        return self.flag(seen, f"{reason}, but text was read" if seen.characters else reason)


@dataclass(frozen=True)
class Repetition(Check):
    """The same few characters repeated `times` or more, `shortest` characters in all."""

    # People write "ha ha ha"; a decoder that is stuck repeats until the end of the line.
    times: int = 4
    shortest: int = 12
    kind: ClassVar[str] = "repetition"

    def __call__(self, seen: Observation) -> Flag | None:
        # People write runs of dots or dashes; only repeated letters show a decoder that is stuck.
        for found in re.finditer(self.pattern, seen.text):
            unit, length = found[found.lastindex or 0], found.end() - found.start()
            if any(map(str.isalpha, unit)):
                places = seen.characters[found.start()].left, seen.characters[found.end() - 1].right
                return self.flag(seen, f"{unit!r} is repeated {length // len(unit)} times", places)
        return None

    @property
    def pattern(self) -> str:
        """Enough repetitions of units of every length, shortest first: a run too short must not hide a longer one."""
        least = {size: max(self.times, ceil(self.shortest / size)) for size in range(1, MAX_UNIT_LENGTH + 1)}
        return "|".join(rf"(.{{{size}}})\{size}{{{times - 1},}}" for size, times in least.items())


@dataclass(frozen=True)
class Uncovered(Check):
    """Ink that no character explains: more than `widest` line heights of it in one place.

    A character explains the ink within `reach` line heights of its middle.
    """

    # Ink may be this far from the middle of a wide capital or a flourish; a skipped word leaves more.
    widest: float = 1.0
    reach: float = 0.8
    kind: ClassVar[str] = "uncovered"

    def __call__(self, seen: Observation) -> Flag | None:
        reach, width = self.reach * seen.height, len(seen.inked)
        middles = [(c.left + c.right) / 2 for c in seen.characters if not c.text.isspace()]
        # The ends of the line count as characters just outside it, so that ink at its ends is checked.
        ends = [-reach, *middles, width + reach]
        gaps = [(round(left + reach), max(round(right - reach), round(left + reach))) for left, right in pairwise(ends)]
        amounts = [int(seen.inked[left:right].sum()) for left, right in gaps]
        most = int(np.argmax(amounts))
        if amounts[most] <= self.widest * seen.height:
            return None
        inked = np.flatnonzero(seen.inked[slice(*gaps[most])]) + gaps[most][0]
        reason = f"no character explains {amounts[most]} columns of ink here"
        return self.flag(seen, reason, (float(inked[0]), float(inked[-1] + 1)))


@dataclass(frozen=True)
class Disagreement(Check):
    """Decoder and CTC head disagree: more than the share `most` of the characters differ."""

    # Decoder and CTC head see the same image: where one of them is wrong, they usually differ by a letter or two. They
    # differ by a third of the line where the decoder writes what is likely instead of what is there.
    most: float = 1 / 3
    kind: ClassVar[str] = "disagreement"

    def __call__(self, seen: Observation) -> Flag | None:
        if seen.draft is None:
            return None
        text = seen.text
        edits = Levenshtein.editops(seen.draft, text)
        longest = max(len(text), len(seen.draft))
        if len(edits) <= self.most * longest:
            return None
        return self.flag(seen, f"CTC reads {seen.draft!r}: {len(edits)} of {longest} characters differ")


@dataclass(frozen=True)
class Truncated(Check):
    """The text reached the decoder's length limit before the decoder ended it."""

    kind: ClassVar[str] = "truncated"

    def __call__(self, seen: Observation) -> Flag | None:
        if seen.ended:
            return None
        return self.flag(
            seen, f"the text was truncated after {len(seen.characters)} characters; the decoder did not end it"
        )


@dataclass(frozen=True)
class OutOfAlphabet(Check):
    """A character outside the model's alphabet was seen, and left out of the text."""

    kind: ClassVar[str] = "unwritten"

    def __call__(self, seen: Observation) -> Flag | None:
        if not seen.unknown:
            return None
        number = len(seen.unknown)
        found = "a character that is" if number == 1 else f"{number} characters, here the first, that are"
        return self.flag(seen, f"{found} not in the model's alphabet: left out", min(seen.unknown))


@dataclass(frozen=True)
class OutOfDistribution(Check):
    """The image is out of distribution: the log-odds of resembling known lines, from `alike`, are below `least`.

    Distances between features do not detect turned lines, and confidence alone detects two thirds of them; a model
    fitted on turned lines detects 98 % (LOG.md, 2026-11-21).
    """

    stored_as: ClassVar[str] = "UnlikeTraining"

    alike: Logistic
    least: float
    kind: ClassVar[str] = "unlike-training"

    def __post_init__(self) -> None:
        if not isfinite(self.least):
            raise ConfigError(f"the out-of-distribution threshold must be finite, not {self.least}")

    def __call__(self, seen: Observation) -> Flag | None:
        if self.alike.score(seen.features[None])[0] >= self.least:
            return None
        return self.flag(seen, "unlike the training data. Is it an upright, unmirrored line of handwriting?")
