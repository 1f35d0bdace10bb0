"""How sure a word is, in four grades, for formats that people read."""

from enum import StrEnum
from typing import Self

from drethtr.documents.page import PageWord


class Grade(StrEnum):
    """A word by the probability that it is right."""

    CERTAIN = "certain"
    LIKELY = "likely"
    UNLIKELY = "unlikely"
    GUESS = "guess"

    @classmethod
    def of(cls, word: PageWord) -> Self:
        """The grade of a word. One that is marked as doubtful, for whatever reason, is never certain."""
        confidence = 1.0 if word.confidence is None else word.confidence
        grade = next(grade for grade, least in LEAST.items() if confidence >= least)
        return cls(Grade.LIKELY if word.doubtful and grade is Grade.CERTAIN else grade)


LEAST = {Grade.CERTAIN: 0.9, Grade.LIKELY: 0.5, Grade.UNLIKELY: 0.25, Grade.GUESS: 0.0}
"""The least probability of each grade."""
