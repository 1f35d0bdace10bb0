"""Resolve the name of a device without importing torch if possible."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

AUTO, CPU = "auto", "cpu"

DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "C:/Windows/System32/nvcuda.dll")
"""A file of NVIDIA's driver on Linux, of any GPU in WSL, of NVIDIA's driver on Windows."""


def resolve_device(name: str) -> str:
    """A device, where "auto" is a GPU that CUDA can use, else the CPU.

    torch is imported only if there is a driver, as that takes seconds.
    """
    if name != AUTO:
        return name
    if not any(Path(file).exists() for file in DRIVERS) or not find_spec("torch"):
        return CPU
    return "cuda" if import_module("torch").cuda.is_available() else CPU
