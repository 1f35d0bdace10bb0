"""Which weights of a network learn: all, some, or small additions to all that stay as they are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import nn

from drethtr.base.errors import ConfigError
from drethtr.network.adapter import begin_changes, with_changes
from drethtr.network.network import DRetHTR
from drethtr.text.tokenizer import PAD


class Tuning(ABC):
    """How a network is made ready to learn, and what it is when it has learned."""

    @abstractmethod
    def begin(self, network: DRetHTR) -> None:
        """Set in place what learns.

        Raises:
            ConfigError: if the network has not what is meant.
        """

    def ended(self, network: DRetHTR) -> DRetHTR:
        """The network as it reads and is saved."""
        return network


def in_training(network: nn.Module) -> None:
    """Set a network to training, but for batch norms whose weights stay: their statistics stay, too."""
    network.train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d) and not module.weight.requires_grad:
            module.eval()


@dataclass(frozen=True)
class Whole(Tuning):
    """All weights learn, but for those whose names begin with one of `frozen`, such as `backbone.stem.`."""

    frozen: tuple[str, ...] = ()

    def begin(self, network: DRetHTR) -> None:
        for start in self.frozen:
            named = [parameter for name, parameter in network.named_parameters() if name.startswith(start)]
            if not named:
                raise ConfigError(f"tuning.frozen: no weight's name begins with {start!r}")
            for parameter in named:
                parameter.requires_grad_(False)


@dataclass(frozen=True)
class LowRank(Tuning):
    """The network stays as it is, and additions of low rank to its projections learn."""

    rank: int = 8

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError(f"tuning.rank must be at least 1, not {self.rank}")

    def begin(self, network: DRetHTR) -> None:
        begin_changes(network, self.rank)

    def ended(self, network: DRetHTR) -> DRetHTR:
        plain = DRetHTR(network.config, len(network.embed.tokens.weight), blank=PAD)
        plain.load_state_dict(with_changes(network.state_dict()))
        return plain.to(network.embed.tokens.weight.device).eval()
