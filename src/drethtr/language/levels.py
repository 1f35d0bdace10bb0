"""N-grams as numbers: looked up and put in order, before they are a tree and after.

An n-gram is a number here, its tokens the digits to the base V: the n-gram without its last token is a division away,
that without its first a remainder, and sorted numbers are n-grams in the order in which `NGrams` keeps them.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.language.ngrams import LONGEST, STEP, NGrams, dtypes

Keys = NDArray[np.int64]
Shares = NDArray[np.float64]
Steps = NDArray[np.float64]


def found(sorted_keys: Keys, keys: Keys) -> tuple[Keys, NDArray[np.bool_]]:
    """Where some keys are among sorted ones, and whether they are."""
    places = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    return places, sorted_keys[places] == keys


def check_order(order: int, size: int) -> None:
    """Refuse n-grams whose numbers would be too large, or whose tokens.

    Raises:
        ConfigError: saying so.
    """
    if not 1 <= order <= LONGEST or size > np.iinfo(np.int16).max or size**order >= 2**63:
        raise ConfigError(f"n-grams of {order} tokens of {size} cannot be counted; take shorter ones")


class Levels(NamedTuple):
    """N-grams by their lengths, from 1 on, and what they lose; by lengths from 0 on, how they back off; in steps."""

    size: int
    keys: list[Keys]
    losses: list[Steps]
    backoffs: list[Steps]

    @classmethod
    def of(cls, ngrams: NGrams) -> Self:
        """Those of a tree."""
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
        """All of them."""
        arrays = {
            "tokens": np.concatenate([[0], *(keys % self.size for keys in self.keys)]),
            "losses": np.concatenate([[0], *self.losses]),
            "children": np.concatenate([self.children(length) for length in range(len(self.keys))]),
            "backoffs": np.concatenate(self.backoffs),
        }
        kept = {name: arrays[name].astype(dtype) for name, dtype in dtypes(self.size).items()}
        return NGrams(self.size, len(self.keys), **kept)

    def contexts(self, length: int) -> Keys:
        """The n-grams of this length, the root for 0."""
        return self.keys[length - 1] if length else np.zeros(1, dtype=np.int64)

    def children(self, length: int) -> NDArray[np.int64]:
        """How many n-grams go on from each of this length."""
        places, _ = found(self.contexts(length), self.keys[length] // self.size)
        return np.bincount(places, minlength=len(self.contexts(length)))

    def shares(self, length: int) -> Shares:
        """How likely the last tokens of the n-grams of this length are after the others."""
        shares: Shares = np.exp(-STEP * self.losses[length - 1])
        return shares

    def backed_off(self, keys: Keys, length: int) -> Shares:
        """The same for any n-grams of this length."""
        if not length:
            return np.zeros(len(keys))
        return self.given(keys, self.backed_off(keys % self.size ** (length - 1), length - 1), length)

    def given(self, keys: Keys, shorter: Shares, length: int) -> Shares:
        """The same, from how likely their last tokens are after one token less."""
        places, kept = found(self.contexts(length), keys)
        context, known = found(self.contexts(length - 1), keys // self.size)
        lost = np.where(known, self.backoffs[length - 1][context], 0)
        shares: Shares = np.where(kept, self.shares(length)[places], np.exp(STEP * lost) * shorter)
        return shares

    def back_off(self) -> None:
        """Add how those of the next length back off: by what they leave of 1, beside what one token less leaves."""
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
    """The same for other tokens: new ones are by themselves as likely as by chance, and follow nothing.

    Args:
        names: What each token is called there, -1 if there is no such token.
        size: How many tokens there are there.

    Raises:
        ConfigError: if n-grams of so many tokens cannot be numbered.
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
