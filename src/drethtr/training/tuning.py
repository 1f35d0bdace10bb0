"""Which weights of a run are trained: all, some, or low-rank updates of frozen weights (LoRA)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import nn

from drethtr.base.config import check_positive
from drethtr.base.errors import ConfigError
from drethtr.network.lora import add_low_rank_changes, merge_changes
from drethtr.network.network import DRetHTR


class Tuning(ABC):
    """Prepares a network for training, and converts it for reading afterwards."""

    @abstractmethod
    def begin(self, network: nn.Module) -> None:
        """Freeze or replace weights of the network in place, so that the others are trained.

        Raises:
            ConfigError: if the network lacks what is selected.
        """

    def finish(self, network: DRetHTR) -> DRetHTR:
        """The plain network for reading and saving, with all that was learned."""
        return network


def set_train_mode(network: nn.Module) -> None:
    """Set a network to training mode, except for frozen batch norms, which also keep their statistics."""
    network.train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d) and not module.weight.requires_grad:
            module.eval()


@dataclass(frozen=True)
class Whole(Tuning):
    """Train all weights, except those whose names begin with one of `frozen`, such as `backbone.stem.`."""

    frozen: tuple[str, ...] = ()

    def begin(self, network: nn.Module) -> None:
        for start in self.frozen:
            named = [parameter for name, parameter in network.named_parameters() if name.startswith(start)]
            if not named:
                raise ConfigError(f"tuning.frozen: no weight has a name beginning with {start!r}")
            for parameter in named:
                parameter.requires_grad_(False)
        if not any(parameter.requires_grad for parameter in network.parameters()):
            raise ConfigError("tuning.frozen leaves no weight to train; freeze fewer")


@dataclass(frozen=True)
class LowRank(Tuning):
    """Freeze the network and train low-rank updates of its projections."""

    rank: int = 8

    def __post_init__(self) -> None:
        check_positive(self, "rank")

    def begin(self, network: nn.Module) -> None:
        add_low_rank_changes(network, self.rank)

    def finish(self, network: DRetHTR) -> DRetHTR:
        plain = DRetHTR(network.config, len(network.embed.tokens.weight))
        plain.load_state_dict(merge_changes(network.state_dict()))
        return plain.to(network.embed.tokens.weight.device).eval()
