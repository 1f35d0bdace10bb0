"""What a decoder is: it finds the text of every line of an image memory. Which ones there are: `strategies.py`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from drethtr.base.errors import ConfigError
from drethtr.language.ngrams import NGrams
from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.search.decoded import Decoded

MOST_ALTERNATIVES = 99


class Decoder(ABC):
    """Finds the text of every line of an image memory; the answer for a line does not depend on the others."""

    needs_ctc: ClassVar[bool] = False
    stepwise: ClassVar[bool] = True
    """Whether it writes token by token; else it reads whole texts back, or needs no text decoder."""

    @property
    def widths(self) -> tuple[float, ...]:
        """The widths at which it looks at a line, relative to the usual one; on the first, characters are placed."""
        return (1.0,)

    @property
    def most_alternatives(self) -> int:
        """How many other texts than the one it finds it can be asked for."""
        return MOST_ALTERNATIVES

    def fitted(self, best: "Decoder | None") -> "Decoder":
        """The same, what it leaves open taken from another, which reads best with a model."""
        return self

    def akin(self, other: "Decoder") -> bool:
        """Whether the confidences of one mean what those of the other do."""
        return type(self) is type(other)

    def check(self, network: DRetHTR) -> None:
        """Refuse a network that lacks what this decoder needs.

        Raises:
            ConfigError: saying what is missing.
        """
        if self.needs_ctc and network.ctc is None:
            raise ConfigError("this model has no CTC head; use another decoder, such as greedy")

    @abstractmethod
    def decode_views(
        self, network: DRetHTR, views: Sequence[ImageMemory], alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        """One text for each line, and at most so many others; one memory of the lines for each of its `widths`."""

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        """The same for lines that it sees at one width."""
        return self.decode_views(network, [memory], alternatives, ngrams)


class OneView(Decoder):
    """A decoder that sees lines at one width."""

    @abstractmethod
    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        """One text for each line of the memory, and at most so many others."""

    def decode_views(
        self, network: DRetHTR, views: Sequence[ImageMemory], alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        [memory] = views
        return self.decode(network, memory, alternatives, ngrams)
