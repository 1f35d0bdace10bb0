"""Kernels for a GPU that read the text of each row where it was written, without gathering keys and values first.

They compute the formulas of `ancestry.FORMULAS`. Triton comes with torch's CUDA builds; `TRITON_INTERPRET=1` runs it on
a processor, for tests.
"""

# Triton compiles a language of its own, without types.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import os

import torch
from torch import Tensor

from drethtr.network.ancestry import FORMULAS, AncestralCache, Kernels

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

TOKENS = 16
"""Tokens that are read at once."""


def kernels_for(device: torch.device) -> Kernels:
    """The fastest kernels for a device."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    return FUSED if triton is not None and (device.type == "cuda" or interpreted) else FORMULAS


def recall(q: Tensor, cache: AncestralCache, normalize: bool) -> Tensor:
    """See `ancestry.recall`."""
    rows, heads, _, width = q.shape
    if not fits(width):
        return FORMULAS.recall(q, cache, normalize)
    read = q.new_empty(q.shape, dtype=cache.fade.dtype)
    sizes = rows, heads, cache.ancestry.rows.shape[1]
    descent = cache.ancestry.rows, cache.ancestry.position
    recall_kernel[rows, heads](
        q.contiguous(),
        *cache.written,
        cache.fade,
        *descent,
        read,
        *sizes,
        WIDTH=width,
        TOKENS=TOKENS,
        NORMALIZE=normalize,
    )
    return read


def attend(q: Tensor, cache: AncestralCache) -> tuple[Tensor, Tensor]:
    """See `ancestry.attend`."""
    rows, heads, _, width = q.shape
    if not fits(width):
        return FORMULAS.attend(q, cache)
    read, mass = q.new_empty(q.shape, dtype=cache.fade.dtype), q.new_empty(rows, heads, 1, 1, dtype=cache.fade.dtype)
    sizes = rows, heads, cache.ancestry.rows.shape[1]
    descent = cache.ancestry.rows, cache.ancestry.position
    attend_kernel[rows, heads](q.contiguous(), *cache.written, *descent, read, mass, *sizes, WIDTH=width, TOKENS=TOKENS)
    return read, mass


def fits(width: int) -> bool:
    """Whether a head has a power of two of channels, as blocks of Triton must."""
    return not width & (width - 1)


FUSED = Kernels(recall, attend)

if triton is not None:

    @triton.jit
    def recall_kernel(
        query, keys, values, fade, ancestors, position, read, rows, heads, room,
        WIDTH: tl.constexpr, TOKENS: tl.constexpr, NORMALIZE: tl.constexpr,
    ):  # fmt: skip
        """Σ (q k) e^(fade at the last token - fade) v, over the text of one row in one head."""
        row, head = tl.program_id(0), tl.program_id(1)
        last, channels = tl.load(position), tl.arange(0, WIDTH)
        q = tl.load(query + (row * heads + head) * WIDTH + channels).to(tl.float32)
        own = tl.load(fade + (last * rows + row) * heads + head)
        found, mass = tl.zeros([WIDTH], tl.float32), 0.0
        for first in range(0, last + 1, TOKENS):
            token = first + tl.arange(0, TOKENS)
            written = token <= last
            place = (token * rows + tl.load(ancestors + row * room + token, mask=written, other=0)) * heads + head
            decay = tl.exp(own - tl.load(fade + place, mask=written, other=float("inf")))
            part = place[:, None] * WIDTH + channels[None, :]
            k = tl.load(keys + part, mask=written[:, None], other=0.0).to(tl.float32)
            v = tl.load(values + part, mask=written[:, None], other=0.0).to(tl.float32)
            found += tl.sum((tl.sum(k * q[None, :], 1) * decay)[:, None] * v, 0)
            mass += tl.sum(decay, 0)
        if NORMALIZE:
            found = found / tl.sqrt(mass)
        tl.store(read + (row * heads + head) * WIDTH + channels, found)

    @triton.jit
    def attend_kernel(
        query, keys, values, ancestors, position, read, mass, rows, heads, room,
        WIDTH: tl.constexpr, TOKENS: tl.constexpr,
    ):  # fmt: skip
        """softmax(q k) v over the text of one row in one head: sums are scaled down whenever a larger score comes."""
        row, head = tl.program_id(0), tl.program_id(1)
        last, channels = tl.load(position), tl.arange(0, WIDTH)
        q = tl.load(query + (row * heads + head) * WIDTH + channels).to(tl.float32)
        found, total, largest = tl.zeros([WIDTH], tl.float32), 0.0, -float("inf")
        for first in range(0, last + 1, TOKENS):
            token = first + tl.arange(0, TOKENS)
            written = token <= last
            place = (token * rows + tl.load(ancestors + row * room + token, mask=written, other=0)) * heads + head
            part = place[:, None] * WIDTH + channels[None, :]
            k = tl.load(keys + part, mask=written[:, None], other=0.0).to(tl.float32)
            v = tl.load(values + part, mask=written[:, None], other=0.0).to(tl.float32)
            score = tl.where(written, tl.sum(k * q[None, :], 1), -float("inf"))
            larger = tl.maximum(largest, tl.max(score, 0))
            weight, scale = tl.exp(score - larger), tl.exp(largest - larger)
            found = found * scale + tl.sum(weight[:, None] * v, 0)
            total = total * scale + tl.sum(weight, 0)
            largest = larger
        tl.store(read + (row * heads + head) * WIDTH + channels, found / total)
        tl.store(mass + row * heads + head, largest + tl.log(total))
