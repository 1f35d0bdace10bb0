"""What a row of a table does."""

from abc import ABC, abstractmethod

from drethtr.research.tables.result import Measurement
from drethtr.research.tables.stage import Conditions


class Experiment(ABC):
    """The work for a row, with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """A digest of the settings and lines.

        Raises:
            ConfigError: if data that it needs were not given.
        """

    @abstractmethod
    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Train what is missing; all processes of torchrun do this together."""

    @abstractmethod
    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        """Measure what was prepared; one process does this."""
