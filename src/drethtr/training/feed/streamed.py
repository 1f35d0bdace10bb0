"""Real lines that do not fit in memory: Parquet files, read a row group at a time, when lines are needed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.datasets.open import all_matching
from drethtr.datasets.parquet import entry_of, is_clean, key_of, open_parquet, rows_in, text_of
from drethtr.datasets.sample import Entry
from drethtr.datasets.splits import set_at
from drethtr.text.normalize import for_scoring, marks_in
from drethtr.training.feed.supply import FileSource, LineSupply, order

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
class Streamed(FileSource):
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
        return [(1.0, StreamedSupply(used))]

    def blocks(self, file: str) -> Iterator[Block]:
        """The row groups of a file."""
        with open_parquet(file) as opened:
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
                rows = list(rows_in(opened, file, [group], ("text", "clean")))
                accepted = [self.accepts(row, key_of(file, first + place)) for place, row in enumerate(rows)]
                # Texts and sizes, not pixels: a digest must be cheap, and changed images change the size of their
                # block.
                texts = json.dumps([[row["text"] for row in rows], accepted, about.total_byte_size])
                digest = blake2b(texts.encode(), digest_size=8).hexdigest()
                yield Block(file, group, first, np.flatnonzero(accepted).astype(np.int16), digest)
                first += count

    def accepts(self, row: dict[str, Any], key: str) -> bool:
        """Whether to train on a row."""
        text = for_scoring(text_of(row["text"], key))
        return self.is_usable(text, is_clean(row.get("clean"), key) and not marks_in(text))


@dataclass(frozen=True, eq=False)
class StreamedSupply(LineSupply):
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

    def sample(self, number: int, seed: int) -> Entry:
        """The sample with this number; none repeats before all others have come."""
        round_, place = divmod(number, self.lines)
        blocks, ends = arrangement(self.counts, round_, seed)
        # Find the group of blocks that contains the place; only these blocks are read.
        first = int(np.searchsorted(ends, place, side="right")) // TOGETHER * TOGETHER
        before = int(ends[first - 1]) if first else 0
        group = [self.blocks[block] for block in blocks[first : first + TOGETHER].tolist()]
        inside = int(ends[first + len(group) - 1]) - before
        chosen = int(order(inside, seed, round_, first, inside)[place - before])
        return self.line_of(group, chosen)

    def line_of(self, group: list[Block], number: int) -> Entry:
        """A line of some blocks, counted over all of them."""
        for block in group:
            if number < len(block.rows):
                place = int(block.rows[number])
                row = self.rows(block.file, block.group)[place]
                return entry_of(row, block.file, block.first + place, set_at(block.file), for_scoring)
            number -= len(block.rows)
        raise AssertionError

    def texts(self) -> Iterator[str]:
        for file, blocks in groupby(self.blocks, lambda block: block.file):
            with open_parquet(file) as opened:
                for block in blocks:
                    rows = list(rows_in(opened, file, [block.group], ("text",)))
                    yield from (for_scoring(rows[place]["text"]) for place in block.rows.tolist())

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
        return list(rows_in(opened, file, [group]))
