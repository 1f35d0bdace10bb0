"""The interface of decoders: a `Strategy` finds the text of every line. The strategies are in `strategies.py`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

from drethtr.base.errors import ConfigError
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.recognition.decoding.decoded import CTCScores, Decoded
from drethtr.recognition.network import ImageMemory, Network

MAX_ALTERNATIVES = 99


class View(NamedTuple):
    """Encoded lines at one width, with the log-probabilities of the CTC head."""

    memory: ImageMemory
    ctc: CTCScores | None

    @classmethod
    def of(cls, memory: ImageMemory) -> Self:
        """The view of encoded lines."""
        return cls(memory, CTCScores.of(memory))

    @property
    def scores(self) -> CTCScores:
        """The log-probabilities of the CTC head, for a network that has one."""
        assert self.ctc is not None, "`check_strategy` refuses strategies that need a CTC head without one"
        return self.ctc


class Strategy(ABC):
    """Finds the text of every line; the text of a line does not depend on the other lines."""

    needs_ctc: ClassVar[bool] = False
    """Whether it needs a CTC head."""

    @property
    def stretches(self) -> tuple[float, ...]:
        """The widths at which it sees a line, relative to the usual one; characters are placed on the first."""
        return (1.0,)

    @property
    def most_alternatives(self) -> int:
        """The largest number of alternatives it can give."""
        return MAX_ALTERNATIVES

    def completed_by(self, best: "Strategy | None") -> "Strategy":
        """The strategy, with weights that are left open taken from the model's best strategy."""
        return self

    def is_like(self, other: "Strategy") -> bool:
        """Whether one calibration serves both."""
        return type(self) is type(other)

    @abstractmethod
    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        """One text for each line, with at most so many alternatives; `views` has one view for each of `stretches`."""


def check_strategy(strategy: Strategy, network: Network) -> None:
    """Refuse a network that lacks what a strategy needs.

    Raises:
        ConfigError: saying what is missing.
    """
    if strategy.needs_ctc and network.dimensions.steps_per_token is None:
        raise ConfigError("this model has no CTC head; use another decoder, such as greedy")
