"""The components of a mixture: sets of real lines, in memory or streamed, and synthetic lines.

A `Source` is the configuration; it opens into one `Supply` or, if it contains several sets, into several.
`training/layout/sources.py` has those of marked pages.
"""

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError, DataError
from drethtr.datasets.open import all_matching, open_all
from drethtr.datasets.parquet import columns_of, is_clean, open_parquet, sample_of, text_of
from drethtr.datasets.sample import Sample, lines_digest
from drethtr.synthesis.recombination import Recombination, Recombined, read_gaps
from drethtr.synthesis.synthetic import Synthesizer, Synthetic
from drethtr.text.normalize import for_scoring, marks_in

RECOMBINE = 1  # separates these random numbers from those of the order


Item = TypeVar("Item")
"""What is learned from: a line, or a marked page."""


class Supply(ABC, Generic[Item]):
    """An endless sequence of samples."""

    @abstractmethod
    def sample(self, number: int, seed: int) -> Item:
        """The sample with this number, counted from 0; it depends only on the seed."""

    @abstractmethod
    def describe(self) -> str:
        """A description for the log."""

    @abstractmethod
    def digest(self) -> str:
        """A digest that changes with the content of the files and its order, as far as can be checked quickly."""


class LineSupply(Supply[Sample]):
    """An endless sequence of lines."""

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
        if not 0 <= self.weight < float("inf"):
            raise ConfigError(f"weight must be a finite number of at least 0, not {self.weight}")

    @abstractmethod
    def open(self) -> Sequence[tuple[float, Supply[Item]]]:
        """Its supplies, each with its share of this source; the shares sum to 1."""


class LineSource(Source[Sample]):
    """Base of the sources of lines."""

    @abstractmethod
    def open(self) -> Sequence[tuple[float, LineSupply]]: ...


@dataclass(frozen=True, kw_only=True)
class FromFiles(LineSource, ABC):
    """Base of the sources of real lines.

    paths               patterns of files or URLs, such as `lines/*.train.parquet`
    clean_only          leave out lines whose text has editorial marks or uncertain letters
    """

    paths: tuple[str, ...]
    clean_only: bool = True

    def suits(self, text: str, clean: bool) -> bool:
        """Whether to train on a line."""
        return (clean or not self.clean_only) and bool(text.strip())


@dataclass(frozen=True, kw_only=True)
class SetFactor:
    """A factor for the share of one set; 0 leaves it out."""

    set: str
    factor: float


@dataclass(frozen=True, kw_only=True)
class Real(FromFiles):
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
        if not 0 <= self.balance <= 1:
            raise ConfigError(f"balance must be between 0 and 1, not {self.balance}")

    def open(self) -> list[tuple[float, LineSupply]]:
        """One supply per set, sorted by name.

        Raises:
            DataError: if a file cannot be used, or no line is left.
            ConfigError: if a factor is negative, or names a set that does not exist.
        """
        found: dict[str, list[Sample]] = defaultdict(list)
        for sample in open_all(self.paths):
            found[sample.set].append(sample)
        factors = {factor.set: factor.factor for factor in self.factors}
        if unknown := factors.keys() - found.keys():
            raise ConfigError(f"unknown set {min(unknown)!r} in factors; known: {', '.join(sorted(found))}")
        if factors and min(factors.values()) < 0:
            raise ConfigError(f"each factor must be at least 0, not {min(factors.values())}")
        wanted = self.recombined
        gaps = read_gaps(wanted.gaps) if wanted is not None else {}
        supplies = []
        for name, samples in sorted(found.items()):
            kept = tuple(sample for sample in samples if self.suits(sample.text, sample.clean))
            weight = factors.get(name, 1.0) * len(kept) ** self.balance if kept else 0.0
            if weight > 0:
                recombination = Recombination.of(kept, gaps, wanted.share) if wanted is not None else None
                supplies.append((weight, RealLines(name, kept, len(samples) - len(kept), recombination)))
        if not supplies:
            raise DataError(f"no training lines left in {', '.join(self.paths)}")
        total = sum(weight for weight, _ in supplies)
        return [(weight / total, supply) for weight, supply in supplies]


@dataclass(frozen=True)
class RealLines(LineSupply):
    """The lines of one set, epoch after epoch, each in another order."""

    set: str
    samples: tuple[Sample, ...]
    left_out: int = 0
    recombination: Recombination | None = None

    def sample(self, number: int, seed: int) -> Sample:
        """The sample with this number; none repeats before all others have come."""
        round_, turn = divmod(number, len(self.samples))
        place = int(order(len(self.samples), seed, round_)[turn])
        if self.recombination is None:
            return self.samples[place]
        return self.recombination(place, self.samples[place], np.random.default_rng((seed, number, RECOMBINE)))

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
        return [(1.0, MadeLines(self.lines.build()))]


@dataclass(frozen=True)
class MadeLines(LineSupply):
    """Synthetic lines."""

    synthesizer: Synthesizer

    def within(self, characters: str) -> "MadeLines":
        """These lines restricted to these characters, unless the config specifies its own."""
        config = self.synthesizer.config
        return self if config.alphabet else MadeLines(replace(config, alphabet=characters).build())

    def sample(self, number: int, seed: int) -> Sample:
        return self.synthesizer.render(number, seed)

    def describe(self) -> str:
        return f"synthetic: lines in {len(self.synthesizer.fonts)} fonts of {self.synthesizer.fonts.path}"

    def digest(self) -> str:
        return self.synthesizer.digest()


