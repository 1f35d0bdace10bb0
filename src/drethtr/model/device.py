"""Where a network computes."""

import torch

from drethtr.errors import ConfigError


def device_called(name: torch.device | str) -> torch.device:
    """The device that torch calls so.

    Raises:
        ConfigError: if there is none.
    """
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {str(name)!r}; known: cpu, cuda, cuda:N, mps") from error
