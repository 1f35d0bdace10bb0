"""What a network is made of, as data: every choice that decides what it computes, and none that decides how.

A model file holds a `NetworkConfig` as JSON. Two backends build a network from it: `recognition/onnx` a graph for
onnxruntime, `drethtr.network` torch modules. Each variant is a frozen dataclass; the torch module that it stands for is
registered for it with `singledispatch`, beside the module.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError

Gamma = NDArray[np.float64]

MAX_LAYERS = 1000
MAX_WIDTH, MAX_HEADS = 2**16, 1024
"""More layers, channels or heads can only be a mistake, or a file made to exhaust memory."""


class LayerPosition(NamedTuple):
    """Layer number `layer`, from 0, of `layers`, each with `heads` heads."""

    layer: int
    layers: int
    heads: int

    @property
    def depth(self) -> float:
        """0 at the first layer, 1 at the last; a single layer is the last."""
        return self.layer / (self.layers - 1) if self.layers > 1 else 1.0


Schedule = Callable[[LayerPosition, float], Gamma]
SCHEDULES: dict[str, Schedule] = {}


def schedule(function: Schedule) -> Schedule:
    """Register a schedule under the name of its function."""
    SCHEDULES[function.__name__] = function
    return function


def head_spread(heads: int) -> Gamma:
    """RetNet's mild variation across heads, from 1/32 down to 1/512."""
    return np.exp(np.linspace(math.log(1 / 32), math.log(1 / 512), heads))


@schedule
def original(position: LayerPosition, subtractor: float) -> Gamma:
    """RetNet's own choice: every layer has a long memory. There is nothing to subtract."""
    return 1 - head_spread(position.heads)


@schedule
def small(position: LayerPosition, subtractor: float) -> Gamma:
    """Every layer forgets fast."""
    return 1 - subtractor - head_spread(position.heads)


@schedule
def headwise(position: LayerPosition, subtractor: float) -> Gamma:
    """Heads range from fast to slow, the same in every layer."""
    return 1 - 1 / 32 - subtractor * np.linspace(1, 0, position.heads)


@schedule
def layerwise(position: LayerPosition, subtractor: float) -> Gamma:
    """Early layers forget fast, late layers have a long memory (paper, eq. 10)."""
    return 1 - subtractor * (1 - position.depth) - head_spread(position.heads)


class DecayConfig:
    """Which decay a layer gets."""


@dataclass(frozen=True)
class Scheduled(DecayConfig):
    """A named schedule; `subtractor` is γ_subtractor of the paper, tuned there to 0.86 on IAM."""

    schedule: str = "layerwise"
    subtractor: float = 0.86

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ConfigError(f"unknown decay schedule {self.schedule!r}; known: {', '.join(SCHEDULES)}")
        if self.schedule == "original":  # equal decays compare equal
            object.__setattr__(self, "subtractor", type(self).subtractor)

    def gamma(self, position: LayerPosition) -> Gamma:
        """γ of each head (H,) in a layer.

        Raises:
            ConfigError: if any γ leaves (0, 1).
        """
        gamma = SCHEDULES[self.schedule](position, self.subtractor)
        if not 0 < gamma.min() <= gamma.max() < 1:
            raise ConfigError(f"{self} leaves (0, 1) at layer {position.layer}: γ = {gamma.tolist()}")
        return gamma

    def log_gamma(self, position: LayerPosition) -> NDArray[np.float32]:
        """Log γ of each head (H,) in a layer, as networks compute with it."""
        return np.log(self.gamma(position)).astype(np.float32)


@dataclass(frozen=True)
class Gated(DecayConfig):
    """γ read from the text, sigmoid(x W)^(1/τ) (paper, eq. 5); τ = 16 follows YOCO."""

    temperature: float = 16.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ConfigError(f"the temperature of a gate must be above 0 and finite, not {self.temperature}")


class MixerConfig:
    """How the text tokens of a layer weigh the image and the text before them."""


@dataclass(frozen=True)
class Retentive(MixerConfig):
    """ARMF: softmax attention to the image plus retention over the text (paper, eqs. 7-9).

    `normalize` divides by the root of D's row sum, as the released code does and the paper does not say.
    """

    decay: DecayConfig = field(default_factory=Scheduled)
    normalize: bool = True


@dataclass(frozen=True)
class Fade:
    """Softmax weights that decay with distance, as in the released code; `normalize` as for retention."""

    decay: Scheduled = field(default_factory=Scheduled)
    normalize: bool = True


