"""N-grams from texts: counted, smoothed, mixed and pruned.

An n-gram is a number here, its tokens the digits to the base V: the n-gram without its last token is a division away,
that without its first a remainder, and sorted numbers are n-grams in the order in which `NGrams` keeps them.

Source: interpolated absolute discounting, Ney, Essen and Kneser, Computer Speech and Language 1994, the discount of
each length n1 / (n1 + 2 n2); mixture and pruning by what an n-gram changes, after Stolcke, arXiv cs/0006025.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.errors import ConfigError, DataError
from drethtr.language.ngrams import FAINTEST, LONGEST, STEP, NGrams
from drethtr.text.tokenizer import BOS, EOS, Tokenizer

Keys = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """N-grams of one length and how often they occur, in texts of V tokens."""

    size: int
    keys: Keys
    counts: NDArray[np.int64]

    @cached_property
    def discount(self) -> float:
        """What is taken from every count for what was not seen."""
        once, twice = (int((self.counts == number).sum()) for number in (1, 2))
        return once / (once + 2 * twice) if once else 0.5

    @cached_property
    def contexts(self) -> tuple[Keys, NDArray[np.int64], NDArray[np.int64]]:
        """What the n-grams go on from, how often that occurs, and how many different tokens follow."""
        contexts, firsts, kinds = np.unique(self.keys // self.size, return_index=True, return_counts=True)
        return contexts, np.add.reduceat(self.counts, firsts), kinds

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        """Probabilities of the last tokens, from those after one token less."""
        contexts, totals, kinds = self.contexts
        place, known = found(contexts, keys // self.size)
        own, seen = found(self.keys, keys)
        counted = np.where(seen, self.counts[own] - self.discount, 0)
        shares: Shares = np.where(known, (counted + self.discount * kinds[place] * shorter) / totals[place], shorter)
        return shares

    def often(self, keys: Keys) -> Shares:
        """How often they occur, as shares of all."""
        places, seen = found(self.keys, keys)
        shares: Shares = np.where(seen, self.counts[places], 0) / self.counts.sum()
        return shares


def found(sorted_keys: Keys, keys: Keys) -> tuple[Keys, NDArray[np.bool_]]:
    """Where some keys are among sorted ones, and whether they are."""
    places = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    return places, sorted_keys[places] == keys


def count(lines: Iterable[Sequence[int]], size: int, order: int) -> list[Counted]:
    """N-grams of 1 to `order` tokens of some lines of V tokens, with the beginnings and ends of the lines."""
    tokens = np.fromiter((token for line in lines for token in (BOS, *line, EOS)), dtype=np.int64)
    keys, in_line, counted = tokens, np.ones(len(tokens), dtype=bool), []
    for length in range(1, order + 1):
        last = tokens[length - 1 :]
        if length > 1:
            keys = keys[: len(last)] * size + last
            in_line = in_line[: len(last)] & (last != BOS)
        chosen = keys[in_line & (last != BOS)]
        if not len(chosen):
            raise DataError(f"no line is as long as {length} characters: too little text to count")
        counted.append(Counted(size, *np.unique(chosen, return_counts=True)))
    return counted


class Mixed(NamedTuple):
    """N-grams of one length, of all texts.

    shares   of their last tokens after the others
    weights  how much is lost without them: how often they occur, times the nats by which they are likelier than without
             their first token
    """

    keys: Keys
    shares: Shares
    weights: Shares


def mixed(texts: Sequence[Sequence[Counted]], parts: Sequence[float], size: int) -> list[Mixed]:
    """The n-grams of some texts, each of which counts for a part of 1; those of one token are all there are."""
    keys, each = np.arange(size), [np.full(size, 1 / size)] * len(texts)
    found_so_far: list[Mixed] = []
    for length, of_length in enumerate(zip(*texts, strict=True), start=1):
        if length > 1:
            before, keys = keys, np.unique(np.concatenate([counted.keys for counted in of_length]))
            places, _ = found(before, keys % size ** (length - 1))
            each = [shares[places] for shares in each]
        shorter = sum_of(each, parts)
        each = [counted.shares(keys, shares) for counted, shares in zip(of_length, each, strict=True)]
        shares, often = sum_of(each, parts), sum_of([counted.often(keys) for counted in of_length], parts)
        found_so_far.append(Mixed(keys, shares, often * np.log(shares / shorter)))
    return found_so_far


def sum_of(each: Sequence[Shares], parts: Sequence[float]) -> Shares:
    """All of them together, by their parts."""
    total: Shares = np.einsum("i,ij->j", np.array(parts), np.stack(each))
    return total


def pruned(mixture: Sequence[Mixed], size: int, most: int) -> list[Mixed]:
    """The `most` n-grams of two and more tokens that would be missed most, and those that they go on from."""
    weights = np.concatenate([some.weights for some in mixture[1:]] or [np.zeros(0)])
    least = -np.partition(-weights, most)[most] if most < len(weights) else -np.inf
    kept: list[Mixed] = []
    needed = np.zeros(0, dtype=np.int64)
    for length in range(len(mixture), 0, -1):
        some = mixture[length - 1]
        chosen = np.isin(some.keys, needed) | (some.weights > least) | (length == 1)
        kept.insert(0, Mixed(some.keys[chosen], some.shares[chosen], some.weights[chosen]))
        needed = np.unique(some.keys[chosen] // size)
    return kept


def learn(
    texts: Sequence[Iterable[str]], parts: Sequence[float], tokenizer: Tokenizer, *, order: int, most: int
) -> NGrams:
    """What is likely in some texts, lines each, that count for parts of 1; of at most about so many n-grams.

    Raises:
        ConfigError: if n-grams of this order cannot be counted for so many tokens.
        DataError: if there is too little text.
    """
    size = tokenizer.size
    check_order(order, size)
    counted = [count(map(tokenizer.encode, some), size, order) for some in texts]
    kept = pruned(mixed(counted, parts, size), size, most)
    losses = [(-np.log(some.shares) / STEP).round().clip(0, -FAINTEST / STEP) for some in kept]
    levels = Levels(size, [some.keys for some in kept], [np.exp(-STEP * some) for some in losses], [])
    for length in range(order):
        levels.backoffs.append(levels.backoffs_of(length))
    return levels.tree(losses)


class Levels(NamedTuple):
    """N-grams by their lengths, from 1 on; their shares; and by lengths from 0 on, in steps, what they back off by."""

    size: int
    keys: list[Keys]
    shares: list[Shares]
    backoffs: list[NDArray[np.float64]]

    def contexts(self, length: int) -> Keys:
        """The n-grams of this length, the root for 0."""
        return self.keys[length - 1] if length else np.zeros(1, dtype=np.int64)

    def tree(self, losses: Sequence[NDArray[np.float64]]) -> NGrams:
        """All of them, with their losses by their lengths from 1 on, in steps."""
        return NGrams(
            self.size,
            len(self.keys),
            tokens=np.concatenate([[0], *(keys % self.size for keys in self.keys)]).astype(np.int16),
            losses=np.concatenate([[0], *losses]).astype(np.uint8),
            children=np.concatenate([self.children(length) for length in range(len(self.keys))]).astype(np.int16),
            backoffs=np.concatenate(self.backoffs).astype(np.int8),
        )

    def children(self, length: int) -> NDArray[np.int64]:
        """How many n-grams go on from each of this length."""
        places, _ = found(self.contexts(length), self.keys[length] // self.size)
        return np.bincount(places, minlength=len(self.contexts(length)))

    def backoffs_of(self, length: int) -> NDArray[np.float64]:
        """For each of this length, what it leaves of 1 to other tokens, beside what one token less leaves to them."""
        longer = self.keys[length]
        places, _ = found(self.contexts(length), longer // self.size)
        shorter = self.backed_off(longer % self.size**length, length)
        left, before = (
            (1 - np.bincount(places, weights=some, minlength=len(self.contexts(length)))).clip(min=1e-3)
            for some in (self.shares[length], shorter)
        )
        limits = np.iinfo(np.int8)
        steps: NDArray[np.float64] = (np.log(left / before) / STEP).round().clip(limits.min, limits.max)
        return steps

    def backed_off(self, keys: Keys, length: int) -> Shares:
        """The shares of n-grams of this length, kept or not."""
        if not length:
            return np.zeros(len(keys))
        places, kept = found(self.keys[length - 1], keys)
        if kept.all():
            return self.shares[length - 1][places]
        context, known = found(self.contexts(length - 1), keys // self.size)
        lost = np.where(known, self.backoffs[length - 1][context], 0)
        shorter = self.backed_off(keys % self.size ** (length - 1), length - 1)
        return np.where(kept, self.shares[length - 1][places], np.exp(STEP * lost) * shorter)


def renamed(ngrams: NGrams, names: Sequence[int], size: int) -> NGrams:
    """The same for other tokens: new ones are by themselves as likely as by chance, and follow nothing.

    Args:
        names: What each token is called there, -1 if there is no such token.
        size: How many tokens there are there.

    Raises:
        ConfigError: if n-grams of so many tokens cannot be numbered.
    """
    check_order(ngrams.order, size)
    called, begin, end = np.array(names), 0, 1
    keys, known = np.zeros(1, dtype=np.int64), np.ones(1, dtype=bool)
    levels, losses = Levels(size, [], [], [np.zeros(1) + ngrams.backoffs[0]]), []
    for length in range(1, ngrams.order + 1):
        parents = np.repeat(np.arange(end - begin), ngrams.children[begin:end])
        begin, end = end, end + len(parents)
        tokens = called[ngrams.tokens[begin:end]]
        keys, known = keys[parents] * size + tokens, known[parents] & (tokens >= 0)
        kept = np.flatnonzero(known)
        kept = kept[np.argsort(keys[kept])]
        new = np.setdiff1d(np.arange(size), keys[kept]) if length == 1 else np.zeros(0, dtype=np.int64)
        place = np.argsort(np.concatenate([keys[kept], new]))
        levels.keys.append(np.concatenate([keys[kept], new])[place])
        by_chance = np.full(len(new), round(np.log(size) / STEP))
        losses.append(np.concatenate([ngrams.losses[begin:end][kept], by_chance])[place])
        if length < ngrams.order:
            backoffs = ngrams.backoffs[begin:end][kept]
            levels.backoffs.append(np.concatenate([backoffs, np.zeros(len(new))])[place])
    return levels.tree(losses)


def check_order(order: int, size: int) -> None:
    """Refuse n-grams whose numbers would be too large.

    Raises:
        ConfigError: saying so.
    """
    if not 1 <= order <= LONGEST or size**order >= 2**63:
        raise ConfigError(f"n-grams of {order} tokens of {size} cannot be counted; take shorter ones")
