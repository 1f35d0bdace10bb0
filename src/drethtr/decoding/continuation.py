"""What the CTC head reads behind a given beginning of a text.

Of all paths whose text begins so, the likeliest goes on in a certain way: a beginning that lacks a letter, has one too
many or another one is thereby aligned to the line, and the rest of the reading behind it.

Shapes, everywhere in this file: rows (S, V), log-probabilities of V tokens at each of S steps; scores (S + 1,) of
having used so many steps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

LEAST = -1e3
"""Log-probabilities below it count as this, so that differences of their sums are numbers."""


class Beginning(NamedTuple):
    """Best paths of a beginning, by the steps they use: those that end in its last token, and in a blank behind it."""

    token: int
    in_token: Scores
    in_blank: Scores


class Continuation:
    """Reads on behind any beginning of one line's text; what two beginnings share is computed once."""

    def __init__(self, log_probs: NDArray[np.float32], blank: int) -> None:
        self.rows = np.maximum(log_probs.astype(np.float64), LEAST)
        self.best = self.rows.argmax(1)
        self.rest = np.append(self.rows.max(1)[::-1].cumsum()[::-1], 0.0)
        self.blank = blank
        self.blanks = used(self.rows[:, blank])
        self.stack = [Beginning(blank, np.full(len(self.rest), -np.inf), self.blanks)]

    def after(self, beginning: Sequence[int]) -> list[int]:
        """The tokens that follow; none where no path can begin so."""
        known = 0
        while known < min(len(beginning), len(self.stack) - 1) and self.stack[known + 1].token == beginning[known]:
            known += 1
        del self.stack[known + 1 :]
        for token in beginning[known:]:
            self.stack.append(self.longer(self.stack[-1], token))
        last = self.stack[-1]
        best = np.maximum(last.in_token, last.in_blank) + self.rest
        steps = int(best.argmax())
        if best[steps] == -np.inf:
            return []
        before = last.token if last.in_token[steps] >= last.in_blank[steps] else self.blank
        path = self.best[steps:]
        starts = path[path != np.concatenate(([before], path))[:-1]]
        return [int(token) for token in starts if token != self.blank]

    def longer(self, before: Beginning, token: int) -> Beginning:
        """The beginning and one more token: its path enters the token at some step and stays to the end."""
        enter = before.in_blank if token == before.token else np.maximum(before.in_blank, before.in_token)
        in_token = stay(enter, used(self.rows[:, token]))
        in_blank = stay(in_token, self.blanks)
        return Beginning(token, in_token, in_blank)


def used(row: Scores) -> Scores:
    """The cost of being in one label for all of the first steps, by their number."""
    return np.concatenate(([0.0], row.cumsum()))


def stay(enter: Scores, spent: Scores) -> Scores:
    """The best score of leaving `enter` at some step for a label and being there since, at least one step."""
    inside = np.full(len(enter), -np.inf)
    inside[1:] = np.maximum.accumulate(enter - spent)[:-1] + spent[1:]
    return inside