@dataclass(frozen=True)
class JointSoftmax(MixerConfig):
    """DTrHTR: one softmax over all that a token sees."""

    fade: Fade | None = None


@dataclass(frozen=True)
class SplitSoftmax(MixerConfig):
    """Separate normalization of image and text (paper, Sec. 7)."""

    fade: Fade | None = None


class PriorConfig:
    """Which image prior every layer gets (paper, Table 7)."""


@dataclass(frozen=True)
class NoPrior(PriorConfig):
    """Distance does not matter."""


@dataclass(frozen=True)
class Multiplied(PriorConfig):
    """Decay after the softmax, as published."""

    decay: Scheduled = field(default_factory=Scheduled)


@dataclass(frozen=True)
class Added(PriorConfig):
    """Decay in log-space, before the softmax."""

    decay: Scheduled = field(default_factory=Scheduled)


class OutputConfig:
    """What happens to the output of the heads before it is projected back to the network's width."""


@dataclass(frozen=True)
class Plain(OutputConfig):
    """Nothing, as in DRetHTR."""


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


class ImagePositionsConfig:
    """Which positions image tokens get."""


@dataclass(frozen=True)
class Learned(ImagePositionsConfig):
    """As published: 140 positions for the 2227 columns of the fixed canvas."""

    places: int = 140

    def __post_init__(self) -> None:
        if self.places < 1:
            raise ConfigError(f"a table of image positions needs at least 1 place, not {self.places}")


@dataclass(frozen=True)
class Sinusoidal(ImagePositionsConfig):
    """Nothing to learn, no longest line."""


@dataclass(frozen=True)
class Unplaced(ImagePositionsConfig):
    """None; for image tokens that know their position already."""


class BackboneConfig:
    """Which backbone a network gets, and its settings."""

    def takes_weights_of(self, other: "BackboneConfig") -> bool:
        """Whether a backbone of other settings has weights of the same shapes and meaning."""
        return self == other


def check_height(height: int, descent: int) -> None:
    """Refuse rows that a backbone cannot reduce evenly.

    Raises:
        ConfigError: if `descent` does not divide the height.
    """
    if height < descent or height % descent:
        raise ConfigError(f"height {height}: must be a multiple of {descent}")


@dataclass(frozen=True, kw_only=True)
class PPOCR(BackboneConfig):
    """PP-OCRv6 small: a token of 504 channels for every 8 columns.

    Attributes:
        height: Rows of a line; PP-OCR takes 48. Its weights also read higher lines, as all rows are pooled.
    """

    height: int = 48

    def __post_init__(self) -> None:
        check_height(self.height, 16)

    def takes_weights_of(self, other: BackboneConfig) -> bool:
        """Those for lines of any height."""
        return isinstance(other, PPOCR)


@dataclass(frozen=True, kw_only=True)
class EfficientNetV2S(BackboneConfig):
    """EfficientNetV2-S: 64 rows, a token of 2560 channels for every 16 columns.

    Attributes:
        dropout: After every SiLU; 0.3 in the paper.
        stochastic_depth: Of the last block; it grows linearly from 0 in the first.
        canvas: Columns to which every line is padded with paper that counts as line. The authors' checkpoints need
            2227: they have never seen a line end.
    """

    dropout: float = 0.0
    stochastic_depth: float = 0.2
    canvas: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.dropout < 1 and 0 <= self.stochastic_depth < 1):
            raise ConfigError(f"dropout {self.dropout}, stochastic_depth {self.stochastic_depth}: must be in [0, 1)")
        if self.canvas is not None and not 64 <= self.canvas <= 65_536:
            raise ConfigError(f"canvas {self.canvas}: must be 64 to 65,536, or left out for lines of their own width")


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
    """Refuse a number of rows that a backbone cannot keep.

    Raises:
        ConfigError: naming those that it can.
    """
    if rows not in possible:
        raise ConfigError(f"rows {rows}: a {backbone} keeps {' or '.join(map(str, possible))}")


def check_share(name: str, value: float) -> None:
    """Refuse a rate outside [0, 1).

    Raises:
        ConfigError: naming the setting.
    """
    if not 0 <= value < 1:
        raise ConfigError(f"{name} {value}: must be in [0, 1)")


@dataclass(frozen=True, kw_only=True)
class Light(BackboneConfig):
    """A small backbone to train from scratch: a token of 256 channels for every 8 columns."""

    height: int = 64

    def __post_init__(self) -> None:
        check_height(self.height, 16)


