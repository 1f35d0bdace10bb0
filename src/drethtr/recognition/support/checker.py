"""Weigh given texts of lines with a model: encode each line, and gather evidence for its texts."""

from collections.abc import Sequence
from typing import NamedTuple

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.strategy import View
from drethtr.recognition.pieces import PieceReader, PreparedPiece, overflow
from drethtr.recognition.support.evidence import ReadText, SeenLine, TextEvidence, gather
from drethtr.recognition.support.given import GivenText

TOO_LONG = "the text is too long for this line"
TOO_WIDE = "the line is too wide to be checked: mark it out as two lines"


class WeighedText(NamedTuple):
    """A text of a line with its evidence, or the reason why there is none.

    width  of the line in pixels
    scale  pixels of an image token
    """

    given: GivenText
    read: ReadText
    evidence: TextEvidence | None
    width: int
    scale: float
    reason: str = ""


def weigh_lines(
    reader: PieceReader, lines: Sequence[Line], texts: Sequence[Sequence[str]], read: Sequence[ReadText]
) -> list[list[WeighedText]]:
    """Weigh any number of texts of each line; `read` are the readings of the lines.

    Raises:
        CheckpointError: if the model's activations are not finite.
        ConfigError: if it has no CTC head.
    """
    if reader.network.dimensions.steps_per_token is None:
        raise ConfigError("this model has no CTC head, which a check of given texts needs; use another model")
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
        width, scale = line.shape[1], scales.get(number, 1.0)
        weighed.append(
            [
                WeighedText(text, words, known, width, scale, "" if known else reason)
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
        lines = [SeenLine(rows, steps, read[piece.line]) for rows, piece in zip(view.scores.lines, group, strict=True)]
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
