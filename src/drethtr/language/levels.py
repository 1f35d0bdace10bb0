"""N-grams as sorted integer keys, to build and convert models.

The tokens of an n-gram are the digits of its key in base V: division by V drops the last token, a remainder drops the
first, and sorted keys are in the order in which `NGrams` stores n-grams.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.language.ngrams import MAX_ORDER, STEP, NGrams, dtypes

Keys = NDArray[np.int64]
Shares = NDArray[np.float64]
Steps = NDArray[np.float64]


def found(sorted_keys: Keys, keys: Keys) -> tuple[Keys, NDArray[np.bool_]]:
    """Look keys up in sorted keys: the index of each, and whether it was found."""
    places = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    return places, sorted_keys[places] == keys


def check_order(order: int, size: int) -> None:
    """Check that keys of this order fit into 64 bits, and tokens into 16.

    Raises:
        ConfigError: if they do not.
    """
    if not 1 <= order <= MAX_ORDER or size > np.iinfo(np.int16).max or size**order >= 2**63:
        raise ConfigError(f"order {order} is too high for a vocabulary of {size} tokens; choose a lower one")


class Levels(NamedTuple):
    """Keys and losses by order, from 1 on, and backoffs by context length, from 0 on."""

    size: int
    keys: list[Keys]
    losses: list[Steps]
    backoffs: list[Steps]

    @classmethod
    def of(cls, ngrams: NGrams) -> Self:
        """The levels of a model."""
        levels, keys, begin, end = cls(ngrams.size, [], [], []), np.zeros(1, dtype=np.int64), 0, 1
        for _ in range(ngrams.order):
            levels.backoffs.append(ngrams.backoffs[begin:end].astype(np.float64))
            parents = np.repeat(np.arange(end - begin), ngrams.children[begin:end])
            begin, end = end, end + len(parents)
            keys = keys[parents] * ngrams.size + ngrams.tokens[begin:end]
            levels.keys.append(keys)
            levels.losses.append(ngrams.losses[begin:end].astype(np.float64))
        return levels

    def tree(self) -> NGrams:
        """The model of these levels."""
        arrays = {
            "tokens": np.concatenate([[0], *(keys % self.size for keys in self.keys)]),
            "losses": np.concatenate([[0], *self.losses]),
            "children": np.concatenate([self.children(length) for length in range(len(self.keys))]),
            "backoffs": np.concatenate(self.backoffs),
        }
        kept = {name: arrays[name].astype(dtype) for name, dtype in dtypes(self.size).items()}
        return NGrams(self.size, len(self.keys), **kept)

    def contexts(self, length: int) -> Keys:
        """The n-grams of a length; for 0, the root."""
        return self.keys[length - 1] if length else np.zeros(1, dtype=np.int64)

    def children(self, length: int) -> NDArray[np.int64]:
        """For each n-gram of a length, the number of n-grams one token longer."""
        places, _ = found(self.contexts(length), self.keys[length] // self.size)
        return np.bincount(places, minlength=len(self.contexts(length)))

    def shares(self, length: int) -> Shares:
        """For the n-grams of a length, the probability of the last token given the others."""
        shares: Shares = np.exp(-STEP * self.losses[length - 1])
        return shares

    def backed_off(self, keys: Keys, length: int) -> Shares:
        """For any n-grams of a length, the probability of the last token, with backoff."""
        if not length:
            return np.zeros(len(keys))
        return self.given(keys, self.backed_off(keys % self.size ** (length - 1), length - 1), length)

    def given(self, keys: Keys, shorter: Shares, length: int) -> Shares:
        """Like `backed_off`, given the probabilities of the next lower order."""
        places, kept = found(self.contexts(length), keys)
        context, known = found(self.contexts(length - 1), keys // self.size)
        lost = np.where(known, self.backoffs[length - 1][context], 0)
        shares: Shares = np.where(kept, self.shares(length)[places], np.exp(STEP * lost) * shorter)
        return shares

    def back_off(self) -> None:
        """Append the backoffs of the next length: the ratio of the probability mass left to that of the lower order."""
        length = len(self.backoffs)
        longer, contexts = self.keys[length], self.contexts(length)
        places, _ = found(contexts, longer // self.size)
        left, before = (
            (1 - np.bincount(places, weights=some, minlength=len(contexts))).clip(min=1e-3)
            for some in (self.shares(length + 1), self.backed_off(longer % self.size**length, length))
        )
        limits = np.iinfo(np.int8)
        self.backoffs.append((np.log(left / before) / STEP).round().clip(limits.min, limits.max))


def renamed(ngrams: NGrams, names: Sequence[int], size: int) -> NGrams:
    """Convert a model to another vocabulary; new tokens get a uniform unigram probability, and no longer n-grams.

    Args:
        names: The new id of each token, -1 for dropped ones.
        size: The size of the new vocabulary.

    Raises:
        ConfigError: if the order is too high for the new vocabulary.
    """
    check_order(ngrams.order, size)
    old, called = Levels.of(ngrams), np.array(names)
    levels = Levels(size, [], [], old.backoffs[:1])
    for length, keys in enumerate(old.keys, start=1):
        places = np.arange(length)[::-1]
        tokens = called[keys // old.size ** places[:, None] % old.size]
        kept = np.flatnonzero((tokens >= 0).all(axis=0))
        keys = size**places @ tokens[:, kept]
        new = np.setdiff1d(np.arange(size), keys) if length == 1 else np.zeros(0, dtype=np.int64)
        by_chance = np.full(len(new), round(np.log(size) / STEP))
        order = np.argsort(np.concatenate([keys, new]))
        levels.keys.append(np.concatenate([keys, new])[order])
        levels.losses.append(np.concatenate([old.losses[length - 1][kept], by_chance])[order])
        if length < ngrams.order:
            levels.backoffs.append(np.concatenate([old.backoffs[length][kept], np.zeros(len(new))])[order])
    return levels.tree()