@dataclass(frozen=True, kw_only=True)
class Patches(BackboneConfig):
    """Patches of `rows` x `columns` pixels, each a token of `width` channels.

    The patches above each other share their columns, so `columns` must be a multiple of their number.
    """

    height: int = 64
    rows: int = 16
    columns: int = 8
    width: int = 256

    def __post_init__(self) -> None:
        if min(self.height, self.rows, self.columns, self.width) < 1:
            raise ConfigError("height, rows, columns and width of patches must be at least 1")
        if self.height % self.rows:
            raise ConfigError(f"rows {self.rows}: patches must divide the height of {self.height} pixels")
        if self.columns % (self.height // self.rows):
            raise ConfigError(
                f"columns {self.columns}: must be a multiple of the {self.height // self.rows} patches in a column"
            )


@dataclass(frozen=True)
class Given(BackboneConfig):
    """No backbone: the caller brings tokens of `width` channels."""

    width: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ConfigError(f"a token has at least 1 channel, not {self.width}")


class ArchitectureConfig:
    """Where text meets image."""


@dataclass(frozen=True)
class DecoderOnly(ArchitectureConfig):
    """DRetHTR and DTrHTR: image and text share all layers."""


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
                f"an encoder has 1 to {MAX_LAYERS} layers and 1 hidden channel or more, "
                f"not {self.layers}, {self.hidden}"
            )


@dataclass(frozen=True, kw_only=True)
class CTCConfig:
    """The CTC head on the image tokens.

    Attributes:
        steps: Characters that an image token can hold; a token wider than 8 pixels needs more than one.
        inform_decoder: Whether image tokens are told the draft reading and the reading position.
    """

    steps: int = 2
    inform_decoder: bool = True

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ConfigError(f"a CTC head needs at least 1 step per image token, not {self.steps}")


def check_size(layers: int, width: int, heads: int, hidden: int) -> None:
    """Refuse a network that cannot be built.

    Raises:
        ConfigError: saying what is wrong.
    """
    if not 1 <= layers <= MAX_LAYERS:
        raise ConfigError(f"a network has 1 to {MAX_LAYERS} layers, not {layers}")
    if not (4 <= width <= MAX_WIDTH and 1 <= hidden <= MAX_WIDTH):
        raise ConfigError(
            f"a network is 4 to {MAX_WIDTH} channels wide and 1 to {MAX_WIDTH} hidden ones, not {width} and {hidden}"
        )
    if not 1 <= heads <= MAX_HEADS:
        raise ConfigError(f"a network has 1 to {MAX_HEADS} heads, not {heads}")
    if width % heads or width % 2:
        raise ConfigError(f"width {width} must be even and divide into {heads} heads")


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Shape of the network (paper, Sec. 5.4); the defaults are DRetHTR-SMALL as published.

    `weight_dropout` falls on single weights of attention and retention. Without `text_positions` only the decay says
    where a text token stands.
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
        """Where a layer stands."""
        return LayerPosition(layer, self.layers, self.heads)


@dataclass(frozen=True, kw_only=True)
class RescorerConfig:
    """A language model of characters: the layers of the decoder without an image, retention alone.

    It says how likely whole texts are, once n-grams and CTC head have proposed them.
    """

    layers: int = 4
    width: int = 192
    heads: int = 4
    hidden: int = 768
    mixer: Retentive = field(default_factory=Retentive)

    def __post_init__(self) -> None:
        check_size(self.layers, self.width, self.heads, self.hidden)
        if not isinstance(self.mixer.decay, Scheduled):
            raise ConfigError("the decay of a rescorer follows a schedule; it cannot be gated")

    def position(self, layer: int) -> LayerPosition:
        """Where a layer stands."""
        return LayerPosition(layer, self.layers, self.heads)


SMALL = NetworkConfig()
BASE = NetworkConfig(layers=12, width=768, heads=12, hidden=3072)
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
DTRHTR_SMALL = replace(SMALL, mixer=JointSoftmax(), prior=NoPrior())
"""The softmax baseline."""
RETHTR_SMALL = replace(SMALL, architecture=EncoderDecoder(), output=SwishGate(), prior=NoPrior())
"""The encoder-decoder with retention; with RetNet's gate, which alone makes up the paper's 136 million parameters."""
TRHTR_SMALL = replace(RETHTR_SMALL, mixer=JointSoftmax(), output=Plain())
"""The encoder-decoder with softmax."""
PRESETS = {"compact": COMPACT, "small": SMALL, "base": BASE}
