"""Weights that others saved, from safetensors or torch files, without executing anything in them.

A torch file is a zip archive: a pickle that describes the tensors, and the bytes of each storage. The pickle is read
with a few inert stand-ins in place of everything it may name, and whatever else it names is refused. torch's own
`weights_only` is not used: before torch 2.6 it could be made to run code (CVE-2025-32434).
"""

import io
import pickle
from collections import OrderedDict
from collections.abc import Collection
from math import prod
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from drethtr.errors import CheckpointError

ZIP, LEGACY = b"PK\x03\x04", b"\x80\x02"
"""How torch files begin, since torch 1.6 and before."""

DAMAGES = (
    BadZipFile,
    pickle.UnpicklingError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    EOFError,
    OSError,
)
"""What reading a damaged archive, pickle or tensor ends in."""

DTYPES = {
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name; what kind of file it is, is seen in its first bytes.

    Raises:
        CheckpointError: if it is missing, damaged, or holds anything but named tensors.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from error
    if start == ZIP:
        return read_torch(path)
    if start[:2] == LEGACY:
        raise CheckpointError(
            f"{path}: saved as before torch 1.6; load it where you trust it and save it again with torch.save"
        )
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: neither a torch file nor safetensors ({error})") from error


class Described(NamedTuple):
    """Where the values of a tensor lie: a piece of the storage named `key`."""

    key: str
    dtype: torch.dtype
    offset: int = 0
    size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()


class DescribeTensor:
    """Stands in for the function by which a torch file makes tensors; makes none."""

    __slots__ = ()

    def __call__(self, storage: Described, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> Any:
        return storage._replace(offset=offset, size=size, stride=stride)


class DescribeParameter:
    """The same for parameters, which are tensors here."""

    __slots__ = ()

    def __call__(self, tensor: Described, *_: Any) -> Any:
        return tensor


class InertUnpickler(pickle.Unpickler):
    """Finds nothing but the stand-ins, so that a pickle can name no code."""

    KNOWN: dict[tuple[str, str], Any] = {  # noqa: RUF012  # never changed
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): DescribeTensor(),
        ("torch._utils", "_rebuild_parameter"): DescribeParameter(),
        **{("torch", name): dtype for name, dtype in DTYPES.items()},
    }

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for a name."""
        if (module, name) not in self.KNOWN:
            raise CheckpointError(f"it names {module}.{name}, which no plain state dict does")
        return self.KNOWN[module, name]

    def persistent_load(self, pid: Any) -> Described:
        """A storage, from its kind and key; device and size do not matter here."""
        kind, dtype, key, _, _ = pid
        if kind != "storage" or not isinstance(dtype, torch.dtype):
            raise CheckpointError(f"it holds {kind!r}, which no plain state dict does")
        return Described(str(key), dtype)


def read_torch(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that `torch.save` wrote from a plain state dict.

    Raises:
        CheckpointError: if it is damaged or holds anything else.
    """
    try:
        with ZipFile(path) as archive:
            [index] = [name for name in archive.namelist() if name.endswith("data.pkl")]
            described = InertUnpickler(io.BytesIO(stored(archive, index))).load()
            if not isinstance(described, dict) or not all(isinstance(d, Described) for d in described.values()):
                raise CheckpointError("it holds more than named tensors; save the bare state dict")
            folder = index.removesuffix("data.pkl")
            values = storages(archive, folder, {where.key for where in described.values()})
            return {str(name): tensor(values[where.key], where) for name, where in described.items()}
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    except DAMAGES as error:
        raise CheckpointError(f"{path}: not a whole torch file ({error})") from error


def stored(archive: ZipFile, name: str) -> bytes:
    """An entry of an archive; torch compresses none, so a file cannot hold more than its size."""
    if archive.getinfo(name).compress_type != ZIP_STORED:
        raise CheckpointError(f"{name} is compressed, which torch never does")
    return archive.read(name)


def storages(archive: ZipFile, folder: str, keys: Collection[str]) -> dict[str, bytearray]:
    """The bytes of each storage, read once however many tensors share it."""
    if folder + "byteorder" in archive.namelist() and stored(archive, folder + "byteorder") != b"little":
        raise CheckpointError("it was written by a big-endian machine; save it again on another")
    return {key: bytearray(stored(archive, f"{folder}data/{key}")) for key in keys}


def tensor(values: bytearray, where: Described) -> Tensor:
    """A described tensor, as a view of the bytes of its storage."""
    whole = torch.frombuffer(values, dtype=where.dtype) if values else torch.empty(0, dtype=where.dtype)
    if prod(where.size) > len(whole):
        raise CheckpointError(f"storage {where.key} has {len(whole)} values, too few for a tensor of {where.size}")
    return whole.as_strided(where.size, where.stride, where.offset)
