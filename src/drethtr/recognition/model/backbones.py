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
        raise ConfigError(f"height must be a multiple of {descent}, not {height}")


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
            raise ConfigError(
                f"dropout and stochastic_depth must be in [0, 1), not {self.dropout} and {self.stochastic_depth}"
            )
        if self.canvas is not None and not 64 <= self.canvas <= 65_536:
            raise ConfigError(
                f"canvas must be 64 to 65,536, not {self.canvas}; leave it out for lines of their own width"
            )


def check_share(name: str, value: float) -> None:
    """Refuse a rate outside [0, 1).

    Raises:
        ConfigError: naming the setting.
    """
    if not 0 <= value < 1:
        raise ConfigError(f"{name} must be in [0, 1), not {value}")


@dataclass(frozen=True, kw_only=True)
class Light(BackboneConfig):
    """A small backbone to train from scratch: a token of 256 channels for every 8 columns."""

    height: int = 64

    def __post_init__(self) -> None:
        check_height(self.height, 16)