TOGETHER = 16
"""Number of blocks whose lines are shuffled together: 8,000 lines with the 500-line blocks of `drethtr data import`."""

MAX_BLOCK = 5000
"""Maximum lines in a row group, since all blocks that are shuffled together must fit in memory."""


class Block(NamedTuple):
    """A row group of a file: the number of its first row, and the rows used for training, counted from 0.

    `digest` covers its texts, the selection of rows, and the total size in bytes.
    """

    file: str
    group: int
    first: int
    rows: NDArray[np.int16]
    digest: str


@dataclass(frozen=True, kw_only=True)
class Streamed(FromFiles):
    """Real lines from Parquet files, with equal weight; images are read when needed.

    This does not check whether validation lines are among them; `drethtr data check` does.
    """

    def open(self) -> list[tuple[float, LineSupply]]:
        """A single supply; this reads all texts but no images.

        Raises:
            DataError: if files are not found or match twice, one cannot be used, or no line is left.
        """
        blocks = tuple(block for file in all_matching(self.paths) for block in self.blocks(file))
        used = tuple(block for block in blocks if block.rows.size)
        if not used:
            raise DataError(f"no training lines left in {', '.join(self.paths)}")
        return [(1.0, StreamedLines(used))]

    def blocks(self, file: str) -> Iterator[Block]:
        """The row groups of a file."""
        with open_parquet(file) as opened:
            wanted = [name for name in columns_of(opened, file) if name in ("text", "clean")]
            first = 0
            for group in range(opened.num_row_groups):
                about = opened.metadata.row_group(group)
                count = about.num_rows
                if count > MAX_BLOCK:
                    raise DataError(
                        f"a row group has {count:,} rows, too many to stream; rewrite it with row groups "
                        f"of 500, as pyarrow.parquet.write_table does with row_group_size=500",
                        file,
                    )
                rows = opened.read_row_group(group, wanted, use_threads=False).to_pylist()
                accepted = [self.accepts(row, f"{file} row {first + place}") for place, row in enumerate(rows)]
                # Texts and sizes, not pixels: a digest must be cheap, and images change only with the size of their
                # block.
                texts = json.dumps([[row["text"] for row in rows], accepted, about.total_byte_size])
                digest = blake2b(texts.encode(), digest_size=8).hexdigest()
                yield Block(file, group, first, np.flatnonzero(accepted).astype(np.int16), digest)
                first += count

    def accepts(self, row: dict[str, Any], key: str) -> bool:
        """Whether to train on a row."""
        text = for_scoring(text_of(row["text"], key))
        return self.suits(text, is_clean(row.get("clean"), key) and not marks_in(text))


@dataclass(frozen=True, eq=False)
class StreamedLines(LineSupply):
    """The lines of some blocks, epoch after epoch, each in another order."""

    blocks: tuple[Block, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the cached blocks."""
        return type(self), (self.blocks,)

    @cached_property
    def rows(self) -> Callable[[str, int], list[dict[str, Any]]]:
        """`rows_of` with a cache of the blocks used last: those of a group and of an adjacent one."""
        return lru_cache(maxsize=2 * TOGETHER)(rows_of)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of lines of each block."""
        return tuple(len(block.rows) for block in self.blocks)

    @cached_property
    def lines(self) -> int:
        """Number of lines of an epoch."""
        return sum(self.counts)

    def sample(self, number: int, seed: int) -> Sample:
        """The sample with this number; none repeats before all others have come."""
        round_, place = divmod(number, self.lines)
        blocks, ends = arrangement(self.counts, round_, seed)
        # Which group of blocks the place falls into; only those blocks are read for it.
        first = int(np.searchsorted(ends, place, side="right")) // TOGETHER * TOGETHER
        before = int(ends[first - 1]) if first else 0
        group = [self.blocks[block] for block in blocks[first : first + TOGETHER].tolist()]
        inside = int(ends[first + len(group) - 1]) - before
        chosen = int(order(inside, seed, round_, first, inside)[place - before])
        return self.line_of(group, chosen)

    def line_of(self, group: list[Block], number: int) -> Sample:
        """A line of some blocks, counted over all of them."""
        for block in group:
            if number < len(block.rows):
                row = int(block.rows[number])
                return sample_of(self.rows(block.file, block.group)[row], block.file, block.first + row, for_scoring)
            number -= len(block.rows)
        raise AssertionError

    def texts(self) -> Iterator[str]:
        for file, blocks in groupby(self.blocks, lambda block: block.file):
            with open_parquet(file) as opened:
                for block in blocks:
                    column = opened.read_row_group(block.group, ["text"], use_threads=False)["text"]
                    yield from (for_scoring(column[row].as_py()) for row in block.rows.tolist())

    def describe(self) -> str:
        files = len({block.file for block in self.blocks})
        return f"streamed: {self.lines:,} lines from {files:,} files"

    def digest(self) -> str:
        return blake2b("".join(block.digest for block in self.blocks).encode(), digest_size=8).hexdigest()


@lru_cache(maxsize=4)
def arrangement(counts: tuple[int, ...], round_: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The blocks in the order of an epoch, and the cumulative number of lines."""
    blocks = np.random.default_rng((seed, round_)).permutation(len(counts))
    return blocks, np.cumsum(np.asarray(counts)[blocks])


def rows_of(file: str, group: int) -> list[dict[str, Any]]:
    """The rows of a block."""
    with open_parquet(file) as opened:
        columns = columns_of(opened, file)
        rows: list[dict[str, Any]] = opened.read_row_group(group, columns, use_threads=False).to_pylist()
    return rows
