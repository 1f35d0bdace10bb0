"""What the CTC head says of parts of a given text: how much better the same ink reads otherwise, or as nothing.

Shapes: S steps; scores by step are (S + 1,), as in `ctc_paths`.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from drethtr.recognition.search.ctc_paths import LEAST, Beginning, Ending, Paths, Scores
from drethtr.recognition.search.ctc_search import best_path
from drethtr.recognition.search.decoded import LogProbs
from drethtr.text.tokenizer import PAD


class Stretch(NamedTuple):
    """What reads best in place of some tokens when all others stay.

    gain    its log-probability minus that of the tokens, in nats
    steps   where it begins and ends
    tokens  what it reads as
    """

    gain: float
    steps: tuple[int, int]
    tokens: tuple[int, ...]


class Stretches:
    """The likeliest paths of one line that read as a given text, and those that leave the text for some stretch."""

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
        """How much better the line reads without the text, in nats."""
        return float(self.best[-1]) - self.score

    def free(self, first: int, last: int) -> Stretch:
        """What reads best in place of the tokens from `first` to `last`, the latter excluded."""
        before, after = self.beginnings[first], self.endings[last]
        left = np.maximum(before.in_token, before.in_blank) - self.best
        right = after.entered + self.best
        enter = np.maximum.accumulate(left)
        end = int((enter + right).argmax())
        begin = int(left[: end + 1].argmax())
        path = best_path(self.rows[begin:end], PAD)
        return Stretch(float(left[begin] + right[end]) - self.score, (begin, end), path.tokens)

    def without(self, first: int, last: int) -> float:
        """How much better the text reads without the tokens from `first` to `last`, in nats; usually negative."""
        return self.paths.whole(self.beginnings[first], self.endings[last]) - self.score
