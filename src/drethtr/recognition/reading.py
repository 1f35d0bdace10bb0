"""What a recognizer returns for a line of handwriting."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from drethtr.base.errors import DataError
from drethtr.documents.html import ShownLine, lines_html
from drethtr.documents.points import Points
from drethtr.documents.transcription import PageFlag, PageWord, Transcription
from drethtr.images.line import ImageSource, open_line
from drethtr.recognition.posteriors import Posteriors

DOUBTFUL = 0.5
"""Default threshold: a word with less confidence is more likely wrong than right, and is marked as doubtful."""


@dataclass(frozen=True)
class Evidence:
    """The features of a character's confidence.

    own         probability from the decoder
    margin      CTC log-probability minus that of the best other character there; negative where CTC prefers the other;
                0 if the model has no CTC head
    agrees      whether the CTC draft also has it; true without a draft
    entropy     in nats, of the CTC output over the character's width; 0 without CTC
    surprise    n-gram surprisal in nats, given the characters before it; 0 without n-grams
    """

    own: float
    margin: float = 0.0
    agrees: bool = True
    entropy: float = 0.0
    surprise: float = 0.0


@dataclass(frozen=True)
class Character:
    """A character, with its edges in pixels from the left of the given image.

    `confidence` is the probability that it is correct if the model is calibrated (`Reading.calibrated`).
    """

    text: str
    confidence: float
    left: float
    right: float
    evidence: Evidence | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Word:
    """A word between white space, with its edges in pixels from the left of the given image.

    `confidence` is the probability that all of it is correct if the reading is calibrated, else that of its least
    certain character.
    """

    text: str
    confidence: float
    left: float
    right: float


@dataclass(frozen=True)
class Flag:
    """A warning about a line: its kind for programs, its reason for people, and its edges in pixels from the left."""

    kind: str
    reason: str
    left: float
    right: float

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


@dataclass(frozen=True)
class Alternative:
    """An alternative text of a line.

    `score` is the value by which its decoder ranks texts of the line, higher is better: for `CTC` the log-probability
    by the CTC head, plus weighted language; for `Joint` the weighted mean of the log-probabilities by CTC head and
    decoder, plus weighted language; for `Beam` log-probability / length^length_exponent, by default the mean over all
    tokens and the end; for `Greedy` and `VerifiedDrafts` this mean. Language is the log-probability by the language
    models plus 2 for each token, so that longer texts are not penalized.
    """

    text: str
    score: float


def nowhere(left: float, right: float) -> None:
    """No place: for readings without a page."""


@dataclass(frozen=True, repr=False)
class Reading:
    """The text of a line, with confidences and flags.

    confidence        expected share of correct characters: the mean of their confidences; 0.0 if nothing was read
    flags             warnings about the line, empty if there are none
    word_confidences  probability that each word, between white space, is correct; None if the model is not calibrated
    alternatives      this text, then others up to the number requested, best first; empty if none were requested, or
                      the line was read in pieces
    posteriors        the probabilities of other characters, for an index; None if the recognizer keeps none
    doubtful          words with less confidence than this are doubtful
    image             the image given to `Recognizer.read`, so that a notebook can show it; None if it was read in
                      another way
    """

    text: str
    confidence: float
    characters: tuple[Character, ...]
    flags: tuple[Flag, ...] = ()
    word_confidences: tuple[float, ...] | None = None
    alternatives: tuple[Alternative, ...] = ()
    posteriors: Posteriors | None = field(default=None, compare=False)
    doubtful: float = DOUBTFUL
    image: ImageSource | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        flags = f", flags: {', '.join(flag.kind for flag in self.flags)}" if self.flags else ""
        return f"Reading({self.text!r}, confidence {self.confidence:.2f}{flags})"

    @property
    def calibrated(self) -> bool:
        """Whether confidences are calibrated probabilities, rather than the decoder's own."""
        return self.word_confidences is not None

    def to_json(self) -> dict[str, Any]:
        """The reading as plain values: edges in pixels from the left of the image, confidences from 0 to 1.

        Confidences are calibrated probabilities if `calibrated` is true, otherwise the decoder's own.
        """
        return {
            "text": self.text,
            "confidence": round(self.confidence, 4),
            "calibrated": self.calibrated,
            "flags": [
                {"kind": flag.kind, "reason": flag.reason, "left": round(flag.left, 1), "right": round(flag.right, 1)}
                for flag in self.flags
            ],
            "alternatives": [{"text": other.text, "score": round(other.score, 4)} for other in self.alternatives],
            "characters": list(map(placed, self.characters)),
            "words": [{**placed(word), "doubtful": is_doubtful(word, self)} for word in self.words()],
        }

    def words(self) -> tuple[Word, ...]:
        """The words of the reading: its text, split at white space."""
        groups = [self.characters[first:last] for first, last in word_places(self.characters)]
        own = [min(part.confidence for part in word) for word in groups]
        sure = own if self.word_confidences is None else self.word_confidences
        return tuple(
            Word("".join(part.text for part in word), confidence, word[0].left, word[-1].right)
            for word, confidence in zip(groups, sure, strict=True)
        )

    def transcription(self, place: Callable[[float, float], Points | None] = nowhere) -> Transcription:
        """The text with its words and flags, as documents store it.

        Args:
            place: Gives the outline on a page between two edges of the line; by default there are no outlines.
        """
        words = tuple(
            PageWord(word.text, word.confidence, place(word.left, word.right), is_doubtful(word, self))
            for word in self.words()
        )
        flags = tuple(PageFlag(flag.kind, flag.reason, place(flag.left, flag.right)) for flag in self.flags)
        return Transcription(self.text, self.confidence, words, flags, self.calibrated)

    def strip(self) -> Image.Image:
        """The image of the line, in gray, dark on light.

        Raises:
            DataError: if the image is unknown or gone.
        """
        if self.image is None:
            raise DataError("this reading has no image; Recognizer.read keeps it")
        return Image.fromarray(open_line(self.image))

    def _repr_html_(self) -> str:
        """The line in a notebook: its words below its image."""
        return lines_html([ShownLine(self.transcription(), self.strip)])


class Readings(list[Reading]):
    """A list of readings that a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        """The first lines, each with its words below its image."""
        return lines_html([ShownLine(reading.transcription(), reading.strip) for reading in self])


def placed(part: Character | Word) -> dict[str, Any]:
    """A character or word with its edges, as plain values."""
    return {
        "text": part.text,
        "confidence": round(part.confidence, 4),
        "left": round(part.left, 1),
        "right": round(part.right, 1),
    }


def is_doubtful(word: Word, line: Reading) -> bool:
    """Whether a word has too little confidence, or overlaps a flag of its line; never with a threshold of 0."""
    doubted = (flag.left < word.right and flag.right > word.left for flag in line.flags)
    return line.doubtful > 0 and (word.confidence < line.doubtful or any(doubted))


def word_places(characters: tuple[Character, ...]) -> list[tuple[int, int]]:
    """The first character of each word of a line, and the one after its last."""
    places, first = [], None
    for place, character in enumerate(characters):
        if character.text.isspace():
            if first is not None:
                places.append((first, place))
            first = None
        elif first is None:
            first = place
    return places if first is None else [*places, (first, len(characters))]
