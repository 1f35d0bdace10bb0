"""Optimization: Muon, parameter groups, the learning rate schedule, and the moving average of the weights.

Source of Muon: Jordan et al. 2024, Muon: An optimizer for hidden layers in neural networks; its step size, as that of
AdamW: Liu et al., arXiv 2502.16982.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from drethtr.base.errors import ConfigError

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic that brings singular values from (0, 1] near 1 in `ROUNDS`, steepest at 0.

It does not converge: values end between 0.7 and 1.2, which is as good for training, and five rounds are enough."""

ROUNDS = 5

STEP = 0.2
"""Root mean square of a step of AdamW, relative to the learning rate; steps of matrices are scaled to it, so that one
rate suits both."""


class MuonOptimizer(torch.optim.AdamW):
    """Parameter groups with `momentum` contain matrices, or kernels that act as such; all others use AdamW."""

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update all parameters; the gradients of matrices are overwritten and dropped."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if "momentum" in group:
                self.update_matrices(
                    [parameter for parameter in group["params"] if parameter.grad is not None],
                    rate=group["lr"],
                    decay=group["weight_decay"],
                    momentum=group["momentum"],
                )
        super().step()
        return loss

    @torch.no_grad()
    def update_matrices(self, parameters: list[nn.Parameter], *, rate: float, decay: float, momentum: float) -> None:
        """Update matrices in place, those of one shape in one batch."""
        of_shape: dict[torch.Size, list[nn.Parameter]] = defaultdict(list)
        for parameter in parameters:
            of_shape[parameter.flatten(1).shape].append(parameter)
        for shape, alike in of_shape.items():
            # Matrices of one shape in one product: most are too small to keep a GPU, or two cores, busy.
            directions = orthogonalize(torch.stack([self.advance(parameter, momentum) for parameter in alike]))
            for parameter, direction in zip(alike, directions, strict=True):
                parameter.mul_(1 - rate * decay)
                # The root mean square of an orthogonal matrix is 1 / √(longer side), which is undone here.
                parameter.add_(direction.reshape(parameter.shape), alpha=-rate * STEP * max(shape) ** 0.5)

    def advance(self, parameter: nn.Parameter, momentum: float) -> Tensor:
        """Update the moving mean of a gradient, and return it as a matrix with Nesterov's look-ahead.

        The gradient is dropped, so that the step of AdamW skips its parameter.
        """
        gradient, parameter.grad = parameter.grad, None
        assert gradient is not None
        state = self.state[parameter]
        if not state:  # AdamW needs a step count to load its state
            state |= {"momentum": torch.zeros_like(parameter), "step": torch.tensor(0.0)}
        mean: Tensor = state["momentum"]
        mean.lerp_(gradient, 1 - momentum)
        ahead: Tensor = gradient.lerp(mean, momentum)
        return ahead.flatten(1)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Orthogonalize matrices (number, rows, columns) approximately, with all singular values between 0.7 and 1.2.

    Inside autocast, computed in its precision.
    """
    if matrices.shape[-2] > matrices.shape[-1]:
        return orthogonalize(matrices.mT).mT
    device = matrices.device.type
    rounded = device in ("cpu", "cuda") and torch.is_autocast_enabled(device)  # old versions support no other device
    dtype = torch.get_autocast_dtype(device) if rounded else matrices.dtype
    a, b, c = COEFFICIENTS
    # With one precision throughout, and sums fused into the products, this takes half the time (LOG.md, 2026-11-22,
    # later).
    result: Tensor = (matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)).to(dtype)
    for _ in range(ROUNDS):
        square = result @ result.mT
        mixed = torch.baddbmm(square, square, square, beta=b, alpha=c)
        result = torch.baddbmm(result, mixed, result, beta=a)
    return result


class Schedule(ABC):
    """The course of the learning rate after warm-up."""

    @abstractmethod
    def share(self, progress: float) -> float:
        """The share of the full rate, after the share `progress` of the run."""


@dataclass(frozen=True)
class Constant(Schedule):
    """A constant rate."""

    def share(self, progress: float) -> float:
        return 1.0


@dataclass(frozen=True)
class Cosine(Schedule):
    """A cosine from the full rate to `final_share`, `cycles` times; half a cycle stops halfway."""

    final_share: float = 0.02
    cycles: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.final_share <= 1:
            raise ConfigError(f"final_share must be between 0 and 1, not {self.final_share}")
        if self.cycles <= 0:
            raise ConfigError(f"cycles must be above 0, not {self.cycles}")

    def share(self, progress: float) -> float:
        turn = progress * self.cycles
        turn -= max(math.ceil(turn) - 1, 0)  # at the boundary of two cycles, the first one counts
        return self.final_share + (1 - self.final_share) * (1 + math.cos(math.pi * turn)) / 2


class Method(ABC):
    """How gradients update weights."""

    @abstractmethod
    def group(self, matrices: bool) -> dict[str, float]:
        """The settings of a parameter group: of inner matrices of the network, or of others."""

    @abstractmethod
    def make(self, groups: list[dict[str, Any]], betas: tuple[float, float]) -> torch.optim.AdamW:
        """The optimizer for these groups."""


@dataclass(frozen=True)
class AdamW(Method):
    """AdamW for all weights."""

    def group(self, matrices: bool) -> dict[str, float]:
        return {}

    def make(self, groups: list[dict[str, Any]], betas: tuple[float, float]) -> torch.optim.AdamW:
        return torch.optim.AdamW(groups, betas=betas)


@dataclass(frozen=True)
class Muon(Method):
    """Muon for inner matrices, AdamW for the rest."""

    momentum: float = 0.95

    def __post_init__(self) -> None:
        if not 0 <= self.momentum < 1:
            raise ConfigError(f"momentum must be at least 0 and less than 1, not {self.momentum}")

    def group(self, matrices: bool) -> dict[str, float]:
        return {"momentum": self.momentum} if matrices else {}

    def make(self, groups: list[dict[str, Any]], betas: tuple[float, float]) -> torch.optim.AdamW:
        return MuonOptimizer(groups, betas=betas)


@dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """A method with warm-up, counted in samples, and a schedule.

    `backbone_scale` scales the learning rate of the backbone, so that pretrained weights are not forgotten. `decay_all`
    applies weight decay also to biases, norms and embeddings. `clip` is the maximum gradient norm; `inf` disables
    clipping. `average` is the decay of the moving average of the weights, which is validated and saved; 0 uses the
    weights themselves.
    """

    method: Method = field(default_factory=AdamW)
    learning_rate: float = 1e-3
    schedule: Schedule = field(default_factory=Cosine)
    warm_up: int = 2000
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    decay_all: bool = False
    # In short runs from PP-OCRv6: 28.8 % CER at the full rate, 30.5 at a tenth, 29.4 at 0.3 of it (LOG.md, 2026-11-23,
    # night). Higher rates make the backbone forget, which short runs do not show.
    backbone_scale: float = 0.3
    clip: float = 1.0
    # Averages over the last thousand steps. A short run, or one that is stopped early, needs less: at 0.995, half of
    # the average is from earlier weights (LOG.md, 2026-11-24, last).
    average: float = 0.999

    def __post_init__(self) -> None:
        for name in ("learning_rate", "clip"):
            if not (value := getattr(self, name)) > 0:
                raise ConfigError(f"{name} must be positive, not {value}")
        if not 0 <= self.average < 1:
            raise ConfigError(f"average must be at least 0 and less than 1, not {self.average}")
        for name in ("weight_decay", "backbone_scale", "warm_up"):
            if not (value := getattr(self, name)) >= 0:
                raise ConfigError(f"{name} must be at least 0, not {value}")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ConfigError(f"betas must be at least 0 and less than 1, not {self.betas}")


def make_optimizer(network: nn.Module, config: OptimizerConfig) -> torch.optim.AdamW:
    """The optimizer over up to six groups: backbone or not, decayed (matrices) or not (biases, norms), inner or not."""
    # Snapshots number the parameters in the order of the groups, so that the order must not depend on the network.
    groups: dict[tuple[bool, bool, bool], list[nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            decayed = config.decay_all or (parameter.ndim > 1 and not name.startswith("embed."))
            groups.setdefault((name.startswith("backbone."), decayed, inner(name, parameter)), []).append(parameter)
    return config.method.make(
        [
            {
                "params": parameters,
                "lr": config.learning_rate,
                "scale": config.backbone_scale if in_backbone else 1.0,
                "weight_decay": config.weight_decay if decayed else 0.0,
                **config.method.group(matrices),
            }
            for (in_backbone, decayed, matrices), parameters in sorted(groups.items())
        ],
        config.betas,
    )


OUTER = ("embed.", "to_logits.", "ctc.")
"""Prefixes of weights whose rows belong to tokens; each row is updated on its own."""


def inner(name: str, parameter: nn.Parameter) -> bool:
    """Whether a weight is a matrix, or a kernel that mixes channels, between hidden features."""
    return parameter.ndim > 1 and parameter.shape[1] > 1 and not name.startswith(OUTER)


def learning_rate(config: OptimizerConfig, seen: int, total: int) -> float:
    """The rate after `seen` of `total` samples: linear warm-up, then the schedule."""
    if seen < config.warm_up:
        return config.learning_rate * (seen + 1) / (config.warm_up + 1)
    progress = min((seen - config.warm_up) / max(total - config.warm_up, 1), 1.0)
    return config.learning_rate * config.schedule.share(progress)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every group its share of the rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"]


class DivergedError(ConfigError):
    """The gradient of a training is not finite: its settings make it diverge."""


def clip_gradient(network: nn.Module, clip: float, step: int, cure: str) -> None:
    """Clip the gradient of step number `step`, from 1, to a length.

    Raises:
        DivergedError: with how to start again, `cure`, if the gradient is not finite.
    """
    length = float(nn.utils.clip_grad_norm_(network.parameters(), clip))
    if not math.isfinite(length):
        raise DivergedError(f"training diverged: the gradient of step {step} is {length}; start again with {cure}")


Network = TypeVar("Network", bound=nn.Module)


class MovingAverage(Generic[Network]):
    """A network whose weights are an exponential moving average of another's; young averages change faster."""

    def __init__(self, network: Network, decay: float) -> None:
        self.network: Network = deepcopy(network).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """Update the average with `network` after its step number `step`, from 1."""
        # After n steps, an average over about n / 10 of them, so that the random start is soon forgotten.
        decay = min(self.decay, step / (step + 9))
        theirs = [parameter.detach() for parameter in network.parameters()]
        torch._foreach_lerp_(list(self.network.parameters()), theirs, 1 - decay)
        for own, other in zip(self.network.buffers(), network.buffers(), strict=True):
            if own.is_floating_point():  # batch norm statistics belong to the weights they were computed with
                own.lerp_(other, 1 - decay)
            else:
                own.copy_(other)
