"""What a row does, whatever it is."""

from abc import ABC, abstractmethod

from drethtr.experiments.result import Outcome
from drethtr.experiments.stage import Conditions


class Experiment(ABC):
    """What is done for a row, with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """The same for the same settings.

        Raises:
            ConfigError: if something to do it with was not given.
        """

    @abstractmethod
    def run(self, conditions: Conditions, seed: int) -> Outcome:
        """Do it, or what of it is not done yet."""
