"""Where a network computes."""

import ctypes
import sys

import torch

from drethtr.base.errors import ConfigError

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""What `mallopt` sets, see malloc.h."""


def device_called(name: torch.device | str) -> torch.device:
    """The device that torch calls so, on which it can compute here.

    Raises:
        ConfigError: if there is none.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {str(name)!r}; known: cpu, cuda, cuda:N, mps") from error
    if device.type == "meta":
        raise ConfigError("device 'meta' only pretends to compute; known: cpu, cuda, cuda:N, mps")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"device {str(name)!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device


def prepare_process() -> None:
    """Make the processor ready, once and before all else: threads inherit this from the one that starts them.

    Numbers next to zero are rounded to it, as arithmetic with denormal ones is many times slower. The C library of
    Linux keeps what tensors leave for the next ones: it would hand large pieces back to the system and get them anew,
    filled with zeros, in every layer, which is a tenth of the time of reading in bfloat16 and a fifth in float32.
    """
    torch.set_flush_denormal(True)
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, 32 << 20)  # the largest it takes
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
