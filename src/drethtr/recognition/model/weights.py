"""Read and write safetensors files as numpy arrays, with matrices quantized to 8 or 4 bits.

A quantized matrix has int8 numbers, or two 4-bit numbers per byte, and a bfloat16 scale for every 32 columns of a row;
all other weights are in float16, or in float32 if they are too large for it. Quantizing twice changes nothing: the
largest of 32 numbers is 127 or 7 times their scale.
"""

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize, safe_open
from safetensors.numpy import save_file

from drethtr.base.errors import CheckpointError, first_line
from drethtr.base.files import atomic_write
from drethtr.base.wording import first_of

Array = NDArray[Any]
Weights = Mapping[str, Array]

COLUMNS = 32
"""Columns per scale: one scale per row costs 0.1 points of CER, one for every 32 columns costs none (LOG.md,
2026-11-24)."""

LARGEST, LARGEST_COARSE = 127, 7
"""The largest number of 8 bits, and of 4."""

FINE_SCALES = (1.0, LARGEST / LARGEST_COARSE)
"""Scales tried for 8 bits, relative to that of the largest number; the second leaves matrices from 4 bits unchanged."""

COARSE_SCALES = (1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.8)
"""Scales tried for 4 bits: clipping a few large numbers rounds all others less (LOG.md, 2026-11-27)."""

LARGE_KERNEL = 30_000
"""Pointwise kernels with this many numbers are quantized; in the smaller ones of early layers, rounding errors would
matter.

No worse than 100,000 (LOG.md, 2026-11-25, evening); with all kernels WER rises by 0.3 points (LOG.md, 2026-11-25)."""

HEAD = 8
"""Number of bytes at the beginning of a safetensors file that contain the length of its header."""

SCALES = ".scales"
"""Suffix of the name of a matrix's scales. They are the upper halves of float32 numbers, in uint16."""

PACKED = "packed"
"""Metadata key: the shapes of int8 tensors that are stored as their Huffman codes, by name."""

DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U16": np.uint16,
    "U8": np.uint8,
    "BF16": np.uint16,
}
"""The types that a file may contain; numpy has no bfloat16, so its bits are kept."""


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file, without its tensors.

    Raises:
        CheckpointError: if it is missing, truncated or no safetensors file.
    """
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as file:
            return file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise unusable(path, error) from error


def read_file(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors and the metadata of a safetensors file, from the same version even if it is being replaced.

    Numbers in bfloat16 are their bits, in uint16.

    Raises:
        CheckpointError: if it is missing, truncated or no safetensors file, or contains numbers of another type.
    """
    check_file(path)
    try:
        # In one read: header and tensors are then of one version, even if the file is replaced meanwhile.
        content = path.read_bytes()
        tensors: list[tuple[str, dict[str, Any]]] = deserialize(content)  # type: ignore[no-untyped-call]
    except (SafetensorError, OSError) as error:
        raise unusable(path, error) from error
    if strange := sorted({tensor["dtype"] for _, tensor in tensors} - DTYPES.keys()):
        raise CheckpointError(f"contains {', '.join(strange)} tensors; drethtr models never do", path)
    header = json.loads(content[HEAD : HEAD + int.from_bytes(content[:HEAD], "little")])
    arrays = {
        name: np.frombuffer(tensor["data"], dtype=DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
        for name, tensor in tensors
    }
    metadata = header.get("__metadata__") or {}
    try:
        for name, shape in json.loads(metadata.pop(PACKED, "{}")).items():
            arrays[name] = unpacked(arrays[name], shape)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error) as error:
        raise CheckpointError(f"contains packed tensors that cannot be unpacked ({first_line(error)})", path) from error
    return arrays, metadata


def unusable(path: Path, error: Exception) -> CheckpointError:
    """The error for a file that cannot be read, is not a model, or is truncated."""
    if isinstance(error, OSError):
        return CheckpointError(f"cannot be read: {first_line(error)}", path)
    reason = str(error).removeprefix("Error while deserializing").lstrip(": ").removeprefix("header: ")
    return CheckpointError(f"not a complete safetensors file ({reason}); give a model, or copy it again", path)


