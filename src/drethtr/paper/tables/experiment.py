"""The base class of experiments, the work behind a row."""

from abc import ABC, abstractmethod

from drethtr.paper.tables.result import Measurement
from drethtr.paper.tables.stage import Conditions


class Experiment(ABC):
    """The work for a row with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """A digest of the settings and lines.

        Raises:
            ConfigError: if required data were not given.
        """

    @abstractmethod
    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Train what is missing; all processes of torchrun take part."""

    @abstractmethod
    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        """Measure what was prepared, in one process."""
