"""What a recognizer returns for a line of handwriting."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Character:
    """One character and where it stands: edges in pixels from the left of the given image."""

    text: str
    confidence: float
    left: float
    right: float


@dataclass(frozen=True)
class Reading:
    """The text of a line; `confidence` is the mean of its characters', 1.0 for an empty text."""

    text: str
    confidence: float
    characters: tuple[Character, ...]

    def words(self) -> tuple["Reading", ...]:
        """The reading cut at white space; a word is as sure as its least sure character."""
        found, word = [], []
        for character in (*self.characters, None):
            if character is not None and not character.text.isspace():
                word.append(character)
            elif word:
                text = "".join(part.text for part in word)
                found.append(Reading(text, min(part.confidence for part in word), tuple(word)))
                word = []
        return tuple(found)