def check_file(path: Path) -> None:
    """Refuse a path that is not a file."""
    if path.is_dir():
        raise CheckpointError(f"is a folder; give the model file in it, such as {path / 'model.safetensors'}", path)
    if not path.is_file():
        here = "; it is the included model in drethtr model compare alone: give the path that drethtr model info prints"
        raise CheckpointError(f"no such model file{here if str(path) == ':' else ''}", path)


def packed(tensor: Array) -> NDArray[np.uint8]:
    """The Huffman codes of an int8 tensor, as a zlib stream."""
    stream = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(stream.compress(tensor.tobytes()) + stream.flush(), dtype=np.uint8)


def unpacked(codes: Array, shape: list[int]) -> Array:
    """The int8 tensor with these Huffman codes.

    Raises:
        ValueError: if the codes are not those of a tensor of this shape.
    """
    stream = zlib.decompressobj()
    # A Huffman code has at least one bit, so no file can need more than eight times its size in memory.
    numbers = stream.decompress(codes.tobytes(), 8 * codes.nbytes)
    if not stream.eof:
        raise ValueError("more than eight numbers per byte")
    return np.frombuffer(numbers, dtype=np.int8).reshape(shape)


def write_tensors(tensors: Weights, path: Path, metadata: Mapping[str, str], *, pack: bool = False) -> None:
    """Write a safetensors file atomically; `pack` stores int8 tensors as their Huffman codes, which is lossless.

    Args:
        metadata: JSON by name.

    Raises:
        CheckpointError: if it cannot be written.
    """
    if pack:
        shapes = {name: tensor.shape for name, tensor in tensors.items() if tensor.dtype == np.int8}
        tensors = {name: packed(tensor) if name in shapes else tensor for name, tensor in tensors.items()}
        metadata = {**metadata, PACKED: json.dumps(shapes)}
    try:
        with atomic_write(path) as unfinished:
            contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
            # Lone surrogates, as of file names that are not in UTF-8, can only be stored as escapes.
            texts = {key: text.encode("utf-8", "backslashreplace").decode() for key, text in metadata.items()}
            save_file(contiguous, unfinished, texts)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot be written: {first_line(error)}", path) from error


def quantize(weights: Weights, coarse: tuple[str, ...] = ()) -> dict[str, Array]:
    """Quantize weights: a matrix (M, N) or large kernel (M, N, 1, 1) becomes int8 with scales (M, ⌈N / 32⌉).

    Matrices of an even N whose names begin with one of `coarse` become 4 bits, uint8 (M, N / 2).
    """
    stored: dict[str, Array] = {}
    for name, weight in weights.items():
        floating = np.issubdtype(weight.dtype, np.floating)
        if floating and is_matrix(weight) and (weight.ndim == 2 or weight.size >= LARGE_KERNEL):
            matrix = weight.reshape(len(weight), weight.shape[1])
            if name.startswith(coarse) and weight.ndim == 2 and not weight.shape[1] % 2:
                numbers, scales = rounded(matrix, LARGEST_COARSE, COARSE_SCALES)
                stored[name] = as_nibbles(numbers)
            else:
                numbers, scales = rounded(matrix, LARGEST, FINE_SCALES)
                stored[name] = numbers.reshape(weight.shape)
            stored[name + SCALES] = scales
        else:
            stored[name] = as_float16(weight) if floating else weight
    return stored


def as_float16(weight: Array) -> Array:
    """A weight in float16, or in float32 if it has numbers beyond 65,504, as variances of batch norms may."""
    with np.errstate(over="ignore"):
        half = weight.astype(np.float16)
    return half if np.isfinite(half).all() else weight.astype(np.float32)


