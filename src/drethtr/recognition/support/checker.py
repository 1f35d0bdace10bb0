"""Given texts against lines: each line is read, and its texts are weighed by what the network computed for that."""

from collections.abc import Callable, Sequence

from drethtr.images.line import Line
from drethtr.recognition.pieces import PieceReader, PreparedPiece, ReadPiece, overflow
from drethtr.recognition.reading import Reading
from drethtr.recognition.search.scorer import NetworkScorer
from drethtr.recognition.support.evidence import LineSeen, TextEvidence, gather
from drethtr.recognition.support.given import GivenText

Judge = Callable[[Line, Sequence[ReadPiece]], Reading]


def weigh_texts(
    reader: PieceReader, judge: Judge, lines: Sequence[Line], texts: Sequence[Sequence[GivenText]]
) -> list[tuple[Reading, list[TextEvidence]]]:
    """The reading of each line, and evidence for each of its texts.

    Raises:
        CheckpointError: if the model's numbers overflow.
    """
    pieces = reader.prepare_all(lines)

    def weigh(group: Sequence[PreparedPiece]) -> list[tuple[Reading, list[TextEvidence]]]:
        view, read = reader.view_and_read(group)
        seen = [
            LineSeen(rows, view.scores.steps_per_token, judge(lines[piece.line], [one]))
            for piece, one, rows in zip(group, read, view.scores.lines, strict=True)
        ]
        try:
            found = gather(
                NetworkScorer(reader.network, view.memory), seen, [texts[piece.line] for piece in group], reader.model.tokenizer
            )
        except FloatingPointError as error:
            raise overflow(reader.model) from error
        return [(line.reading, some) for line, some in zip(seen, found, strict=True)]

    return reader.in_groups(pieces, weigh)
