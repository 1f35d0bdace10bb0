"""How the paths of a CTC head run through one line, token by token, and how likely texts are by all their paths.

Shapes, everywhere in this file: rows (S, V), log-probabilities of V tokens at each of S steps; scores (S + 1,) of
having used so many steps, or of having so many behind one.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

LEAST = -1e3
"""Log-probabilities below it count as this, so that differences of their sums are numbers."""


class Beginning(NamedTuple):
    """Paths of a beginning, by the steps they use: those that end in its last token, and in a blank behind it."""

    token: int
    in_token: Scores
    in_blank: Scores


class Ending(NamedTuple):
    """Paths of all that is left of a text from a token on, by the step at which they enter it."""

    token: int
    entered: Scores


class Paths:
    """Paths through one line; `add` puts together what paths are worth: `np.maximum` the best, `np.logaddexp` all."""

    def __init__(self, log_probs: NDArray[np.float32], blank: int, add: np.ufunc) -> None:
        self.rows = np.maximum(log_probs.astype(np.float64), LEAST)
        self.blanks = used(self.rows[:, blank])
        self.add = add
        never = np.full(len(self.blanks), -np.inf)
        self.nothing = Beginning(blank, never, self.blanks)
        self.end = Ending(blank, np.append(never[1:], 0.0))

    def longer(self, before: Beginning, token: int) -> Beginning:
        """The beginning and one more token: its path enters the token at some step and stays to the end."""
        in_token = self.stay(self.leave(before, token), used(self.rows[:, token]))
        return Beginning(token, in_token, self.stay(in_token, self.blanks))

    def leave(self, before: Beginning, token: int) -> Scores:
        """What paths are worth that may go on with a token: from the same one only a blank leads to it."""
        left: Scores = before.in_blank if token == before.token else self.add(before.in_blank, before.in_token)
        return left

    def earlier(self, token: int, after: Ending) -> Ending:
        """The ending and one token before it."""
        over_blank = self.stay_before(after.entered, self.blanks)
        left = over_blank if token == after.token else self.add(after.entered, over_blank)
        return Ending(token, self.stay_before(left, used(self.rows[:, token])))

    def whole(self, beginning: Beginning, ending: Ending) -> float:
        """What the paths of a whole text are worth."""
        return float(self.add.reduce(self.leave(beginning, ending.token) + ending.entered))

    def stay(self, enter: Scores, spent: Scores) -> Scores:
        """What it is worth to leave `enter` at some step for a label and to be there since, at least one step."""
        inside = np.full(len(enter), -np.inf)
        inside[1:] = self.add.accumulate(enter - spent)[:-1] + spent[1:]
        return inside

    def stay_before(self, leave: Scores, spent: Scores) -> Scores:
        """What it is worth to be in a label for at least one step, and to leave it when that is worth `leave`."""
        inside = np.full(len(leave), -np.inf)
        inside[:-1] = self.add.accumulate((leave + spent)[::-1])[-2::-1] - spent[:-1]
        return inside


class TextScores:
    """Log-probabilities of texts of one line, summed over all paths.

    What a text begins and ends with as another one does, the `base`, is not computed anew.
    """

    def __init__(self, log_probs: NDArray[np.float32], blank: int) -> None:
        self.paths = Paths(log_probs, blank, np.logaddexp)
        self.base: tuple[int, ...] = ()
        self.beginnings = [self.paths.nothing]
        self.endings = [self.paths.end]

    def lean_on(self, base: tuple[int, ...]) -> None:
        """Compare texts with this one from now on."""
        del self.beginnings[1 + alike(self.base, base) :], self.endings[1 + alike(self.base[::-1], base[::-1]) :]
        for token in base[len(self.beginnings) - 1 :]:
            self.beginnings.append(self.paths.longer(self.beginnings[-1], token))
        for token in base[::-1][len(self.endings) - 1 :]:
            self.endings.append(self.paths.earlier(token, self.endings[-1]))
        self.base = base

    def __call__(self, text: tuple[int, ...]) -> float:
        """Of a text; -inf if it is too long for the line."""
        first = alike(self.base, text)
        last = min(alike(self.base[::-1], text[::-1]), len(text) - first)
        beginning = self.beginnings[first]
        for token in text[first : len(text) - last]:
            beginning = self.paths.longer(beginning, token)
        return self.paths.whole(beginning, self.endings[last])


def alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def used(row: Scores) -> Scores:
    """The cost of being in one label for all of the first steps, by their number."""
    return np.concatenate(([0.0], row.cumsum()))
