"""Four grades of confidence for human-readable formats."""

from enum import StrEnum
from typing import Self


class Grade(StrEnum):
    """The grade of a word by its probability of being right."""

    CERTAIN = "certain"
    LIKELY = "likely"
    UNLIKELY = "unlikely"
    GUESS = "guess"

    @classmethod
    def of(cls, confidence: float | None) -> Self:
        """The grade of a confidence; a word without confidence counts as certain."""
        return next(cls(grade) for grade, least in LEAST.items() if confidence is None or confidence >= least)


LEAST = {Grade.CERTAIN: 0.9, Grade.LIKELY: 0.5, Grade.UNLIKELY: 0.25, Grade.GUESS: 0.0}
"""The least probability of each grade."""

SHADES = {Grade.LIKELY: "fff3c9", Grade.UNLIKELY: "ffd5a8", Grade.GUESS: "ffb9b9"}
"""Background colors of words in hexadecimal RGB; certain words have none."""

UNDERLINE = "c25e00"
"""The color of the line under doubtful words."""
