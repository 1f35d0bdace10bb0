"""The settings of a network and of its parts, as data; `drethtr.network` has the torch module of each.

A field holds any variant of its base class, which a file names by its kind; plug-ins may add variants.
"""

from dataclasses import dataclass, field

from drethtr.base.errors import ConfigError
from drethtr.recognition.model.decay import DecayConfig, LayerPosition, Scheduled

DESCENT = 16
"""Rows of a line per row of the last feature map of PPOCR and Light."""


class BackboneConfig:
    """The configuration of a backbone."""

    def takes_weights_of(self, other: "BackboneConfig") -> bool:
        """Whether the weights of a backbone with other settings fit, in shape and meaning."""
        return self == other


def check_height(height: int) -> None:
    """Refuse rows that a backbone cannot reduce evenly to a sixteenth."""
    if height < DESCENT or height % DESCENT:
        raise ConfigError(f"height must be a multiple of {DESCENT}, not {height}")


def check_share(name: str, value: float) -> None:
    """Refuse a rate outside [0, 1)."""
    if not 0 <= value < 1:
        raise ConfigError(f"{name} must be at least 0 and less than 1, not {value}")


@dataclass(frozen=True, kw_only=True)
class PPOCR(BackboneConfig):
    """PP-OCRv6 small: a token of 504 channels for every 8 columns.

    Attributes:
        height: Rows of a line; 48 in PP-OCR. Its weights also read taller lines, as all rows are pooled.
    """

    height: int = 48

    def __post_init__(self) -> None:
        check_height(self.height)

    def takes_weights_of(self, other: BackboneConfig) -> bool:
        """True for any height."""
        return isinstance(other, PPOCR)


PPOCR_STEM = 48
PPOCR_STAGES = ((96, (True, False, False)), (192, (True, False, True, False, True, False)), (384, (True, False)))
"""Channels of a stage, and for each of its blocks whether it has squeeze-excitation."""
NECK, NECK_HEADS, NECK_BLOCKS = 120, 8, 2
"""Channels of the neck of PPOCR, and the heads and number of its attention blocks."""


@dataclass(frozen=True, kw_only=True)
class EfficientNetV2S(BackboneConfig):
    """EfficientNetV2-S: 64 rows, a token of 2560 channels for every 16 columns.

    Attributes:
        dropout: Dropout rate after every SiLU; 0.3 in the paper.
        stochastic_depth: Stochastic depth rate; it grows linearly from 0 in the first of n blocks to (n - 1) / n of it
            in the last, as in torchvision.
        canvas: Columns to which every line is padded with paper that counts as part of the line. The authors'
            checkpoints need 2227: they were never trained on the end of a line.
    """

    dropout: float = 0.0
    stochastic_depth: float = 0.2
    canvas: int | None = None

    def __post_init__(self) -> None:
        check_share("dropout", self.dropout)
        check_share("stochastic_depth", self.stochastic_depth)
        if self.canvas is not None and not 64 <= self.canvas <= 65_536:
            raise ConfigError(
                f"canvas must be 64 to 65,536, not {self.canvas}; leave it out for lines of their own width"
            )


@dataclass(frozen=True, kw_only=True)
class Light(BackboneConfig):
    """A small backbone to train from scratch: a token of 256 channels for every 8 columns."""

    height: int = 64

    def __post_init__(self) -> None:
        check_height(self.height)


LIGHT_STAGES = ((32, (2, 2), 0), (64, (2, 2), 3), (128, (2, 2), 6), (256, (2, 1), 2))
"""For each stage its channels, the stride of the downsampling before it, and the number of blocks after it."""
LIGHT_TOKEN_BLOCKS = 2
"""Blocks after the stages, over the tokens."""


MAX_LAYERS = 1000
MAX_WIDTH, MAX_HEADS = 2**16, 1024
"""Limits of channels and heads; larger values are a mistake, or a file made to exhaust memory."""


class MixerConfig:
    """How the text tokens of a layer attend to the image and to earlier text."""


@dataclass(frozen=True)
class Retentive(MixerConfig):
    """ARMF: softmax attention to the image plus retention over the text (paper, eqs. 7-9).

    `normalize` divides by the root of D's row sum, as in the released code; the paper does not mention it.
    """

    decay: DecayConfig = field(default_factory=Scheduled)
    normalize: bool = True


class PriorConfig:
    """The image prior of every layer (paper, Table 7)."""


@dataclass(frozen=True)
class NoPrior(PriorConfig):
    """No image prior."""


@dataclass(frozen=True)
class Multiplied(PriorConfig):
    """Decay after the softmax, as published."""

    decay: Scheduled = field(default_factory=Scheduled)


@dataclass(frozen=True)
class Added(PriorConfig):
    """Decay in log-space, before the softmax."""

    decay: Scheduled = field(default_factory=Scheduled)


class OutputConfig:
    """The transformation of the output of the heads, before it is projected back to the network's width."""


@dataclass(frozen=True)
class Plain(OutputConfig):
    """No transformation, as in DRetHTR."""