def rounded(matrix: Array, largest: int, shares: Sequence[float]) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Whole numbers of at most `largest` (M, N), and their scales (M, ⌈N / 32⌉): those of `shares` that err least."""
    rows, columns = matrix.shape
    whole = np.pad(matrix.astype(np.float32), ((0, 0), (0, -columns % COLUMNS)))
    groups = whole.reshape(rows, whole.shape[1] // COLUMNS, COLUMNS)
    top = np.abs(groups).max(2) / np.float32(largest)
    numbers, scales = np.zeros(groups.shape, np.int8), np.zeros(top.shape, np.uint16)
    least = np.full(top.shape, np.inf, np.float32)
    for share in shares:
        tried = to_bfloat16(top * np.float32(share))
        scale = as_bfloat16(tried)[..., None]
        quotients = np.divide(groups, scale, where=scale > 0, out=np.zeros_like(groups))
        steps = np.clip(np.rint(quotients), -largest, largest)
        error = np.square(steps * scale - groups).sum(2)
        better = ~(error >= least)  # numbers that are not finite are kept, for the reader to refuse
        least[better], scales[better], numbers[better] = error[better], tried[better], steps[better]
    return numbers.reshape(whole.shape)[:, :columns], scales


def as_nibbles(numbers: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Numbers from -8 to 7 (M, N) in 4 bits each (M, N / 2)."""
    half: NDArray[np.uint8] = (numbers + 8).astype(np.uint8)
    return half[:, ::2] | half[:, 1::2] << np.uint8(4)


def from_nibbles(stored: NDArray[np.uint8]) -> NDArray[np.int8]:
    """The inverse of `as_nibbles`."""
    half = np.stack([stored & 15, stored >> 4], axis=2)
    return half.reshape(len(stored), 2 * stored.shape[1]).astype(np.int8) - np.int8(8)


def dequantize(stored: Weights) -> dict[str, Array]:
    """The weights of a file, quantized or not, in float32.

    Raises:
        CheckpointError: naming scales that do not fit their matrix, or weights that are not finite.
    """
    restored = {name: in_float32(tensor) for name, tensor in stored.items() if not name.endswith(SCALES)}
    for name in stored.keys() - restored.keys():
        scales, matrix = stored[name], restored.get(name.removesuffix(SCALES), np.empty(0))
        if matrix.dtype == np.uint8 and matrix.ndim == 2:
            matrix = from_nibbles(matrix)
        if (
            not is_matrix(matrix)
            or scales.dtype != np.uint16
            or scales.shape != (matrix.shape[0], -(-matrix.shape[1] // COLUMNS))
        ):
            raise CheckpointError(f"{name} does not fit a matrix of shape {tuple(matrix.shape)}")
        of_columns = np.repeat(as_bfloat16(scales), COLUMNS, axis=1)[:, : matrix.shape[1]]
        restored[name.removesuffix(SCALES)] = (matrix.reshape(of_columns.shape) * of_columns).reshape(matrix.shape)
    check_finite(restored)
    return restored


def is_matrix(weight: Array) -> bool:
    """Whether a weight acts as a matrix: of a linear layer, or a pointwise kernel."""
    return weight.ndim >= 2 and weight.shape[2:] in ((), (1, 1))


def in_float32(weight: Array) -> Array:
    """Floating-point numbers in float32, bfloat16 included; integers as they are."""
    if weight.dtype == np.uint16:
        return as_bfloat16(weight)
    return weight.astype(np.float32) if np.issubdtype(weight.dtype, np.floating) else weight


def as_bfloat16(bits: Array) -> NDArray[np.float32]:
    """The float32 numbers with these upper halves."""
    numbers: NDArray[np.float32] = (bits.astype(np.uint32) << 16).view(np.float32)
    return numbers


def to_bfloat16(numbers: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Float32 numbers rounded to the nearest bfloat16, ties to even, as its bits."""
    # bfloat16 is the upper half of a float32: adding half of the lower half, or a little more if the upper one is odd,
    # rounds to nearest, ties to even.
    bits = numbers.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def check_finite(weights: Weights) -> None:
    """Refuse weights that are not finite: lines would read as empty."""
    refuse_not_finite([name for name, weight in weights.items() if not np.isfinite(weight).all()])


def refuse_not_finite(names: Collection[str]) -> None:
    """Raise the error for these weights that are not finite; do nothing if there are none."""
    if names:
        raise CheckpointError(f"non-finite numbers in {first_of(sorted(names))}")
