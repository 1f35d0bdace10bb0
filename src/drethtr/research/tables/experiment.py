"""What a row does, whatever it is."""

from abc import ABC, abstractmethod

from drethtr.research.tables.result import Outcome
from drethtr.research.tables.stage import Conditions


class Experiment(ABC):
    """What is done for a row, with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """The same for the same settings and lines.

        Raises:
            ConfigError: if something to do it with was not given.
        """

    @abstractmethod
    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Train what is not trained yet; of several processes, all do this together."""

    @abstractmethod
    def measure(self, conditions: Conditions, seed: int) -> Outcome:
        """Measure what was prepared; of several processes, one does this."""
