"""Estimate an n-gram language model from texts and other models: count, discount, interpolate, prune.

Source: interpolated absolute discounting, Ney, Essen and Kneser, Computer Speech and Language 1994, with the discount
n1 / (n1 + 2 n2) for each order; entropy-based pruning after Stolcke, arXiv cs/0006025.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError, DataError
from drethtr.language.levels import Keys, Levels, Shares, check_order, found
from drethtr.language.ngrams import FAINTEST, STEP, NGrams
from drethtr.text.tokenizer import BOS, EOS, Tokenizer


class NGramStatistics(Protocol):
    """Statistics of the n-grams of one order."""

    @property
    def keys(self) -> Keys:
        """The known n-grams, sorted."""

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        """Probabilities of the last tokens, given those of the next lower order."""

    def often(self, keys: Keys) -> Shares:
        """Relative frequencies of the n-grams."""


@dataclass(frozen=True)
class Counted:
    """Counts of the n-grams of one order, over a vocabulary of `size` tokens."""

    size: int
    keys: Keys
    counts: NDArray[np.int64]

    @cached_property
    def discount(self) -> float:
        """The discount subtracted from every count, in favor of unseen n-grams."""
        once, twice = (int((self.counts == number).sum()) for number in (1, 2))
        return once / (once + 2 * twice) if once else 0.5

    @cached_property
    def contexts(self) -> tuple[Keys, NDArray[np.int64], NDArray[np.int64]]:
        """The contexts of the n-grams, their counts, and the number of distinct tokens that follow each."""
        contexts, firsts, kinds = np.unique(self.keys // self.size, return_index=True, return_counts=True)
        return contexts, np.add.reduceat(self.counts, firsts), kinds

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        """Probabilities of the last tokens, given those of the next lower order."""
        contexts, totals, kinds = self.contexts
        place, known = found(contexts, keys // self.size)
        own, seen = found(self.keys, keys)
        counted = np.where(seen, self.counts[own] - self.discount, 0)
        shares: Shares = np.where(known, (counted + self.discount * kinds[place] * shorter) / totals[place], shorter)
        return shares

    def often(self, keys: Keys) -> Shares:
        """Relative frequencies of the n-grams."""
        places, seen = found(self.keys, keys)
        shares: Shares = np.where(seen, self.counts[places], 0) / self.counts.sum()
        return shares


@dataclass(frozen=True)
class ModelStatistics:
    """The n-grams of one order in another model, and their relative frequencies according to that model."""

    levels: Levels
    length: int
    occur: Shares

    @property
    def keys(self) -> Keys:
        """The known n-grams, sorted."""
        return self.levels.contexts(self.length)

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        """Probabilities of the last tokens, given those of the next lower order."""
        return self.levels.given(keys, shorter, self.length)

    def often(self, keys: Keys) -> Shares:
        """Relative frequencies of the n-grams."""
        places, seen = found(self.keys, keys)
        shares: Shares = np.where(seen, self.occur[places], 0)
        return shares


def count(lines: Iterable[Sequence[int]], size: int, order: int) -> list[Counted]:
    """Count the n-grams of orders 1 to `order` in lines between `BOS` and `EOS`; `size` is that of the vocabulary."""
    tokens = np.fromiter((token for line in lines for token in (BOS, *line, EOS)), dtype=np.int64)
    keys, in_line, counted = tokens, np.ones(len(tokens), dtype=bool), []
    for length in range(1, order + 1):
        last = tokens[length - 1 :]
        if length > 1:
            keys = keys[: len(last)] * size + last
            in_line = in_line[: len(last)] & (last != BOS)
        chosen = keys[in_line & (last != BOS)]
        if not len(chosen):
            raise DataError(f"too little text: no line has {length} characters for n-grams of that length")
        counted.append(Counted(size, *np.unique(chosen, return_counts=True)))
    return counted


def known_by(ngrams: NGrams) -> list[ModelStatistics]:
    """The n-grams of a model by order, with frequencies from the chain rule."""
    levels, known = Levels.of(ngrams), list[ModelStatistics]()
    for length in range(1, ngrams.order + 1):
        occur = levels.shares(length)
        if length == 1:
            occur[BOS] = occur[EOS]  # as frequent as `EOS`, but the model has no probability for `BOS`
        else:
            before, _ = found(levels.contexts(length - 1), levels.contexts(length) // levels.size)
            occur = known[-1].occur[before] * occur
        known.append(ModelStatistics(levels, length, occur))
    return known


class Mixed(NamedTuple):
    """Interpolated n-grams of one order, from all sources.

    shares   probabilities of their last tokens given the others
    weights  the loss from pruning each: relative frequency times the log of the ratio to the next lower order
    """

    keys: Keys
    shares: Shares
    weights: Shares


def mixed(sources: Sequence[Sequence[NGramStatistics]], parts: Sequence[float], size: int) -> list[Mixed]:
    """Interpolate sources with weights `parts`, which sum to 1; the unigrams comprise the whole vocabulary."""
    keys, each = np.arange(size), [np.full(size, 1 / size)] * len(sources)
    found_so_far: list[Mixed] = []
    for length, of_length in enumerate(zip(*sources, strict=True), start=1):
        if length > 1:
            before, keys = keys, np.unique(np.concatenate([source.keys for source in of_length]))
            places, _ = found(before, keys % size ** (length - 1))
            each = [shares[places] for shares in each]
        shorter = sum_of(each, parts)
        each = [source.shares(keys, shares) for source, shares in zip(of_length, each, strict=True)]
        shares, often = sum_of(each, parts), sum_of([source.often(keys) for source in of_length], parts)
        found_so_far.append(Mixed(keys, shares, often * np.log(shares / shorter)))
    return found_so_far


def sum_of(each: Sequence[Shares], parts: Sequence[float]) -> Shares:
    """The weighted sum."""
    total: Shares = np.einsum("i,ij->j", np.array(parts), np.stack(each))
    return total


def pruned(mixture: Sequence[Mixed], size: int, most: int) -> list[Mixed]:
    """Keep the `most` n-grams of order 2 and higher with the greatest loss from pruning, and their contexts."""
    weights = np.concatenate([some.weights for some in mixture[1:]] or [np.zeros(0)])
    least = -np.partition(-weights, most)[most] if most < len(weights) else -np.inf
    kept: list[Mixed] = []
    needed = np.zeros(0, dtype=np.int64)
    # From the longest down, as an n-gram can only be kept with its context.
    for length in range(len(mixture), 0, -1):
        some = mixture[length - 1]
        chosen = np.isin(some.keys, needed) | (some.weights > least) | (length == 1)
        kept.insert(0, Mixed(some.keys[chosen], some.shares[chosen], some.weights[chosen]))
        needed = np.unique(some.keys[chosen] // size)
    return kept


def learn(
    sources: Sequence[Iterable[str] | NGrams], parts: Sequence[float], tokenizer: Tokenizer, *, order: int, most: int
) -> NGrams:
    """Estimate a model of about `most` n-grams from texts and other models with weights `parts`, which sum to 1.

    Raises:
        ConfigError: if the order is too high for the vocabulary, or a source model has another order or vocabulary.
        DataError: if there is too little text.
    """
    size = tokenizer.size
    check_order(order, size)
    if others := [some for some in sources if isinstance(some, NGrams) and (some.size, some.order) != (size, order)]:
        raise ConfigError(
            f"{others[0]} cannot be mixed with n-grams of up to {order}; keep their length and the alphabet, or "
            "discard them with --keep 0"
        )
    known: list[Sequence[NGramStatistics]] = [
        known_by(some) if isinstance(some, NGrams) else count(map(tokenizer.encode, some), size, order)
        for some in sources
    ]
    kept = pruned(mixed(known, parts, size), size, most)
    losses = [(-np.log(some.shares) / STEP).round().clip(0, -FAINTEST / STEP) for some in kept]
    levels = Levels(size, [some.keys for some in kept], losses, [])
    for _ in range(order):
        levels.back_off()
    return levels.tree()
