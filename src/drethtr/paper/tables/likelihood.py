"""Negative log-likelihood of the correct text with teacher forcing: finer than CER, and independent of search.

A decoder that barely reads makes as many errors as one that does not read at all, but finds the correct text more
probable.
"""

from collections.abc import Sequence

import numpy as np

from drethtr.datasets.sample import Sample
from drethtr.evaluation.evaluate import portions
from drethtr.images.line import Line
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.network import ImageMemory, TextTree
from drethtr.recognition.pieces import PreparedPiece
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import EOS


def nats_of_lines(recognizer: Recognizer, samples: Sequence[Sample]) -> list[float | None]:
    """Nats of each line's text with its end; None for lines read in pieces, whose texts are unknown."""
    found: list[float | None] = []
    for some in portions(recognizer, samples):
        found += nats_of_opened(recognizer, some)
    return found


def nats_of_opened(recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]]) -> list[float | None]:
    """Like `nats_of_lines`, for no more lines than may be prepared at a time."""
    found: list[float | None] = [None] * len(samples)
    whole = recognizer.pieces.prepare_whole([line for _, line in samples])

    def work(group: Sequence[PreparedPiece], view: View) -> list[float]:
        return nats_of(recognizer, view.memory, [samples[piece.line][0].text for piece in group])

    for piece, nats in zip(whole, recognizer.pieces.map_views(whole, work), strict=True):
        found[piece.line] = nats
    return found


def nats_of(recognizer: Recognizer, memory: ImageMemory, texts: Sequence[str]) -> list[float]:
    """Nats of the texts of whole lines."""
    tokens = [recognizer.model.tokenizer.encode(text) for text in texts]
    scorer = NetworkScorer(recognizer.network, memory, forbidden=())
    scores = scorer.score_trees([TextTree.of([of_line]) for of_line in tokens])
    return [-float(rows[np.arange(len(rows)), [*text, EOS]].sum()) for rows, text in zip(scores, tokens, strict=True)]
