"""Resolve names of torch devices."""

import torch

from drethtr.base.errors import ConfigError, first_line


def torch_device(name: torch.device | str) -> torch.device:
    """The torch device with a name; checks that it works on this machine, and turns off cuDNN's attention.

    Raises:
        ConfigError: if there is no such device, or torch cannot use it.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {str(name)!r}; known: cpu, cuda, cuda:N, mps") from error
    if device.type == "meta":
        raise ConfigError("device 'meta' cannot compute; known: cpu, cuda, cuda:N, mps")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(
            f"device {str(name)!r} cannot be used here: {first_line(error).partition('. ')[0]}"
        ) from error
    if device.type == "cuda":
        # It recompiles for every text length, and can return NaN gradients (pytorch issue 196678).
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device
