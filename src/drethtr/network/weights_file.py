"""Weights that others saved, from safetensors or torch files, without executing anything in them, and whether they fit.

A torch file is a zip archive: a pickle that describes the tensors, and the bytes of each storage. The pickle is read
with a few inert stand-ins in place of everything it may name, and whatever else it names is refused. torch's own
`weights_only` is not used: before torch 2.6 it could be made to run code (CVE-2025-32434). Nor is the unpickler in C: a
few bytes make it take memory for as many objects as they claim.
"""

import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from math import prod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from drethtr.base.errors import CheckpointError

ZIP, LEGACY = b"PK\x03\x04", b"\x80\x02"
"""How torch files begin, since torch 1.6 and before."""

DAMAGES = (
    BadZipFile,
    pickle.UnpicklingError,
    struct.error,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    EOFError,
    OSError,
    MemoryError,
    OverflowError,
)
"""What reading a damaged archive, pickle or tensor ends in."""

NEVER_USED = frozenset(b"".join((pickle.BYTEARRAY8, pickle.DICT, pickle.EMPTY_SET, pickle.ADDITEMS, pickle.FROZENSET)))
"""Codes of a pickle that are refused: the first makes room for as many bytes as it claims, the others hash anything."""

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
        if not all(isinstance(number, int) for number in (offset, *size, *stride)):
            raise CheckpointError("it holds a tensor whose size is no number")
        return storage._replace(offset=offset, size=size, stride=stride)


class DescribeParameter:
    """The same for parameters, which are tensors here."""

    __slots__ = ()

    def __call__(self, tensor: Described, *_: Any) -> Any:
        return tensor


class EmptyDict:
    """The same for ordered dictionaries, which a state dict fills after they are made; copies none."""

    __slots__ = ()

    def __call__(self) -> Any:
        return OrderedDict()


def set_item(unpickler: Any) -> None:
    """Put the last value on the stack into the dictionary below it, under the name between them."""
    value, name = unpickler.stack.pop(), unpickler.stack.pop()
    put(unpickler.stack[-1], name, value)


def set_items(unpickler: Any) -> None:
    """The same for all names and values since the last mark."""
    items = unpickler.pop_mark()
    for name, value in zip(items[::2], items[1::2], strict=True):
        put(unpickler.stack[-1], name, value)


def put(table: Any, name: Any, value: Any) -> None:
    """Names are text: to hash tuples of tuples can take for ever, or end the process."""
    if not isinstance(name, str):
        raise CheckpointError("it holds something under a name that is no text")
    table[name] = value


