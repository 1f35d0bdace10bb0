"""Devices of torch by name."""

import torch

from drethtr.base.errors import ConfigError, first_line
from drethtr.base.processors import free_processors
from drethtr.recognition.backends import resolve_device


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


def open_device(name: str, threads: int | None) -> torch.device:
    """The device for a user's choice, `auto` included, with torch set up to compute with so many threads.

    Raises:
        ConfigError: if there is no such device.
    """
    torch.set_num_threads(threads or free_processors())
    torch.set_flush_denormal(True)  # arithmetic with denormal numbers is many times slower
    return torch_device(resolve_device(name))
