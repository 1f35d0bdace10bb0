"""Where text meets image: in every layer of one decoder, or across, from a decoder to an encoder.

A decoder-only network is one whose encoder has no layers, and whose blocks carry the image tokens on themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from drethtr.base.errors import ConfigError
from drethtr.network.block import Block, CrossBlock, EncoderLayer, FusedBlock, Shape
from drethtr.network.decay import Place

MAX_LAYERS = 1000
"""More can only be a mistake, or a file made to exhaust memory."""


class ArchitectureConfig(ABC):
    """Which layers a network has."""

    @abstractmethod
    def encoder(self, shape: Shape) -> Sequence[EncoderLayer]:
        """The layers that image tokens go through first."""

    @abstractmethod
    def block(self, shape: Shape, layer: int) -> Block:
        """The decoder's layer number `layer`, from 0."""


@dataclass(frozen=True)
class DecoderOnly(ArchitectureConfig):
    """DRetHTR and DTrHTR: image and text share all layers."""

    def encoder(self, shape: Shape) -> Sequence[EncoderLayer]:
        return ()

    def block(self, shape: Shape, layer: int) -> Block:
        return FusedBlock(shape, layer)


@dataclass(frozen=True)
class EncoderDecoder(ArchitectureConfig):
    """RetHTR and TrHTR: an encoder of `layers` layers, `hidden` wide inside (paper, Sec. 5.5.1), and cross-attention.

    The encoder is a plain pre-norm transformer with the network's image prior. The released tree has no code for it:
    the layers are chosen so that the parameters count up to the paper's.
    """

    layers: int = 4
    hidden: int = 3072

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= MAX_LAYERS or self.hidden < 1:
            raise ConfigError(
                f"an encoder has 1 to {MAX_LAYERS} layers and 1 hidden channel or more, "
                f"not {self.layers}, {self.hidden}"
            )

    def encoder(self, shape: Shape) -> Sequence[EncoderLayer]:
        return [
            EncoderLayer(shape, Place(layer, self.layers, shape.heads), self.hidden) for layer in range(self.layers)
        ]

    def block(self, shape: Shape, layer: int) -> Block:
        return CrossBlock(shape, layer)