class InertUnpickler(pickle._Unpickler):
    """Finds nothing but the stand-ins, so that a pickle can name no code, and takes no memory for what is not there."""

    dispatch: ClassVar = {
        **{code: read for code, read in pickle._Unpickler.dispatch.items() if code not in NEVER_USED},
        pickle.SETITEM[0]: set_item,
        pickle.SETITEMS[0]: set_items,
    }
    """What is done at each code."""

    KNOWN: ClassVar[dict[tuple[str, str], Any]] = {
        ("collections", "OrderedDict"): EmptyDict(),
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
        if kind != "storage" or not isinstance(dtype, torch.dtype) or not isinstance(key, str):
            raise CheckpointError("it refers to more than storages of numbers, which no plain state dict does")
        return Described(key, dtype)


def read_torch(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that `torch.save` wrote from a plain state dict.

    Raises:
        CheckpointError: if it is damaged or holds anything else.
    """
    try:
        with ZipFile(path) as archive:
            refuse_bomb(archive, path.stat().st_size)
            indices = [name for name in archive.namelist() if name.endswith("data.pkl")]
            if len(indices) != 1:
                raise CheckpointError(f"it has {len(indices) or 'no'} data.pkl, where torch.save writes one")
            described = InertUnpickler(io.BytesIO(archive.read(indices[0]))).load()
            if not isinstance(described, dict) or not all(map(is_named_tensor, described.items())):
                raise CheckpointError("it holds more than named tensors; save the bare state dict")
            folder = indices[0].removesuffix("data.pkl")
            values = storages(archive, folder, {where.key for where in described.values()})
            return {name: tensor(values[where.key], where) for name, where in described.items()}
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    except DAMAGES as error:
        raise CheckpointError(f"{path}: not a whole torch file ({error})") from error


def is_named_tensor(entry: tuple[Any, Any]) -> bool:
    """Whether an entry of a dictionary is a described tensor under a name."""
    name, where = entry
    return isinstance(name, str) and isinstance(where, Described)


def refuse_bomb(archive: ZipFile, size: int) -> None:
    """Refuse an archive that holds more than the file's size: torch compresses no entry, and none overlap."""
    for entry in archive.infolist():
        if entry.compress_type != ZIP_STORED:
            raise CheckpointError(f"{entry.filename} is compressed, which torch never does")
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise CheckpointError("its entries overlap, which torch's never do")


def storages(archive: ZipFile, folder: str, keys: Collection[str]) -> dict[str, bytearray]:
    """The bytes of each storage, read once however many tensors share it."""
    if folder + "byteorder" in archive.namelist() and archive.read(folder + "byteorder") != b"little":
        raise CheckpointError("it was written by a big-endian machine; save it again on another")
    return {key: bytearray(archive.read(f"{folder}data/{key}")) for key in keys}


def tensor(values: bytearray, where: Described) -> Tensor:
    """A described tensor, as a view of the bytes of its storage."""
    whole = torch.frombuffer(values, dtype=where.dtype) if values else torch.empty(0, dtype=where.dtype)
    if prod(where.size) > len(whole):
        raise CheckpointError(f"storage {where.key} has {len(whole)} values, too few for a tensor of {where.size}")
    return whole.as_strided(where.size, where.stride, where.offset)


def fit(
    weights: Mapping[str, Tensor],
    wanted: Mapping[str, Tensor],
    *,
    named: Callable[[str], str] = str,
    remedy: str = "are they of such a network?",
) -> dict[str, Tensor]:
    """The weights, in the numbers of a network whose own are `wanted`; `named` tells what people call each.

    Raises:
        CheckpointError: naming weights that are missing, left over, of another shape or kind, or not finite.
    """
    if trouble := misfit(weights, wanted, named):
        raise CheckpointError(f"{trouble}; {remedy}")
    fitted = {name: weight.detach().to(wanted[name].dtype) for name, weight in weights.items()}
    check_finite(fitted, named)
    return fitted


def misfit(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], named: Callable[[str], str]) -> str:
    """Why some weights cannot take the place of others, if they cannot."""
    if missing := [named(name) for name in wanted.keys() - weights.keys()]:
        return f"the weights lack {listed(missing)}, which this network has"
    if extra := [named(name) for name in weights.keys() - wanted.keys()]:
        return f"this network has no place for the weights {listed(extra)}"
    others = []
    for name, weight in weights.items():
        own = wanted[name]
        if weight.shape != own.shape:
            others.append(f"{named(name)} is of shape {tuple(weight.shape)}, in this network {tuple(own.shape)}")
        elif weight.is_complex() or (own.is_floating_point() and not weight.is_floating_point()):
            others.append(f"{named(name)} is of {weight.dtype}, in this network {own.dtype}")
    return f"the weights do not fit: {listed(others, separator='; ')}" if others else ""


def check_finite(weights: Mapping[str, Tensor], named: Callable[[str], str] = str) -> None:
    """Refuse weights that are no numbers in float32: they would read as silence. Those on the meta device have none.

    Raises:
        CheckpointError: naming them.
    """
    if strange := [named(name) for name, weight in weights.items() if not (weight.is_meta or is_finite(weight))]:
        raise CheckpointError(f"not all numbers of {listed(strange)} are finite")


def is_finite(weight: Tensor) -> bool:
    """Whether all are real and finite in float32."""
    return not weight.is_complex() and bool(weight.float().isfinite().all())


def listed(names: Collection[str], shown: int = 3, separator: str = ", ") -> str:
    """The first few names, and how many there are besides."""
    more = len(names) - shown
    return separator.join(sorted(names)[:shown]) + (f" and {more} more" if more > 0 else "")
