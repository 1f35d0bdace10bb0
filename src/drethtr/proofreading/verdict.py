"""The result of a check: each word of a text with the probability that the ink supports it, and missing words."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

DOUBTED = 0.8
"""Default threshold: words with a lower probability are doubtful, including one in fifty correct ones."""


class Kind(StrEnum):
    """The verdict on a word.

    SUPPORTED    the ink agrees
    UNSUPPORTED  the ink reads differently
    INVENTED     there is no ink for it
    OMITTED      there is ink for words that the text lacks
    """

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    INVENTED = "invented"
    OMITTED = "omitted"


@dataclass(frozen=True)
class CheckedWord:
    """A word of a text, or a place where words are missing; its `text` is then empty.

    probability  that the ink supports it, or that nothing is missing
    instead      the reading of the image, if it differs
    left, right  its edges in pixels from the left of the image
    reason       why it is doubtful, for people; empty for a supported word
    """

    text: str
    probability: float
    kind: Kind
    instead: str
    left: float
    right: float
    reason: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether the ink does not support it."""
        return self.kind is not Kind.SUPPORTED


@dataclass(frozen=True)
class TextCheck:
    """A text of a line, checked against its image.

    words        its words in order, and what is missing between them
    probability  that all of it is correct and nothing is missing
    reading      the reading of the line
    """

    text: str
    words: tuple[CheckedWord, ...]
    probability: float
    reading: str

    @property
    def doubts(self) -> tuple[CheckedWord, ...]:
        """The unsupported words, least likely first."""
        return tuple(sorted((word for word in self.words if word.doubtful), key=lambda word: word.probability))

    def to_json(self) -> dict[str, Any]:
        """The check as plain values: edges in pixels from the left of the image, probabilities from 0 to 1."""
        return {
            "text": self.text,
            "probability": round(self.probability, 4),
            "reading": self.reading,
            "words": [
                {
                    "text": word.text,
                    "probability": round(word.probability, 4),
                    "kind": word.kind.value,
                    "instead": word.instead,
                    "reason": word.reason,
                    "left": round(word.left, 1),
                    "right": round(word.right, 1),
                }
                for word in self.words
            ],
        }
