"""Posteriors of a line: the characters that the CTC head finds possible at each step."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats, Ints
from drethtr.images.prepare import Piece
from drethtr.text.tokenizer import BLANK, UNK, Tokenizer

MIN_PROBABILITY = 1e-3
"""Characters less likely than this at a step are dropped there: an index would have to keep the whole
alphabet at each step."""

UNKNOWN = "\ufffd"
"""The text of a token that stands for any character outside the alphabet."""

Probabilities = Floats


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The possible tokens of a line at each CTC step, N entries at S steps. The rest of each step is the blank's.

    Steps without an entry are blank and left out; `numbers` has gaps there.

    texts          the text of each token, usually one character
    numbers        (S,) number of each step, counted from the left of the line, ascending
    firsts         (S + 1,) the first entry of each step
    tokens         (N,) places in `texts`
    probabilities  (N,) of each token at its step
    step           width of a step in pixels of the line
    """

    texts: tuple[str, ...]
    numbers: Ints
    firsts: Ints
    tokens: Ints
    probabilities: Probabilities = field(repr=False)
    step: float

    @property
    def steps(self) -> int:
        """The number of steps that have entries, S."""
        return len(self.numbers)

    @classmethod
    def of(cls, log_probs: NDArray[np.float32], texts: Sequence[str], step: float) -> Self:
        """The posteriors in log-probabilities (steps, V); `texts[v]` is the text of token v."""
        probabilities = np.exp(log_probs.astype(np.float64))
        probabilities[:, BLANK] = 0
        rows, tokens = np.nonzero(probabilities > MIN_PROBABILITY)
        numbers, firsts = np.unique(rows, return_index=True)
        used, places = np.unique(tokens, return_inverse=True)
        return cls(
            tuple(texts[token] for token in used),
            numbers.astype(np.int64),
            np.append(firsts, len(rows)).astype(np.int64),
            places.astype(np.int64),
            probabilities[rows, tokens],
            step,
        )

    @classmethod
    def certain(cls, text: str, lefts: Sequence[float], step: float) -> Self:
        """The posteriors of a known text whose characters begin at `lefts`, in pixels of the line.

        Each character is certain at one step, with a blank step before the next.
        """
        texts = tuple(sorted(set(text)))
        numbers = np.floor(np.array(lefts, dtype=np.float64).reshape(-1) / step).astype(np.int64)
        # At least two steps apart, in order: equal letters in a row need a blank step between them.
        apart = 2 * np.arange(len(text))
        numbers = np.maximum.accumulate(np.maximum(numbers, 0) - apart) + apart if len(text) else numbers
        tokens = np.array([texts.index(character) for character in text], dtype=np.int64)
        return cls(texts, numbers, np.arange(len(text) + 1), tokens, np.ones(len(text)), step)

    def between(self, begin: float, end: float, offset: float) -> Self:
        """The steps centered from `begin` to `end`, in pixels of a line that contains this one at `offset`."""
        middles = offset + (self.numbers + 0.5) * self.step
        kept = np.flatnonzero((begin <= middles) & (middles < end))
        if not len(kept):
            return self.empty(self.step)
        first, last = int(kept[0]), int(kept[-1]) + 1
        entries = slice(int(self.firsts[first]), int(self.firsts[last]))
        return type(self)(
            self.texts,
            self.numbers[first:last] + round(offset / self.step),
            self.firsts[first : last + 1] - self.firsts[first],
            self.tokens[entries],
            self.probabilities[entries],
            self.step,
        )

    @classmethod
    def empty(cls, step: float) -> Self:
        """The posteriors of an empty line."""
        none = np.empty(0, dtype=np.int64)
        return cls((), none, np.zeros(1, dtype=np.int64), none, np.empty(0), step)


def token_texts(tokenizer: Tokenizer) -> list[str]:
    """The text of each token: empty for special tokens, `UNKNOWN` for the unknown one."""
    texts = [tokenizer.decode([token]) for token in range(tokenizer.size)]
    texts[UNK] = UNKNOWN
    return texts


def joined(pieces: Sequence[tuple[Piece, Posteriors]]) -> Posteriors:
    """The posteriors of a line, joined from the shares of its overlapping pieces."""
    if len(pieces) == 1:
        return pieces[0][1]
    line = Posteriors.empty(pieces[0][1].step)
    for piece, posteriors in pieces:
        line = followed(line, posteriors.between(piece.begin, piece.end, piece.left))
    return line


def followed(before: Posteriors, after: Posteriors) -> Posteriors:
    """The posteriors of a line, continued to the right."""
    # Two pieces may round their common border to the same step; the right one is then moved by one step.
    overlap = int(before.numbers[-1] + 1 - after.numbers[0]) if before.steps and after.steps else 0
    texts = tuple(dict.fromkeys((*before.texts, *after.texts)))
    places = np.array([texts.index(text) for text in after.texts], dtype=np.int64)
    return Posteriors(
        texts,
        np.concatenate([before.numbers, after.numbers + max(overlap, 0)]),
        np.concatenate([before.firsts, after.firsts[1:] + before.firsts[-1]]),
        np.concatenate([before.tokens, places[after.tokens]]),
        np.concatenate([before.probabilities, after.probabilities]),
        before.step,
    )
