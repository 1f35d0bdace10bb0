"""A stream of batches, made by worker processes.

Order and values do not depend on the number of workers, and a stream can start at any batch.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from drethtr.base.errors import DataError
from drethtr.base.processors import begin_worker
from drethtr.network.devices import moved
from drethtr.training.feed.batch import Batch

CPU = torch.device("cpu")


class Position(NamedTuple):
    """The next batch: number `batch` of chunk `chunk`."""

    chunk: int
    batch: int


BEGINNING = Position(0, 0)


class PackedBatch(NamedTuple):
    """A `Batch` for transfer between processes and to a GPU: images as 8-bit grays, everything in numpy arrays.

    Preprocessed lines have at most 256 grays, so nothing is lost. Arrays go through a pipe; tensors would each need a
    file descriptor and shared memory, which is scarce in containers.
    """

    grays: NDArray[np.uint8]
    widths: NDArray[Any]
    tokens: NDArray[Any]
    lengths: NDArray[Any]
    texts: tuple[str, ...]
    left_out: int
    unusable: tuple[str, ...]
    prose: NDArray[Any] | None

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """Compress a batch."""
        # The inverse of the last step of `Preparation`: whole numbers again, to the bit.
        grays = np.rint((1 - batch.images.numpy()) * 127.5).astype(np.uint8)
        prose = None if batch.prose is None else batch.prose.numpy()
        tensors = batch.widths.numpy(), batch.tokens.numpy(), batch.lengths.numpy()
        return cls(grays, *tensors, batch.texts, batch.left_out, batch.unusable, prose)

    def unpack(self, device: torch.device = CPU) -> Batch:
        """The batch, with tensors on a device."""
        grays, widths, tokens, lengths = (moved(torch.from_numpy(array), device) for array in self[:4])
        prose = None if self.prose is None else moved(torch.from_numpy(self.prose), device)
        told = self.texts, self.left_out, self.unusable
        return Batch(1 - grays.float() / 127.5, widths, tokens, lengths, *told, prose)


class PackedBatches(Dataset[list[Any] | DataError]):
    """Packed batches. Errors are returned, because torch would bury a raised one in the worker's traceback."""

    def __init__(self, batches: Any, pack: Callable[[Any], Any]) -> None:
        self.batches, self.pack = batches, pack

    def __getitem__(self, chunk: int) -> list[Any] | DataError:
        """The batches of one chunk, or the error."""
        try:
            return [self.pack(batch) for batch in self.batches[chunk]]
        except DataError as error:
            return error


def beginnings(streams: int) -> tuple[Position, ...]:
    """Starting positions of several streams that divide all chunks among them."""
    return tuple(Position(chunk, 0) for chunk in range(streams))


def stream(
    batches: Any,
    *,
    pack: Callable[[Any], Any] = PackedBatch.of,
    start: Position = BEGINNING,
    every: int = 1,
    workers: int = 0,
) -> Iterator[tuple[Position, Any]]:
    """Yield batches from `start` on, without end, each with the position after it.

    Only every `every`-th chunk is used.

    Args:
        batches: Has a list of batches for each chunk, as `Batches`.
        pack: Converts a batch for the transfer from a worker.

    Raises:
        DataError: if the lines or pages of a chunk cannot be used.
    """
    # One chunk is one item, so that a worker opens, sorts and collates all its lines without communication.
    loader = DataLoader(
        PackedBatches(batches, pack),
        batch_size=None,
        sampler=range(start.chunk, sys.maxsize, every),
        num_workers=workers,
        collate_fn=as_it_is,
        worker_init_fn=begin_loading,
        generator=torch.Generator(),  # otherwise torch draws from the generator that the model uses
    )
    for chunk, packed in zip(count(start.chunk, every), loader, strict=False):
        if isinstance(packed, DataError):
            raise packed
        for number, batch in enumerate(packed):
            if (chunk, number) >= start:
                after = Position(chunk, number + 1) if number + 1 < len(packed) else Position(chunk + every, 0)
                yield after, batch


def as_it_is(packed: Any) -> Any:
    """Return the item unchanged, so that torch does not convert arrays to tensors."""
    return packed


def begin_loading(worker: int) -> None:
    """Start a worker process that loads lines, single-threaded, as there is one per processor."""
    torch.set_num_threads(1)
    begin_worker()
