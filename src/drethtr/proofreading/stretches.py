"""CTC scores of parts of a given text: how much likelier the same ink is as other text, or as none.

Shapes: S steps; scores by step are (S + 1,), as in `ctc_paths`.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from drethtr.recognition.decoding.ctc_paths import LEAST, Beginning, Ending, Paths, Scores
from drethtr.recognition.decoding.ctc_search import best_path
from drethtr.recognition.decoding.decoded import LogProbs
from drethtr.text.tokenizer import PAD


class Stretch(NamedTuple):
    """The best reading in place of some tokens, with all others fixed.

    gain    its log-probability minus that of the tokens, in nats
    steps   its first step, and the one after its last
    tokens  of the reading
    """

    gain: float
    steps: tuple[int, int]
    tokens: tuple[int, ...]


class Stretches:
    """The likeliest CTC paths of a given text through one line, and those that leave the text for a stretch."""

    def __init__(self, rows: LogProbs, tokens: tuple[int, ...]) -> None:
        self.rows = rows
        self.paths = Paths(rows, PAD, np.maximum)
        beginnings, endings = [self.paths.nothing], [self.paths.end]
        for token in tokens:
            beginnings.append(self.paths.longer(beginnings[-1], token))
        for token in reversed(tokens):
            endings.append(self.paths.earlier(token, endings[-1]))
        self.beginnings: list[Beginning] = beginnings
        self.endings: list[Ending] = endings[::-1]
        best = np.maximum(rows.max(1).astype(np.float64), LEAST)
        self.best: Scores = np.concatenate(([0.0], best.cumsum()))

    @cached_property
    def score(self) -> float:
        """The log-probability of the likeliest path of the whole text; -inf if it does not fit on the line."""
        return self.paths.whole(self.beginnings[-1], self.endings[-1])

    @property
    def freedom(self) -> float:
        """The gain of the best path over the text, in nats."""
        return float(self.best[-1]) - self.score

    def free(self, first: int, last: int) -> Stretch:
        """The best reading in place of the tokens from `first` to `last`, exclusive."""
        before, after = self.beginnings[first], self.endings[last]
        left = np.maximum(before.in_token, before.in_blank) - self.best
        right = after.entered + self.best
        enter = np.maximum.accumulate(left)
        end = int((enter + right).argmax())
        begin = int(left[: end + 1].argmax())
        path = best_path(self.rows[begin:end], PAD)
        return Stretch(float(left[begin] + right[end]) - self.score, (begin, end), path.tokens)

    def without(self, first: int, last: int) -> float:
        """The gain of dropping the tokens from `first` to `last`, exclusive, in nats; usually negative."""
        return self.paths.whole(self.beginnings[first], self.endings[last]) - self.score
