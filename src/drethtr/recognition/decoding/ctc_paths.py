"""Forward and backward scores of CTC paths through one line, token by token, and log-probabilities of whole texts.

Shapes, everywhere in this file: log_probs (S, V), log-probabilities of V tokens at each of S steps; scores (S + 1,), by
the number of steps so far (forward) or by the step at which the rest begins (backward).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.native import native
from drethtr.text.tokenizer import BLANK

Scores = Floats

MIN_LOG_PROBABILITY = -1e3
"""Log-probabilities are clipped here, so that differences of their sums are numbers."""


class Beginning(NamedTuple):
    """Forward scores of a prefix: of paths ending in its last token, and in a blank after it."""

    token: int
    in_token: Scores
    in_blank: Scores


class Ending(NamedTuple):
    """Backward scores of a suffix, by the step at which paths enter its first token."""

    token: int
    entered: Scores


class Paths:
    """Scores of paths through one line; `add` joins two sets of paths: `np.maximum` (best) or `np.logaddexp` (sum)."""

    def __init__(self, log_probs: NDArray[np.float32], add: np.ufunc) -> None:
        self.log_probs = log_probs
        self.add = add
        self.columns: dict[int, Scores] = {}
        self.blank = self.column(BLANK)
        never = np.full(len(log_probs) + 1, -np.inf)
        # No text so far: every step was a blank, so these paths are all in the blank and none in a token.
        self.empty = Beginning(BLANK, self.kept(never), self.kept(used(self.clipped(BLANK))))
        # No text left: the path is complete only after the last step.
        self.end = Ending(BLANK, self.kept(np.append(never[1:], 0.0)))

    def column(self, token: int) -> Scores:
        """(S,) log-probabilities of one token, cached in the form of `kept`."""
        if token not in self.columns:
            self.columns[token] = self.kept(self.clipped(token))
        return self.columns[token]

    def clipped(self, token: int) -> Scores:
        """(S,) log-probabilities of one token."""
        return np.maximum(self.log_probs[:, token].astype(np.float64), MIN_LOG_PROBABILITY)

    def kept(self, scores: Scores) -> Scores:
        """Scores in the form in which this class computes."""
        return scores

    def longer(self, before: Beginning, token: int) -> Beginning:
        """The prefix, extended by a token: its paths enter the token at some step and stay to the end."""
        # A label lasts at least one step; the blank after it may be skipped, so their scores are kept separate.
        in_token = self.stay(self.leave(before, token), used(self.column(token)))
        return Beginning(token, in_token, self.stay(in_token, used(self.blank)))

    def leave(self, before: Beginning, token: int) -> Scores:
        """Scores of paths that may continue with a token: to repeat the last one, they must be in a blank."""
        left: Scores = before.in_blank if token == before.token else self.add(before.in_blank, before.in_token)
        return left

    def earlier(self, token: int, after: Ending) -> Ending:
        """The suffix, extended by a token at its beginning."""
        over_blank = self.stay_before(after.entered, used(self.blank))
        left = over_blank if token == after.token else self.add(after.entered, over_blank)
        return Ending(token, self.stay_before(left, used(self.column(token))))

    def whole(self, beginning: Beginning, ending: Ending) -> float:
        """The score of a text from a prefix and the suffix after it."""
        return float(self.add.reduce(self.leave(beginning, ending.token) + ending.entered))

    def stay(self, enter: Scores, spent: Scores) -> Scores:
        """Scores of entering a label, with `enter`, and staying there for at least one step.

        For one token this is a sum over pairs of steps. With cumulative log-probabilities `spent`, staying from step a
        to step b costs spent[b] - spent[a], so one running sum over `enter - spent` serves all ends at once.
        """
        inside = np.full(len(enter), -np.inf)
        inside[1:] = self.add.accumulate(enter - spent)[:-1] + spent[1:]
        return inside

    def stay_before(self, leave: Scores, spent: Scores) -> Scores:
        """Scores of staying in a label for at least one step and leaving it, with `leave`."""
        inside = np.full(len(leave), -np.inf)
        inside[:-1] = self.add.accumulate((leave + spent)[::-1])[-2::-1] - spent[:-1]
        return inside


class CompiledSums(Paths):
    """`Paths` with `np.logaddexp`, compiled; scores are kept as (…, 2)."""

    def __init__(self, log_probs: NDArray[np.float32]) -> None:
        super().__init__(log_probs, np.logaddexp)

    def kept(self, scores: Scores) -> Scores:
        """Mantissas and exponents, whose sums need no logarithms; defined in `base/compiled/texts.c`."""
        numbers = np.empty((*scores.shape, 2))
        native.numbers(scores, numbers)
        return numbers

    def longer(self, before: Beginning, token: int) -> Beginning:
        after = Beginning(token, np.empty_like(before.in_token), np.empty_like(before.in_blank))
        native.longer(self.column(token), self.blank, token == before.token, *before[1:], *after[1:])
        return after

    def earlier(self, token: int, after: Ending) -> Ending:
        before = Ending(token, np.empty_like(after.entered))
        native.earlier(self.column(token), self.blank, token == after.token, after.entered, before.entered)
        return before

    def whole(self, beginning: Beginning, ending: Ending) -> float:
        return native.whole(beginning.token == ending.token, *beginning[1:], ending.entered)


def sums(log_probs: NDArray[np.float32]) -> Paths:
    """Sums over all paths, compiled if possible."""
    return Paths(log_probs, np.logaddexp) if native is None else CompiledSums(log_probs)


class TextScores:
    """Log-probabilities of texts of one line, summed over all paths.

    The scores of prefixes and suffixes that texts share with a `base` are computed only once.
    """

    def __init__(self, log_probs: NDArray[np.float32]) -> None:
        self.paths = sums(log_probs)
        self.base: tuple[int, ...] = ()
        self.beginnings = [self.paths.empty]
        self.endings = [self.paths.end]

    def lean_on(self, base: tuple[int, ...]) -> None:
        """Change the base."""
        # What the new base shares with the old one at either end keeps its scores.
        del self.beginnings[1 + common_prefix(self.base, base) :]
        del self.endings[1 + common_prefix(self.base[::-1], base[::-1]) :]
        self.base = base

    def __call__(self, text: tuple[int, ...]) -> float:
        """The log-probability of a text; -inf if it is too long for the line."""
        first = common_prefix(self.base, text)
        # The shared ends must not overlap: of "aa" and "a" both ends are "a", but there is only one.
        last = min(common_prefix(self.base[::-1], text[::-1]), len(text) - first)
        beginning = self.beginning(first)
        for token in text[first : len(text) - last]:
            beginning = self.paths.longer(beginning, token)
        return self.paths.whole(beginning, self.ending(last))

    def beginning(self, length: int) -> Beginning:
        """A prefix of the base."""
        for token in self.base[len(self.beginnings) - 1 : length]:
            self.beginnings.append(self.paths.longer(self.beginnings[-1], token))
        return self.beginnings[length]

    def ending(self, length: int) -> Ending:
        """A suffix of the base."""
        for token in self.base[::-1][len(self.endings) - 1 : length]:
            self.endings.append(self.paths.earlier(token, self.endings[-1]))
        return self.endings[length]


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the common prefix."""
    for place, (token, another) in enumerate(zip(one, other, strict=False)):
        if token != another:
            return place
    return min(len(one), len(other))


def used(column: Scores) -> Scores:
    """(S + 1,) cumulative sums: the score of being in one label for the first steps, by their number."""
    return np.concatenate(([0.0], column.cumsum()))
