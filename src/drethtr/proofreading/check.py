"""Check given texts of lines against their images: gather evidence, and turn it into a verdict on each word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.images.line import ImageSource, Line
from drethtr.proofreading.evidence import Edges, EncodedLine, ReadText, TextEvidence, gather
from drethtr.proofreading.fit import SupportFit, fit_of
from drethtr.proofreading.given import GivenText
from drethtr.recognition.confidence.ink import Ink
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.pieces import PieceReader, PreparedPiece, overflow
from drethtr.recognition.posteriors import UNKNOWN
from drethtr.recognition.recognizer import Recognizer

DOUBTED = 0.8
"""Default threshold: words with a lower probability are doubtful; one in fifty correct words falls below it."""


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


TOO_LONG = "the text is too long for this line"

TOO_WIDE = "the line is too wide to be checked; mark it as two lines"

NO_INK = "no ink for this word"


class WeighedText(NamedTuple):
    """A text of a line with its evidence, or the reason why there is none.

    width  of the line in pixels
    scale  pixels of an image token
    blank  whether the line is certainly blank paper
    """

    given: GivenText
    read: ReadText
    evidence: TextEvidence | None
    width: int
    scale: float
    reason: str = ""
    blank: bool = False


def check_text(recognizer: Recognizer, image: ImageSource, text: str) -> TextCheck:
    """Check a given text of a line against its image, word by word.

    Raises:
        DataError: naming the image, if it cannot be used or is a page.
        CheckpointError: if the model's activations are not finite.
        ConfigError: if the model has no CTC head.
    """
    [checked] = check_lines(recognizer, [recognizer.open_alone(image)], [text])
    return checked


def check_lines(
    recognizer: Recognizer,
    lines: Sequence[Line],
    texts: Sequence[str],
    read: Sequence[ReadText] | None = None,
    least: float = DOUBTED,
) -> list[TextCheck]:
    """Check the texts of lines that `Recognizer.open_line` returned, as `check_text` does.

    Args:
        read: The readings of the lines, if there are any.
        least: Words less probable than this are doubtful.

    Raises:
        CheckpointError, ConfigError: as `check_text`.
    """
    known = [ReadText.of(reading) for reading in recognizer.read_lines(lines)] if read is None else read
    weighed, fit = weigh_lines(recognizer, lines, [[text] for text in texts], known), fit_of(recognizer.model)
    return [judge_text(text, fit, least) for [text] in weighed]


def weigh_lines(
    recognizer: Recognizer, lines: Sequence[Line], texts: Sequence[Sequence[str]], read: Sequence[ReadText]
) -> list[list[WeighedText]]:
    """The evidence for any number of texts of each line; `read` are the readings of the lines.

    Raises:
        CheckpointError, ConfigError: as `check_text`.
    """
    reader = recognizer.pieces
    if reader.network.dimensions.steps_per_token is None:
        raise ConfigError("this model has no CTC head, which checking texts needs; use another model")
    given = [[GivenText.of(text, reader.model.tokenizer) for text in some] for some in texts]
    whole = reader.prepare_whole(lines)
    evidence: dict[int, list[TextEvidence | None]] = dict(
        zip((piece.line for piece in whole), gather_all(reader, whole, given, read), strict=True)
    )
    scales = {piece.line: reader.scale(piece) for piece in whole}
    weighed = []
    for number, (line, some, words) in enumerate(zip(lines, given, read, strict=True)):
        reason = TOO_LONG if number in evidence else TOO_WIDE
        found = evidence.get(number, [None] * len(some))
        width, scale, blank = line.shape[1], scales.get(number, 1.0), Ink.of(line).blank
        weighed.append(
            [
                WeighedText(text, words, known, width, scale, "" if known else reason, blank)
                for text, known in zip(some, found, strict=True)
            ]
        )
    return weighed


def gather_all(
    reader: PieceReader,
    pieces: Sequence[PreparedPiece],
    given: Sequence[Sequence[GivenText]],
    read: Sequence[ReadText],
) -> list[list[TextEvidence | None]]:
    """Evidence for the texts of each line; None for a text that is too long for it."""

    def work(group: Sequence[PreparedPiece], view: View) -> list[list[TextEvidence | None]]:
        steps, texts = view.scores.steps_per_token, [given[piece.line] for piece in group]
        lines = [
            EncodedLine(rows, steps, read[piece.line]) for rows, piece in zip(view.scores.lines, group, strict=True)
        ]
        fitting = [list(filter(line.holds, some)) for line, some in zip(lines, texts, strict=True)]
        try:
            found = gather(NetworkScorer(reader.network, view.memory), lines, fitting, reader.model.tokenizer)
        except FloatingPointError as error:
            raise overflow(reader.model) from error
        return [
            [next(known) if line.holds(text) else None for text in some]
            for line, some, known in zip(lines, texts, (iter(one) for one in found), strict=True)
        ]

    return reader.map_views(pieces, work)


def judge_text(weighed: WeighedText, fit: SupportFit, least: float = DOUBTED) -> TextCheck:
    """The verdict on each word of a text, and on missing words.

    Args:
        least: Words less probable than this are doubtful.
    """
    # On blank paper the language of the decoder would support what is likely anywhere, such as "the".
    if weighed.evidence is None or (weighed.blank and weighed.given.words):
        return TextCheck(weighed.given.text, tuple(unjudged(weighed)), 0.0, weighed.read.text)
    words, probability = judged(weighed, weighed.evidence, fit, least), fit.of_line(weighed.evidence)
    return TextCheck(weighed.given.text, tuple(words), probability, weighed.read.text)


def unjudged(weighed: WeighedText) -> Iterator[CheckedWord]:
    """The words of a text on blank paper, or that cannot be checked against its line: none is supported."""
    kind, reason = (Kind.INVENTED, NO_INK) if weighed.blank else (Kind.UNSUPPORTED, weighed.reason)
    for word in weighed.given.words:
        yield CheckedWord(word, 0.0, kind, "", 0.0, float(weighed.width), reason)


def judged(weighed: WeighedText, evidence: TextEvidence, fit: SupportFit, least: float) -> Iterator[CheckedWord]:
    """The words of a text, and the gaps where words are missing, in order."""
    supported, complete = fit.of_words(evidence), fit.of_gaps(evidence)
    doubted = np.concatenate(([False], supported < least, [False]))
    read = np.array([bool(part) for part in evidence.pairing.gaps])
    # Ink beside a doubtful word, or beside an omission, probably belongs to it, unless it was read separately.
    explained = doubted[:-1] | doubted[1:] | np.append(False, read[:-1]) | np.append(read[1:], False)
    missing = (complete < least) & (read | ~explained)
    for number in range(len(evidence.given.words) + 1):
        if missing[number]:
            yield omission(weighed, evidence, number, float(complete[number]))
        if number < len(evidence.given.words):
            yield verdict(weighed, evidence, number, float(supported[number]), least)


def omission(weighed: WeighedText, evidence: TextEvidence, gap: int, probability: float) -> CheckedWord:
    """The verdict on a gap where words are missing."""
    read = evidence.pairing.gaps[gap]
    reason = f"the image reads {read!r} here" if read else "ink here that the text does not account for"
    return CheckedWord("", probability, Kind.OMITTED, read, *in_pixels(weighed, evidence.gap_edges[gap]), reason)


def verdict(weighed: WeighedText, evidence: TextEvidence, word: int, probability: float, least: float) -> CheckedWord:
    """The verdict on a word."""
    text, read = evidence.given.words[word], evidence.pairing.words[word]
    places = in_pixels(weighed, evidence.word_edges[word])
    if probability >= least:
        return CheckedWord(text, probability, Kind.SUPPORTED, "", *places)
    if UNKNOWN in evidence.given.written[word]:
        reason = "characters outside the model's alphabet" + (f"; the image reads {read!r}" if read else "")
        return CheckedWord(text, probability, Kind.UNSUPPORTED, read, *places, reason)
    if not read:
        return CheckedWord(text, probability, Kind.INVENTED, "", *places, NO_INK)
    if read == evidence.given.written[word]:
        return CheckedWord(
            text, probability, Kind.UNSUPPORTED, "", *places, "the image reads the same, but the ink is unclear"
        )
    return CheckedWord(text, probability, Kind.UNSUPPORTED, read, *places, f"the image reads {read!r}")


def in_pixels(weighed: WeighedText, edges: Edges) -> tuple[float, float]:
    """Edges in pixels of the image of a text."""
    left, right = (min(edge * weighed.scale, float(weighed.width)) for edge in edges)
    return left, right
