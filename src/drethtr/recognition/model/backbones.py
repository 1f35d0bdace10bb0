"""Configurations of the backbones; their torch modules are in `network/backbones`."""

from dataclasses import dataclass

from drethtr.base.errors import ConfigError


class BackboneConfig:
    """The configuration of a backbone."""

    def takes_weights_of(self, other: "BackboneConfig") -> bool:
        """Whether the weights of a backbone with other settings fit, in shape and meaning."""
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
        height: Rows of a line; 48 in PP-OCR. Its weights also read taller lines, as all rows are pooled.
    """

    height: int = 48

    def __post_init__(self) -> None:
        check_height(self.height, 16)

    def takes_weights_of(self, other: BackboneConfig) -> bool:
        """True for any height."""
        return isinstance(other, PPOCR)


@dataclass(frozen=True, kw_only=True)
class EfficientNetV2S(BackboneConfig):
    """EfficientNetV2-S: 64 rows, a token of 2560 channels for every 16 columns.

    Attributes:
        dropout: After every SiLU; 0.3 in the paper.
        stochastic_depth: Of the last block; it grows linearly from 0 in the first.
        canvas: Columns to which every line is padded with paper that counts as part of the line. The authors'
            checkpoints need 2227: they were never trained on the end of a line.
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
    """Refuse a number of rows that a backbone cannot output.

    Raises:
        ConfigError: naming the possible ones.
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
            raise ConfigError(f"rows {self.rows}: patches must divide the height of {self.height} pixels")
        if self.columns % (self.height // self.rows):
            raise ConfigError(
                f"columns {self.columns}: must be a multiple of the {self.height // self.rows} patches in a column"
            )


@dataclass(frozen=True)
class Given(BackboneConfig):
    """No backbone: the caller provides tokens of `width` channels."""

    width: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ConfigError(f"a token has at least 1 channel, not {self.width}")
