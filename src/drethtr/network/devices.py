"""The devices that torch can compute on."""

import warnings

import torch
from torch import Tensor

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


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device; a GPU fetches it from pinned memory while this thread goes on."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def allow_tf32(allowed: bool) -> None:
    """Let convolutions on GPUs use TF32, as torch does by default, or nothing; for the whole process."""
    with warnings.catch_warnings():  # some versions of torch recommend new settings, which other versions lack
        warnings.filterwarnings("ignore", "Please use the new API settings", UserWarning)
        torch.backends.cudnn.allow_tf32 = allowed
        if not allowed:
            torch.backends.cuda.matmul.allow_tf32 = False
