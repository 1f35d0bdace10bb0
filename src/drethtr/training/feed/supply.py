"""The components of a mixture: sets of real lines in memory, and synthetic lines.

A `Source` is the configuration; it opens into one `Supply` or, if it contains several sets, into several.
`streamed.py` has the source for lines that do not fit in memory, `training/layout/sources.py` those of marked pages.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError, DataError
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Entry, LeftOut, Sample, grouped, lines_digest, set_of
from drethtr.synthesis.recombination import Recombination, Recombined, read_gaps
from drethtr.synthesis.synthetic import Synthesizer, Synthetic

RECOMBINE = 5
"""Separates these random numbers from those of the order and of batches (`batch.py`), which may use the same seed."""

MAX_WEIGHT = 1e9
"""Maximum weight of a source and factor of a set, so that shares can be computed."""

Item = TypeVar("Item")
"""A training example: a line, or a marked page."""


def check_between(name: str, value: float, most: float) -> None:
    """Refuse a setting that is negative, above a limit, or no number."""
    if not 0 <= value <= most:
        raise ConfigError(f"{name} must be between 0 and {most:g}, not {value}")


class Supply(ABC, Generic[Item]):
    """An endless sequence of samples."""

    @abstractmethod
    def sample(self, number: int, seed: int) -> Item:
        """The sample with this number, counted from 0; it depends only on the seed.

        Raises:
            DataError: if a file cannot be read.
        """

    @abstractmethod
    def describe(self) -> str:
        """A description for the log."""

    @abstractmethod
    def digest(self) -> str:
        """A digest that changes with the content of the files and its order, as far as can be checked quickly."""


class LineSupply(Supply[Entry]):
    """An endless sequence of lines, or why one cannot be used."""

    def texts(self) -> Iterator[str]:
        """The texts of its real lines, each once, for learning the alphabet."""
        return iter(())

    def within(self, characters: str) -> "LineSupply":
        """The supply with synthetic text restricted to these characters."""
        return self


@dataclass(frozen=True, kw_only=True)
class Source(ABC, Generic[Item]):
    """Base of the configs in a mixture.

    weight              its share of the samples, relative to the others'; with 0 lines only contribute characters
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        check_between("weight", self.weight, MAX_WEIGHT)

    @abstractmethod
    def open(self) -> Sequence[tuple[float, Supply[Item]]]:
        """Its supplies, each with its share of this source; the shares sum to 1."""


class LineSource(Source[Entry]):
    """Base of the sources of lines."""

    @abstractmethod
    def open(self) -> Sequence[tuple[float, LineSupply]]: ...


@dataclass(frozen=True, kw_only=True)
class FileSource(LineSource, ABC):
    """Base of the sources of real lines.

    paths               patterns of files or URLs, such as `lines/*.train.parquet`
    clean_only          leave out lines whose text has editorial marks or uncertain letters
    """

    paths: tuple[str, ...]
    clean_only: bool = True

    def is_usable(self, text: str, clean: bool) -> bool:
        """Whether to train on a line."""
        return (clean or not self.clean_only) and bool(text.strip())


@dataclass(frozen=True, kw_only=True)
class SetFactor:
    """A factor for the share of one set; 0 leaves it out."""

    set: str
    factor: float

    def __post_init__(self) -> None:
        check_between("factor", self.factor, MAX_WEIGHT)


@dataclass(frozen=True, kw_only=True)
class Real(FileSource):
    """Real lines from files or folders, all in memory.

    balance             the share of a set is its number of lines to this power: 1 weights lines equally, 0 sets
    factors             exceptions by set
    recombined          whether and how lines are recombined from words of others
    """

    balance: float = 1.0
    factors: tuple[SetFactor, ...] = ()
    recombined: Recombined | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("balance", self.balance, 1)

    def open(self) -> list[tuple[float, LineSupply]]:
        """One supply per set, sorted by name.

        Raises:
            DataError: if a file cannot be used, or no line is left.
            ConfigError: if a factor is for a set that does not exist.
        """
        found = grouped(open_all(self.paths), set_of)
        factors = {factor.set: factor.factor for factor in self.factors}
        if unknown := factors.keys() - found.keys():
            raise ConfigError(f"unknown set {min(unknown)!r} in factors; known: {', '.join(found)}")
        wanted = self.recombined
        gaps = read_gaps(wanted.gaps) if wanted is not None else {}
        supplies = []
        for name, samples in found.items():
            kept = tuple(sample for sample in samples if self.is_usable(sample.text, sample.clean))
            weight = factors.get(name, 1.0) * len(kept) ** self.balance if kept else 0.0
            if weight > 0:
                recombination = Recombination.of(kept, gaps, wanted.share) if wanted is not None else None
                supplies.append((weight, RealSupply(name, kept, len(samples) - len(kept), recombination)))
        if not supplies:
            raise DataError(f"no training lines left in {', '.join(self.paths)}")
        total = sum(weight for weight, _ in supplies)
        return [(weight / total, supply) for weight, supply in supplies]


@dataclass(frozen=True)
class RealSupply(LineSupply):
    """The lines of one set, epoch after epoch, each in another order."""

    set: str
    samples: tuple[Sample, ...]
    left_out: int = 0
    recombination: Recombination | None = None

    def sample(self, number: int, seed: int) -> Entry:
        """The sample with this number; none repeats before all others have come."""
        round_, turn = divmod(number, len(self.samples))
        place = int(order(len(self.samples), seed, round_)[turn])
        if self.recombination is None:
            return self.samples[place]
        try:
            return self.recombination(place, self.samples[place], np.random.default_rng((seed, number, RECOMBINE)))
        except DataError as error:
            return LeftOut(str(error.source), "image cannot be read", error.reason)

    def texts(self) -> Iterator[str]:
        return (sample.text for sample in self.samples)

    def describe(self) -> str:
        left_out = f" ({self.left_out:,} left out)" if self.left_out else ""
        mixed = self.recombination
        words = (
            f"; {100 * mixed.share:.0f} % of {len(mixed.page):,} recombined from words of their pages" if mixed else ""
        )
        return f"{self.set}: {len(self.samples):,} lines{left_out}{words}"

    def digest(self) -> str:
        lines = lines_digest(self.samples)
        return lines if self.recombination is None else f"{lines}, {self.recombination.digest()}"


@lru_cache(maxsize=256)
def order(size: int, *seeds: int) -> NDArray[Any]:
    """A permutation of `size` lines: of an epoch, or of the blocks that are shuffled together."""
    return np.random.default_rng(seeds).permutation(size)


@dataclass(frozen=True, kw_only=True)
class Made(LineSource):
    """Synthetic lines, each of them new."""

    lines: Synthetic

    def open(self) -> list[tuple[float, LineSupply]]:
        """A single supply.

        Raises:
            DataError: if there are no fonts.
        """
        return [(1.0, MadeSupply(self.lines.build()))]


@dataclass(frozen=True)
class MadeSupply(LineSupply):
    """Synthetic lines."""

    synthesizer: Synthesizer

    def within(self, characters: str) -> "MadeSupply":
        """These lines restricted to these characters, unless the config specifies its own."""
        config = self.synthesizer.config
        return self if config.alphabet else MadeSupply(replace(config, alphabet=characters).build())

    def sample(self, number: int, seed: int) -> Sample:
        return self.synthesizer.render(number, seed)

    def describe(self) -> str:
        return f"synthetic: lines in {len(self.synthesizer.fonts)} fonts of {self.synthesizer.fonts.path}"

    def digest(self) -> str:
        return self.synthesizer.digest()
