"""The device of a network."""

import torch

from drethtr.base.errors import ConfigError


def device_called(name: torch.device | str) -> torch.device:
    """The torch device of a name, checked to work on this machine.

    Raises:
        ConfigError: if there is no such device, or torch cannot use it.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {str(name)!r}; known: cpu, cuda, cuda:N, mps") from error
    if device.type == "meta":
        raise ConfigError("device 'meta' does not compute; known: cpu, cuda, cuda:N, mps")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"device {str(name)!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device
