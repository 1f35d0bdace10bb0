"""Find the gaps between words, by aligning the text to the image with CTC."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.datasets.sample import Sample, fingerprint
from drethtr.evaluation.reading import Advance, portions
from drethtr.images.line import Line
from drethtr.images.prepare import quietest
from drethtr.recognition.decoding.ctc_search import align
from drethtr.recognition.decoding.decoded import CTCScores, View
from drethtr.recognition.pieces import PreparedPiece
from drethtr.recognition.recognizer import Recognizer
from drethtr.synthesis.recombination import WordGap

LIKELY = -1.5
"""Minimum mean log-probability of the characters of a line at their best steps; below it, the text may be wrong.

For such texts only: of a text that is right, 730 of 744 spaces were found without a threshold, though 34 % of the
characters were misread (LOG.md, 2026-11-29, evening). This and `SURE` were never varied."""

SURE = -0.7
"""Minimum mean log-probability of a space and the two characters on either side."""

AROUND = 2
"""Characters on either side of a space whose probability decides whether it was found."""


def word_gaps(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None
) -> dict[bytes, tuple[WordGap, ...]]:
    """The gaps between words by the fingerprint of the image; lines whose text does not align are omitted.

    Args:
        advance: Called whenever lines have been processed, with their number.

    Raises:
        ConfigError: if the model has no CTC head.
        DataError: naming the sample, if an image cannot be used.
    """
    if recognizer.network.dimensions.steps_per_token is None:
        raise ConfigError(f"model {recognizer.model.identity} has no CTC head to locate words; use another model")
    found: dict[bytes, tuple[WordGap, ...]] = {}
    for some in portions(recognizer, samples, advance):
        found |= gaps_of_opened(recognizer, some)
    return found


def gaps_of_opened(recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]]) -> dict[bytes, tuple[WordGap, ...]]:
    """The gaps as in `word_gaps`, of at most as many lines as may be prepared at a time."""

    def work(group: Sequence[PreparedPiece], view: View) -> Iterator[tuple[WordGap, ...] | None]:
        for row, piece in enumerate(group):
            sample, line = samples[piece.line]
            yield gaps_of(recognizer, sample.text, line, piece, view.scores, row)

    pieces = recognizer.pieces.prepare_whole([line for _, line in samples])
    found = zip(pieces, recognizer.pieces.map_views(pieces, work), strict=True)
    return {fingerprint(samples[piece.line][0]): gaps for piece, gaps in found if gaps is not None}


def gaps_of(
    recognizer: Recognizer, text: str, line: Line, piece: PreparedPiece, scores: CTCScores, row: int
) -> tuple[WordGap, ...] | None:
    """The reliable gaps of one line, which is row `row` of the scores; None if its text does not align."""
    tokenizer = recognizer.model.tokenizer
    tokens = tokenizer.encode(text)
    written = [tokenizer.decode([token]) for token in tokens]
    if "".join(written) != text or not text:
        return None
    path = align(scores.lines[row], tokens)
    if np.mean(path.token_log_probabilities) < LIKELY:
        return None
    edges = recognizer.pieces.edges(scores.on_image(path, scores.lines[row]), piece)
    gaps = []
    for place, begins in enumerate(accumulate(map(len, written[:-1]), initial=0)):
        around = path.token_log_probabilities[max(place - AROUND, 0) : place + AROUND + 1]
        # White space at the ends separates nothing.
        if written[place] == " " and 0 < place < len(tokens) - 1 and np.mean(around) >= SURE:
            left, right = int(edges[place][0]), int(edges[place][1]) + 1
            gaps.append(WordGap(round(quietest(line, left, right)), begins))
    return tuple(gaps)
