"""The devices that torch can compute on."""

import torch

from drethtr.base.errors import ConfigError, first_line
from drethtr.base.processors import free_processors
from drethtr.recognition.backends import resolve_device, unknown_device


def torch_device(name: torch.device | str) -> torch.device:
    """The torch device with a name, `auto` included; checks that it works here, and turns off cuDNN's attention.

    Raises:
        ConfigError: if there is no such device, or torch cannot use it.
    """
    try:
        device = torch.device(resolve_device(name) if isinstance(name, str) else name)
    except RuntimeError as error:
        raise unknown_device(name) from error
    if device.type == "meta":  # it cannot compute
        raise unknown_device(name)
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
    """The device for a user's choice, with torch set up to compute with this many threads.

    Raises:
        ConfigError: if there is no such device.
    """
    torch.set_num_threads(threads or free_processors())
    torch.set_flush_denormal(True)  # arithmetic with denormal numbers is many times slower
    return torch_device(name)
