"""Muon: AdamW, except that the update of a matrix is its momentum, orthogonalized.

A gradient of a matrix has few strong directions. Orthogonalizing it gives all of them equal strength, so what few lines
show is learned as fast as what all lines show. Source: Jordan et al., Muon (2024). Steps are scaled like AdamW's, so
that one learning rate serves both: Liu et al., arXiv 2502.16982.
"""

from collections import defaultdict
from collections.abc import Callable

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic that brings singular values from (0, 1] near 1 in five rounds, steepest at 0."""

ROUNDS = 5

STEP = 0.2
"""Root mean square of a step of AdamW, relative to the learning rate."""


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
            directions = orthogonalize(torch.stack([self.momentum(parameter, momentum) for parameter in alike]))
            for parameter, direction in zip(alike, directions, strict=True):
                parameter.mul_(1 - rate * decay)
                parameter.add_(direction.reshape(parameter.shape), alpha=-rate * STEP * max(shape) ** 0.5)

    def momentum(self, parameter: nn.Parameter, share: float) -> Tensor:
        """Update the momentum, and return it as a matrix with Nesterov's look-ahead; the gradient is dropped."""
        gradient, parameter.grad = parameter.grad, None
        assert gradient is not None
        state = self.state[parameter]
        if not state:  # AdamW requires a step to load its state
            state |= {"momentum": torch.zeros_like(parameter), "step": torch.tensor(0.0)}
        mean: Tensor = state["momentum"]
        mean.lerp_(gradient, 1 - share)
        ahead: Tensor = gradient.lerp(mean, share)
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
    result: Tensor = (matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)).to(dtype)
    for _ in range(ROUNDS):
        square = result @ result.mT
        mixed = torch.baddbmm(square, square, square, beta=b, alpha=c)
        result = torch.baddbmm(result, mixed, result, beta=a)
    return result
