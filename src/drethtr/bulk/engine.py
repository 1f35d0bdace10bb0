"""The base class of engines, which run the same work on every part, in processes or on machines."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from drethtr.bulk.plan import Part
from drethtr.bulk.reader import PartOutcome, Work

TRIES = 3
"""Attempts at a part whose workers are killed."""


class Engine(ABC):
    """Distributes parts over processes or machines; it knows nothing about rows and files."""

    @abstractmethod
    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        """Read all parts, and yield the outcome of each as it finishes.

        Killed workers are replaced, and their parts are read again.

        Raises:
            DrethtrError: if no worker can start, or results cannot be written.
        """
