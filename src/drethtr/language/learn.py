"""N-grams as sorted integer keys, to build and convert models.

The tokens of an n-gram are the digits of its key in base V: division by V drops the last token, a remainder drops the
first, and sorted keys are in the order in which `NGrams` stores n-grams.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.errors import ConfigError, DataError
from drethtr.language.ngrams import FAINTEST, MAX_ORDER, STEP, NGrams, dtypes
from drethtr.text.tokenizer import BOS, EOS, Tokenizer

Keys = Ints
Shares = Floats
Steps = Floats


def look_up(sorted_keys: Keys, keys: Keys) -> tuple[Keys, Booleans]:
    """Look keys up in sorted keys: the index of each, and whether it was found."""
    places = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    return places, sorted_keys[places] == keys


def values_of(keys: Keys, sorted_keys: Keys, values: NDArray[Any], missing: Shares | float) -> Shares:
    """For each key, its value, given those of sorted keys; `missing`, or its value there, for keys not among them."""
    if not len(sorted_keys):  # pruning left no n-gram of this length
        return np.full(len(keys), missing, dtype=np.float64)
    places, found = look_up(sorted_keys, keys)
    chosen: Shares = np.where(found, values[places], missing)
    return chosen


def check_order(order: int, size: int) -> None:
    """Check that keys of this order fit into 64 bits, and tokens into 16."""
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

    def children(self, length: int) -> Ints:
        """For each n-gram of a length, the number of n-grams one token longer."""
        places, _ = look_up(self.contexts(length), self.keys[length] // self.size)
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
        lost = values_of(keys // self.size, self.contexts(length - 1), self.backoffs[length - 1], 0)
        return values_of(keys, self.contexts(length), self.shares(length), np.exp(STEP * lost) * shorter)

    def back_off(self) -> None:
        """Append the backoffs of the next length: the ratio of the probability mass left to that of the lower order."""
        length = len(self.backoffs)
        longer, contexts = self.keys[length], self.contexts(length)
        places, _ = look_up(contexts, longer // self.size)
        left, before = (
            (1 - np.bincount(places, weights=some, minlength=len(contexts))).clip(min=1e-3)
            for some in (self.shares(length + 1), self.backed_off(longer % self.size**length, length))
        )
        # Unseen n-grams keep at least a thousandth of the probability, even where the known ones seem to have all of
        # it.
        limits = np.iinfo(np.int8)  # clipped above, since rounded losses may add up to more than 1
        # The probability that the known n-grams leave, relative to what the shorter context gives the other tokens.
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
        # New characters are as likely as any other, as no text has shown otherwise.
        by_chance = np.full(len(new), round(np.log(size) / STEP))
        order = np.argsort(np.concatenate([keys, new]))
        levels.keys.append(np.concatenate([keys, new])[order])
        levels.losses.append(np.concatenate([old.losses[length - 1][kept], by_chance])[order])
        if length < ngrams.order:
            levels.backoffs.append(np.concatenate([old.backoffs[length][kept], np.zeros(len(new))])[order])
    return levels.tree()


class NGramStatistics(Protocol):
    """Statistics of the n-grams of one order."""

    @property
    def keys(self) -> Keys:
        """The known n-grams, sorted."""

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        """Probabilities of the last tokens, given those of the next lower order."""

    def frequencies(self, keys: Keys) -> Shares:
        """Relative frequencies of the n-grams."""


@dataclass(frozen=True)
class Counted:
    """Counts of the n-grams of one order, over a vocabulary of `size` tokens."""

    size: int
    keys: Keys
    counts: Ints

    @cached_property
    def discount(self) -> float:
        """The discount subtracted from every count, in favor of unseen n-grams."""
        # N-grams seen once indicate how much was never seen; without such counts, half a count is usual.
        once, twice = (int((self.counts == number).sum()) for number in (1, 2))
        return once / (once + 2 * twice) if once else 0.5

    @cached_property
    def contexts(self) -> tuple[Keys, Ints, Ints]:
        """The contexts of the n-grams, their counts, and the number of distinct tokens that follow each."""
        contexts, firsts, kinds = np.unique(self.keys // self.size, return_index=True, return_counts=True)
        return contexts, np.add.reduceat(self.counts, firsts), kinds

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        contexts, totals, kinds = self.contexts
        place, known = look_up(contexts, keys // self.size)
        counted = values_of(keys, self.keys, self.counts - self.discount, 0)
        shares: Shares = np.where(known, (counted + self.discount * kinds[place] * shorter) / totals[place], shorter)
        return shares

    def frequencies(self, keys: Keys) -> Shares:
        shares: Shares = values_of(keys, self.keys, self.counts, 0) / self.counts.sum()
        return shares


@dataclass(frozen=True)
class ModelStatistics:
    """The n-grams of one order in another model, and their relative frequencies according to that model."""

    levels: Levels
    length: int
    occur: Shares

    @property
    def keys(self) -> Keys:
        return self.levels.contexts(self.length)

    def shares(self, keys: Keys, shorter: Shares) -> Shares:
        return self.levels.given(keys, shorter, self.length)

    def frequencies(self, keys: Keys) -> Shares:
        return values_of(keys, self.keys, self.occur, 0)


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
            least = max(length - 2, 1)  # beside its beginning and its end, which count
            raise DataError(f"too little text: n-grams of {length} need a line of {least} or more characters")
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
            before, _ = look_up(levels.contexts(length - 1), levels.contexts(length) // levels.size)
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
    every = [
        np.unique(np.concatenate([source.keys for source in of_length])) for of_length in zip(*sources, strict=True)
    ]
    every[0] = np.arange(size)
    for length in range(len(every) - 1, 1, -1):  # a pruned model may lack the suffix of one of its n-grams
        every[length - 1] = np.union1d(every[length - 1], every[length] % size**length)
    keys, each = every[0], [np.full(size, 1 / size)] * len(sources)
    found_so_far: list[Mixed] = []
    for length, of_length in enumerate(zip(*sources, strict=True), start=1):
        if length > 1:
            before, keys = keys, every[length - 1]
            places, _ = look_up(before, keys % size ** (length - 1))
            each = [shares[places] for shares in each]
        shorter = sum_of(each, parts)
        each = [source.shares(keys, shares) for source, shares in zip(of_length, each, strict=True)]
        shares, frequencies = sum_of(each, parts), sum_of([source.frequencies(keys) for source in of_length], parts)
        found_so_far.append(Mixed(keys, shares, frequencies * np.log(shares / shorter)))
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
    # From the longest down, since an n-gram can only be kept with its context.
    for length in range(len(mixture), 0, -1):
        some = mixture[length - 1]
        chosen = np.isin(some.keys, needed) | (some.weights > least) | (length == 1)
        kept.insert(0, Mixed(some.keys[chosen], some.shares[chosen], some.weights[chosen]))
        needed = np.unique(some.keys[chosen] // size)
    return kept


class Ingredient(NamedTuple):
    """A source of n-grams (texts or a model), its weight, and its name in reports.

    The weights of all ingredients sum to 1.
    """

    source: Iterable[str] | NGrams
    weight: float = 1.0
    name: str = ""


def with_share(others: Sequence[Ingredient], added: Ingredient) -> list[Ingredient]:
    """Ingredients with one more, which gets its weight from the others; alone, it gets all."""
    if not others:
        return [added._replace(weight=1.0)]
    return [*(one._replace(weight=(1 - added.weight) * one.weight) for one in others), added]


def learn(ingredients: Sequence[Ingredient], tokenizer: Tokenizer, *, order: int, most: int) -> NGrams:
    """Estimate a model of about `most` n-grams from texts and other models, interpolated by their weights.

    Raises:
        ConfigError: if the order is too high for the vocabulary, or a source model has another order or vocabulary.
        DataError: if there is too little text.
    """
    sources = [one.source for one in ingredients]
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
    kept = pruned(mixed(known, [one.weight for one in ingredients], size), size, most)
    # A byte each: losses beyond 255 steps become equal, like those of tokens that were never seen.
    losses = [(-np.log(some.shares) / STEP).round().clip(0, -FAINTEST / STEP) for some in kept]
    levels = Levels(size, [some.keys for some in kept], losses, [])
    for _ in range(order):
        levels.back_off()
    return levels.tree()


def with_texts(ngrams: NGrams, texts: Iterable[str], share: float, tokenizer: Tokenizer) -> NGrams:
    """A model of the same size into which texts are interpolated, with this share of the weight.

    Raises:
        DataError: if there is too little text.
    """
    # Interpolated, not appended: a few lines would be lost among hundreds of thousands of n-grams.
    ingredients = [Ingredient(texts, share), Ingredient(ngrams, 1 - share)]
    return learn(ingredients, tokenizer, order=ngrams.order, most=len(ngrams.tokens))
