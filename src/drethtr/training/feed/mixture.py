"""The source of training samples: several supplies, mixed by weight.

A mixture is an endless sequence and a pure function of its seed: any sample can be requested by its index, in any
process and in any order, so training resumes exactly where it stopped.

Supplies are dealt like cards. A deck holds each supply in proportion to its weight and is reshuffled every time it is
used up, so the number of samples taken from a supply before any index is known without drawing them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.datasets.sample import Entry, Sample
from drethtr.training.feed.supply import Item, LineSupply, RealSupply, Source, Supply

DECK = 16384
"""Cards in a deck. Each supply has at least one, so that no set is forgotten, however small."""


@dataclass(frozen=True)
class Mixture(Generic[Item]):
    """Sample number 0, 1, 2, ... for training; `shares` are above 0 and sum to 1. None come from `undrawn`."""

    supplies: tuple[Supply[Item], ...]
    shares: tuple[float, ...]
    seed: int
    undrawn: tuple[Supply[Item], ...] = ()

    @classmethod
    def open(cls, sources: Sequence[Source[Item]], seed: int) -> Self:
        """Read the files of all sources.

        Raises:
            ConfigError: if there is no source, or a setting is wrong.
            DataError: if a file cannot be used.
        """
        total = sum(source.weight for source in sources)
        if not total:
            raise ConfigError("train needs at least one source with a weight above 0")
        opened = [(share * source.weight / total, supply) for source in sources for share, supply in source.open()]
        drawn = [(share, supply) for share, supply in opened if share]
        if len(drawn) > DECK:
            raise ConfigError(f"{len(drawn):,} sets exceed the maximum of {DECK:,}")
        shares, supplies = zip(*drawn, strict=True)
        return cls(supplies, shares, seed, tuple(supply for share, supply in opened if not share))

    def sample(self, index: int) -> Item:
        """The sample with this index, counted from 0.

        Raises:
            DataError: if a file cannot be read.
        """
        number, card = divmod(index, DECK)
        supplies, earlier, counts = deck(self.shares, number, self.seed)
        supply = int(supplies[card])
        own_seed = self.seed * DECK + supply  # supplies must not draw the same random numbers
        return self.supplies[supply].sample(int(number * counts[supply] + earlier[card]), own_seed)

    def summary(self) -> str:
        """A description for the log, with a row per supply and its share of the samples."""
        drawn = zip(self.shares, self.supplies, strict=True)
        described = ((share, supply.describe()) for share, supply in (*drawn, *((0.0, each) for each in self.undrawn)))
        rows = (f"  {100 * share:5.1f} %  {description}" for share, description in described)
        return "\n".join(("drawn from:", *rows))

    def digests(self) -> list[str]:
        """A description and digest of every supply that is drawn from."""
        return [f"{supply.describe()} [{supply.digest()}]" for supply in self.supplies]


@dataclass(frozen=True)
class LineMixture(Mixture[Entry]):
    """A mixture of lines; the alphabet includes the characters of those that are not drawn."""

    supplies: tuple[LineSupply, ...]
    undrawn: tuple[LineSupply, ...] = ()

    def texts(self) -> Iterator[str]:
        """The text of every real line once, for learning the alphabet."""
        return (text for supply in (*self.supplies, *self.undrawn) for text in supply.texts())

    def real_samples(self) -> list[Sample]:
        """Every real line in memory that is drawn from, once."""
        return [sample for supply in self.supplies if isinstance(supply, RealSupply) for sample in supply.samples]

    def within(self, characters: str) -> Self:
        """The mixture with synthetic lines restricted to these characters."""
        return replace(self, supplies=tuple(supply.within(characters) for supply in self.supplies))


@lru_cache(maxsize=4)
def deck(shares: tuple[float, ...], number: int, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A shuffled deck.

    Returns, for each card, its supply and the number of earlier cards of that supply; and for each supply, its cards.
    """
    spare = DECK - len(shares)  # every supply gets one card first
    counts = np.diff(np.rint(np.cumsum(shares) / sum(shares) * spare).astype(int), prepend=0) + 1
    cards = np.repeat(np.arange(len(shares)), counts)
    earlier = np.concatenate([np.arange(count) for count in counts])
    np.random.default_rng((seed, number)).shuffle(cards)
    # The n-th card of a supply keeps number n wherever the shuffle has put it.
    earlier = earlier[np.argsort(np.argsort(cards, kind="stable"), kind="stable")]
    return cards, earlier, counts