class ImagePositionsConfig:
    """The positional encoding of image tokens."""


@dataclass(frozen=True)
class Learned(ImagePositionsConfig):
    """As published: 140 positions for the 2227 columns of the fixed canvas."""

    places: int = 140

    def __post_init__(self) -> None:
        if self.places < 1:
            raise ConfigError(f"places must be at least 1, not {self.places}")


@dataclass(frozen=True)
class Sinusoidal(ImagePositionsConfig):
    """Sinusoids, not learned; lines may have any length."""


@dataclass(frozen=True)
class Unplaced(ImagePositionsConfig):
    """No encoding, for image tokens that already encode their position."""


class ArchitectureConfig:
    """How text attends to the image."""


@dataclass(frozen=True)
class DecoderOnly(ArchitectureConfig):
    """DRetHTR and DTrHTR: image and text share all layers."""


@dataclass(frozen=True, kw_only=True)
class CTCConfig:
    """The CTC head on the image tokens.

    Attributes:
        steps: CTC steps per image token; a token wider than 8 pixels needs more than one.
        inform_decoder: Whether draft reading and reading position are added to the image tokens.
    """

    steps: int = 2
    inform_decoder: bool = True

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ConfigError(f"steps must be at least 1, not {self.steps}")


def check_size(layers: int, width: int, heads: int, hidden: int) -> None:
    """Refuse a network that cannot be built."""
    if not 1 <= layers <= MAX_LAYERS:
        raise ConfigError(f"layers must be between 1 and {MAX_LAYERS:,}, not {layers}")
    if not (4 <= width <= MAX_WIDTH and 1 <= hidden <= MAX_WIDTH):
        raise ConfigError(f"width must be 4 to {MAX_WIDTH:,}, hidden 1 to {MAX_WIDTH:,}, not {width} and {hidden}")
    if not 1 <= heads <= MAX_HEADS:
        raise ConfigError(f"heads must be between 1 and {MAX_HEADS:,}, not {heads}")
    if width % heads or width % 2:
        raise ConfigError(f"width must be even and a multiple of heads, not {width} with {heads} heads")


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Shape of the network (paper, Sec. 5.4); the defaults are DRetHTR-SMALL as published.

    `weight_dropout` drops single weights of attention and retention. Without `text_positions`, only the decay encodes
    the position of text tokens.
    """

    layers: int = 4
    width: int = 1024
    heads: int = 8
    hidden: int = 4096
    dropout: float = 0.3
    weight_dropout: float = 0.3
    embedding_dropout: float = 0.1
    final_norm: bool = False
    backbone: BackboneConfig = field(default_factory=EfficientNetV2S)
    positions: ImagePositionsConfig = field(default_factory=Learned)
    prior: PriorConfig = field(default_factory=Multiplied)
    mixer: MixerConfig = field(default_factory=Retentive)
    output: OutputConfig = field(default_factory=Plain)
    architecture: ArchitectureConfig = field(default_factory=DecoderOnly)
    text_positions: bool = True
    ctc: CTCConfig | None = None

    def __post_init__(self) -> None:
        check_size(self.layers, self.width, self.heads, self.hidden)
        for name in ("dropout", "weight_dropout", "embedding_dropout"):
            check_share(name, getattr(self, name))

    def position(self, layer: int) -> LayerPosition:
        """The position of a layer."""
        return LayerPosition(layer, self.layers, self.heads)


@dataclass(frozen=True, kw_only=True)
class RescorerConfig:
    """A language model of characters: layers like the decoder's, with retention only and without an image.

    It scores whole texts that CTC head and n-grams have proposed.
    """

    layers: int = 4
    width: int = 192
    heads: int = 4
    hidden: int = 768
    mixer: Retentive = field(default_factory=Retentive)

    def __post_init__(self) -> None:
        check_size(self.layers, self.width, self.heads, self.hidden)
        if not isinstance(self.mixer.decay, Scheduled):
            raise ConfigError("mixer.decay of a rescorer must be Scheduled; it cannot be gated")

    def position(self, layer: int) -> LayerPosition:
        """The position of a layer."""
        return LayerPosition(layer, self.layers, self.heads)


SMALL = NetworkConfig()
BASE = NetworkConfig(layers=12, width=768, heads=12, hidden=3072)
"""The networks of the paper (Sec. 5.4)."""

COMPACT = NetworkConfig(
    layers=6,
    width=256,
    heads=4,
    hidden=960,
    dropout=0.1,
    weight_dropout=0.0,
    embedding_dropout=0.1,
    final_norm=True,
    backbone=PPOCR(),
    positions=Sinusoidal(),
    prior=Added(),
    ctc=CTCConfig(),
)
"""The shipped model's network. After 2,500 lines, three layers, one CTC step per token or no image prior read a little
better, which says nothing about training on hundreds of thousands; none of them was trained for long (LOG.md,
2026-11-23, later at night)."""

PRESETS = {"compact": COMPACT, "small": SMALL, "base": BASE}
