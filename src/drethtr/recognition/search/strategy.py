"""What a strategy is: a way to find the text of every line, chosen by value. Which ones there are: `strategies.py`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

from drethtr.base.errors import ConfigError
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.recognition.network import ImageMemory, Network
from drethtr.recognition.search.decoded import CTCScores, Decoded

MOST_ALTERNATIVES = 99


class View(NamedTuple):
    """Lines as they are seen at one width: what the network keeps of them, and what the CTC head says."""

    memory: ImageMemory
    ctc: CTCScores | None

    @classmethod
    def of(cls, memory: ImageMemory) -> Self:
        """The view of what a network has encoded."""
        return cls(memory, CTCScores.of(memory))

    @property
    def scores(self) -> CTCScores:
        """What the CTC head says, of a network that has one."""
        assert self.ctc is not None, "strategies that need a CTC head say so, and are refused without one"
        return self.ctc


class Strategy(ABC):
    """Finds the text of every line; the text of a line does not depend on the other lines."""

    needs_ctc: ClassVar[bool] = False
    """Whether it cannot do without a CTC head."""

    @property
    def stretches(self) -> tuple[float, ...]:
        """The widths at which it sees a line, relative to the usual one; on the first, characters are placed."""
        return (1.0,)

    @property
    def most_alternatives(self) -> int:
        """How many other texts it can give besides the one it finds."""
        return MOST_ALTERNATIVES

    def completed_by(self, best: "Strategy | None") -> "Strategy":
        """The strategy with the weights it leaves open taken from another, which reads best with a model."""
        return self

    def is_like(self, other: "Strategy") -> bool:
        """Whether confidences mean the same with both, so that one calibration serves them."""
        return type(self) is type(other)

    @abstractmethod
    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        """One text for each line, and at most so many others; `views` are the lines at each of its `stretches`."""


def check_strategy(strategy: Strategy, network: Network) -> None:
    """Refuse a network that lacks what a strategy needs.

    Raises:
        ConfigError: saying what is missing.
    """
    if strategy.needs_ctc and network.dimensions.steps_per_token is None:
        raise ConfigError("this model has no CTC head; use another decoder, such as greedy")
