"""Kernels for a GPU that read the text of each row where it was written, without gathering keys and values first.

They compute the formulas of `ancestry.FORMULAS`, for heads with a power of two of channels. Triton comes with torch's
CUDA builds; `TRITON_INTERPRET=1` runs it on a processor, for tests.
"""

# Triton compiles a language of its own, without types.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import os
import warnings
from functools import cache

import torch
from torch import Tensor

from drethtr.base.errors import first_line
from drethtr.network.ancestry import FORMULAS, AncestralCache, Ancestry, Kernels
from drethtr.network.attention import KeyValue

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

TOKENS = 16
"""Tokens that are read at once."""


def kernels_for(like: KeyValue) -> Kernels:
    """The fastest kernels that work here for keys as in `like`, of which only device, type and channels matter."""
    keys, width = like.keys, like.keys.shape[-1]
    meant = triton is not None and (keys.is_cuda or os.environ.get("TRITON_INTERPRET") == "1")
    power_of_two = not width & (width - 1)  # as blocks of Triton must be
    return FUSED if meant and power_of_two and can_compile(keys.device, keys.dtype, width) else FORMULAS


@cache
def can_compile(device: torch.device, dtype: torch.dtype, width: int) -> bool:
    """Whether Triton can compile the kernels here, for which it needs a C compiler; warns if it cannot."""
    like = KeyValue(*(torch.zeros(1, 1, 1, width, dtype=dtype, device=device) for _ in range(2)))
    text = AncestralCache.empty(Ancestry.empty(1, TOKENS, device), like, FUSED)
    try:
        recall(like.keys, text, True)
        attend(like.keys, text)
    except torch.cuda.OutOfMemoryError:
        raise
    except Exception as error:  # Triton's own, those of the system, and those of the compiler
        if "out of memory" in str(error):
            raise torch.cuda.OutOfMemoryError(str(error)) from None
        warnings.warn(
            f"greedy and beam search fall back to slower kernels: Triton cannot compile ({first_line(error)}); install "
            "a C compiler and the headers of Python",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


def recall(q: Tensor, cache: AncestralCache, normalize: bool) -> Tensor:
    """See `ancestry.recall`."""
    rows, heads, _, width = q.shape
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
    read, mass = q.new_empty(q.shape, dtype=cache.fade.dtype), q.new_empty(rows, heads, 1, 1, dtype=cache.fade.dtype)
    sizes = rows, heads, cache.ancestry.rows.shape[1]
    descent = cache.ancestry.rows, cache.ancestry.position
    attend_kernel[rows, heads](q.contiguous(), *cache.written, *descent, read, mass, *sizes, WIDTH=width, TOKENS=TOKENS)
    return read, mass


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
