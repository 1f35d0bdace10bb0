"""The paper's other networks, as data: those that DRetHTR is compared with, and others in the released code.

`drethtr.paper.network` has their torch classes. A run file or model that names one of these kinds finds it through the
entry point of the group `drethtr.plugins`.
"""

import math
from dataclasses import dataclass, field, replace

from drethtr.base.errors import ConfigError
from drethtr.recognition.model.architecture import (
    MAX_LAYERS,
    SMALL,
    ArchitectureConfig,
    BackboneConfig,
    MixerConfig,
    NoPrior,
    OutputConfig,
    Plain,
    check_share,
)
from drethtr.recognition.model.decay import DecayConfig, Scheduled


@dataclass(frozen=True)
class Fade:
    """Softmax weights that decay with distance, as in the released code; `normalize` as for retention."""

    decay: Scheduled = field(default_factory=Scheduled)
    normalize: bool = True


@dataclass(frozen=True)
class JointSoftmax(MixerConfig):
    """DTrHTR: one softmax over all image and text tokens that a token attends to."""

    fade: Fade | None = None


@dataclass(frozen=True)
class SplitSoftmax(MixerConfig):
    """Separate normalization of image and text (paper, Sec. 7)."""

    fade: Fade | None = None


@dataclass(frozen=True)
class Gated(DecayConfig):
    """γ read from the text, sigmoid(x W)^(1/τ) (paper, eq. 5); τ = 16 follows YOCO."""

    temperature: float = 16.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ConfigError(f"temperature must be positive and finite, not {self.temperature}")


@dataclass(frozen=True)
class Sigmoid(OutputConfig):
    """A sigmoid."""


@dataclass(frozen=True)
class HeadNorm(OutputConfig):
    """Group norm, one group per head."""

    on_image: bool = True


@dataclass(frozen=True)
class SwishGate(OutputConfig):
    """Group norm and a swish gate, as in RetNet."""

    on_image: bool = True


@dataclass(frozen=True)
class EncoderDecoder(ArchitectureConfig):
    """RetHTR and TrHTR: an encoder of `layers` layers, `hidden` wide inside (paper, Sec. 5.5.1), and cross-attention.

    The encoder is a plain pre-norm transformer with the network's image prior. The released tree has no code for it:
    the layers are chosen so that the parameters add up to the paper's count.
    """

    layers: int = 4
    hidden: int = 3072

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= MAX_LAYERS or self.hidden < 1:
            raise ConfigError(
                f"an encoder's layers must be between 1 and {MAX_LAYERS}, hidden at least 1, "
                f"not {self.layers} and {self.hidden}"
            )


@dataclass(frozen=True, kw_only=True)
class ResNet50(BackboneConfig):
    """ResNet-50: 64 rows, a token of 2048 channels times `rows`, 2 or 4, for every 16 columns.

    Attributes:
        dropout: After every ReLU; 0.3 in the paper.
    """

    rows: int = 2
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_rows("ResNet50", self.rows, (2, 4))
        check_share("dropout", self.dropout)


@dataclass(frozen=True, kw_only=True)
class ShallowCNN(BackboneConfig):
    """Wick et al.: 64 rows, a token of 128 channels times `rows`, 4 or 10, for every 8 columns.

    Attributes:
        dropout: After every convolution; 0.3 in the paper.
    """

    rows: int = 4
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_rows("ShallowCNN", self.rows, (4, 10))
        check_share("dropout", self.dropout)


def check_rows(backbone: str, rows: int, possible: tuple[int, ...]) -> None:
    """Refuse a number of rows that a backbone cannot output."""
    if rows not in possible:
        raise ConfigError(f"rows must be {' or '.join(map(str, possible))} for {backbone}, not {rows}")


@dataclass(frozen=True, kw_only=True)
class Patches(BackboneConfig):
    """Patches of `rows` x `columns` pixels, each a token of `width` channels.

    Patches stacked vertically share their columns, so `columns` must be a multiple of their number.
    """

    height: int = 64
    rows: int = 16
    columns: int = 8
    width: int = 256

    def __post_init__(self) -> None:
        if min(self.height, self.rows, self.columns, self.width) < 1:
            raise ConfigError("height, rows, columns and width of patches must be at least 1")
        if self.height % self.rows:
            raise ConfigError(f"rows must divide the height of {self.height}, not {self.rows}")
        if self.columns % (self.height // self.rows):
            raise ConfigError(
                f"columns must be a multiple of {self.height // self.rows}, the patches in a column, not {self.columns}"
            )


@dataclass(frozen=True)
class Given(BackboneConfig):
    """No backbone: the caller provides tokens of `width` channels."""

    width: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ConfigError(f"width must be at least 1, not {self.width}")


DTRHTR_SMALL = replace(SMALL, mixer=JointSoftmax(), prior=NoPrior())
"""The softmax baseline."""
RETHTR_SMALL = replace(SMALL, architecture=EncoderDecoder(), output=SwishGate(), prior=NoPrior())
"""The encoder-decoder with retention; only with RetNet's gate does it have the paper's 136 million parameters."""
TRHTR_SMALL = replace(RETHTR_SMALL, mixer=JointSoftmax(), output=Plain())
"""The encoder-decoder with softmax."""
