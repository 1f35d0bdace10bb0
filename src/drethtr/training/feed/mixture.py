"""Where training samples come from: several supplies, mixed by weight.

A mixture is an endless sequence and a pure function of its seed: any sample can be asked for by its index, in any
process and in any order, so training resumes exactly where it stopped.

The supplies are dealt like cards. A deck holds each supply in proportion to its weight and is shuffled anew every time
it is used up, so that the number of samples taken from a supply before any index is known without drawing them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.lines.sample import Sample
from drethtr.training.feed.streamed import Streamed
from drethtr.training.feed.supply import Made, Real, RealLines, Source, Supply

SOURCES: tuple[type[Source], ...] = (Real, Streamed, Made)
"""What can be mixed."""

DECK = 16384
"""Cards in a deck. Each supply has at least one: no set, however small, is forgotten."""


@dataclass(frozen=True)
class Mixture:
    """Sample number 0, 1, 2, ... for training; `shares` are above 0 and sum to 1.

    No sample comes from `undrawn`, but an alphabet is learned from its texts, too.
    """

    supplies: tuple[Supply, ...]
    shares: tuple[float, ...]
    seed: int
    undrawn: tuple[Supply, ...] = ()

    @classmethod
    def open(cls, sources: Sequence[Source], seed: int) -> Self:
        """Read the files of all sources.

        Raises:
            ConfigError: if there is no source, or a setting is wrong.
            DataError: if a file cannot be used.
        """
        total = sum(source.weight for source in sources)
        if not total:
            known = ", ".join(kind.__name__ for kind in SOURCES)
            raise ConfigError(f"a mixture needs at least one source of samples with a weight above 0: {known}")
        opened = [(share * source.weight / total, supply) for source in sources for share, supply in source.open()]
        drawn = [(share, supply) for share, supply in opened if share]
        if len(drawn) > DECK:
            raise ConfigError(f"{len(drawn):,} sets are more than the {DECK:,} that can be mixed")
        shares, supplies = zip(*drawn, strict=True)
        return cls(supplies, shares, seed, tuple(supply for share, supply in opened if not share))

    def sample(self, index: int) -> Sample:
        """The sample of this index, counted from 0."""
        number, card = divmod(index, DECK)
        supplies, earlier, counts = deck(self.shares, number, self.seed)
        supply = int(supplies[card])
        own_seed = self.seed * DECK + supply  # two supplies must not draw alike
        return self.supplies[supply].sample(int(number * counts[supply] + earlier[card]), own_seed)

    def texts(self) -> Iterator[str]:
        """The text of every real line once, to learn an alphabet from."""
        return (text for supply in (*self.supplies, *self.undrawn) for text in supply.texts())

    def real_samples(self) -> list[Sample]:
        """Every real line in memory that is drawn, once."""
        return [sample for supply in self.supplies if isinstance(supply, RealLines) for sample in supply.samples]

    def within(self, characters: str) -> "Mixture":
        """The same mixture, its made lines written with these characters only."""
        return replace(self, supplies=tuple(supply.within(characters) for supply in self.supplies))

    def summary(self) -> str:
        """What lines are drawn from, one row per supply with its share of them, for the log."""
        drawn = zip(self.shares, self.supplies, strict=True)
        described = ((share, supply.describe()) for share, supply in (*drawn, *((0.0, each) for each in self.undrawn)))
        rows = (f"  {100 * share:5.1f} %  {description}" for share, description in described)
        return "\n".join(("drawn from:", *rows))

    def digests(self) -> list[str]:
        """Every supply that is drawn from, and a digest of its lines."""
        return [f"{supply.describe()} [{supply.digest()}]" for supply in self.supplies]


@lru_cache(maxsize=4)
def deck(shares: tuple[float, ...], number: int, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A shuffled deck.

    Per card, the supply it stands for and how many cards of that supply lie before it; per supply, its cards.
    """
    spare = DECK - len(shares)  # one card each beforehand
    counts = np.diff(np.rint(np.cumsum(shares) / sum(shares) * spare).astype(int), prepend=0) + 1
    cards = np.repeat(np.arange(len(shares)), counts)
    earlier = np.concatenate([np.arange(count) for count in counts])
    np.random.default_rng((seed, number)).shuffle(cards)
    earlier = earlier[np.argsort(np.argsort(cards, kind="stable"), kind="stable")]
    return cards, earlier, counts
