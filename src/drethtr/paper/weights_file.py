"""Read weights saved by other programs, from safetensors or torch files, without running code from them."""

import pickle
import re
import struct
import warnings
from pathlib import Path
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from drethtr.base.errors import CheckpointError

ZIP, LEGACY = b"PK\x03\x04", b"\x80\x02"
"""First bytes of torch files since torch 1.6, and before."""

DAMAGES = (
    BadZipFile,
    LookupError,
    struct.error,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    RuntimeError,
    EOFError,
    OSError,
    MemoryError,
    OverflowError,
)
"""Exceptions from damaged archives and tensors."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read the tensors of a file by name; its first bytes show the format.

    Raises:
        CheckpointError: if it is missing, damaged, or holds anything but named tensors.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise CheckpointError(f"cannot be read: {error.strerror}", path) from error
    if start == ZIP:
        return read_torch(path)
    if start[:2] == LEGACY:
        raise CheckpointError(
            "a torch file from before version 1.6; if you trust it, load it and save it again with torch.save", path
        )
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"neither a torch file nor safetensors ({error})", path) from error


def read_torch(path: Path) -> dict[str, Tensor]:
    """Read the tensors of a plain state dict written by `torch.save`.

    Raises:
        CheckpointError: if it is damaged or holds anything else.
    """
    try:
        with ZipFile(path) as archive:
            refuse_bomb(archive, path.stat().st_size)
            if not any(name.endswith("data.pkl") for name in archive.namelist()):
                raise CheckpointError("not written by torch.save: data.pkl is missing")
        with warnings.catch_warnings(action="ignore"):  # about pickle protocols
            held = torch.load(path, map_location="cpu", weights_only=True)
        return dict(map(named_tensor, held.items() if isinstance(held, dict) else [(None, held)]))
    except CheckpointError as error:
        raise CheckpointError(str(error), path) from error
    except pickle.UnpicklingError as error:
        raise CheckpointError(refused(error), path) from error
    except DAMAGES as error:
        raise CheckpointError(f"damaged, or not a torch file ({error})", path) from error


def refuse_bomb(archive: ZipFile, size: int) -> None:
    """Refuse an archive whose content is larger than the file: torch neither compresses entries nor overlaps them."""
    for entry in archive.infolist():
        if entry.compress_type != ZIP_STORED:
            raise CheckpointError(f"{entry.filename} is compressed; torch.save never compresses")
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise CheckpointError("its entries overlap; those of torch.save never do")


def refused(error: pickle.UnpicklingError) -> str:
    """Explain what torch refused to load; its own message suggests loading the file anyway."""
    if name := re.search(r"GLOBAL (\S+) ", str(error)):
        return f"it references {name[1]}, which no state dict does; save only the state dict"
    return "damaged, or more than named tensors; save only the state dict"


def named_tensor(entry: tuple[object, object]) -> tuple[str, Tensor]:
    """Check that an entry of a state dict is a plain, named tensor without repeated (zero-stride) values."""
    name, weight = entry
    plain = isinstance(weight, Tensor) and weight.layout is torch.strided and weight.device.type == "cpu"
    if not (isinstance(name, str) and isinstance(weight, Tensor) and plain):
        raise CheckpointError("more than named tensors; save only the state dict")
    # A stride of 0 lets a few bytes stand for a tensor of any size.
    values = weight.untyped_storage().nbytes() // weight.element_size()
    if weight.numel() > values:
        raise CheckpointError(f"{name} has {values} values, too few for a tensor of {tuple(weight.shape)}")
    return name, weight.detach()
