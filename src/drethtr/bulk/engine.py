"""Where parts are read. An engine knows nothing of rows and files: it runs the same work for every part, somewhere."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from drethtr.bulk.plan import Part
from drethtr.bulk.reader import PartOutcome, Work

TRIES = 3
"""How often a part is begun whose workers are killed, before it is given up."""


class Engine(ABC):
    """Runs work on many processes or machines."""

    @abstractmethod
    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        """Read all parts; the outcome of each, as it comes.

        Workers that are killed are replaced, and their parts read again.

        Raises:
            DrethtrError: if no worker can begin, or results cannot be written.
        """
