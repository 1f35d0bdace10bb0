"""Retention: attention over the past without softmax, weighted by a decay.

Three forms of one operator: `recurrent` is the definition, one token at a time in constant memory; `parallel` computes
a whole text in one matrix product; `chunkwise` computes long texts chunk by chunk. tests/network/test_retention.py
checks that they agree.

Shapes, everywhere in this file:
    q, k        (B, H, N, K)   queries, keys; the caller has already scaled q
    v           (B, H, N, V)   values
    log_decay   (B, H, N)      log γ before each token, at most 0; a leading 1 broadcasts
All may be in half precision; the memory is float32 or better.
Source: paper, eqs. 2-4; RetNet, arXiv 2307.08621, Sec. 2.1.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.variants import Variants
from drethtr.recognition.model.decay import LayerPosition, Scheduled

CHUNK = 256
"""Tokens per chunk; for fewer, the parallel form is faster."""


class RetentionState(NamedTuple):
    """The state of a layer after a text of any length.

    memory  (B, H, K, V)  Σ γ^(n-m) k_m ⊗ v_m, the S_n of the paper
    mass    (B, H)        Σ γ^(n-m), the sum of the weights; only needed for normalization
    """

    memory: Tensor
    mass: Tensor

    @classmethod
    def empty(cls, k: Tensor, v: Tensor) -> Self:
        """The state before the first token, on the device of k and v, in float32 or better."""
        batch, heads, _, width = k.shape
        dtype = torch.promote_types(k.dtype, torch.float32)
        return cls(k.new_zeros(batch, heads, width, v.shape[-1], dtype=dtype), k.new_zeros(batch, heads, dtype=dtype))


def recurrent(
    q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, state: RetentionState, *, normalize: bool = False
) -> tuple[Tensor, RetentionState]:
    """Process tokens one by one: S ← γ S + k ⊗ v, then read q S."""
    memory, mass = state
    q, k, v, log_decay = (x.to(memory.dtype) for x in (q, k, v, log_decay))
    reads = []
    for n in range(q.shape[2]):
        gamma = log_decay[..., n].exp()
        memory = plus_outer(gamma[..., None, None] * memory, k[:, :, n], v[:, :, n])
        # The mass of the weights decays like the memory; it is not the sum of q k, so no division by nearly zero can
        # occur.
        mass = gamma * mass + 1
        read = (q[:, :, n, None] @ memory)[:, :, 0]
        reads.append(read / mass[..., None].sqrt() if normalize else read)
    return torch.stack(reads, dim=2), RetentionState(memory, mass)


def plus_outer(memory: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Add k (B, H, K) ⊗ v (B, H, V) to memory (B, H, K, V) in place: allocating would cost more than the sum."""
    columns, rows = k.flatten(0, 1)[:, :, None], v.flatten(0, 1)[:, None, :]
    return memory.flatten(0, 1).baddbmm_(columns, rows).view_as(memory)


def parallel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    state: RetentionState,
    *,
    normalize: bool = False,
    dropout: float = 0.0,
) -> tuple[Tensor, RetentionState]:
    """Process all tokens at once: (Q Kᵀ ⊙ D) V, plus the decayed state.

    `dropout` applies to single weights of Q Kᵀ ⊙ D, in training.
    """
    read = recall(q, k, v, log_decay, state, normalize=normalize, dropout=dropout)
    return read, absorb(k, v, log_decay, state)


def recall(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    state: RetentionState | None,
    *,
    normalize: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """The output for the last M of N tokens, q (B, H, M, K): (Q Kᵀ ⊙ D) V, plus the decayed state before them."""
    # Sums of log γ over hundreds of tokens: in half precision, rounding would amount to whole tokens.
    exact = torch.promote_types(q.dtype, torch.float32)
    fade, asking = log_decay.to(exact).cumsum(-1), q.shape[2]
    own = fade[..., -asking:]
    distance = own[..., :, None] - fade[..., None, :]
    if asking > 1:
        future = torch.ones(distance.shape[-2:], dtype=torch.bool, device=q.device).triu(1 + fade.shape[-1] - asking)
        # Mask before exp: future tokens would overflow, and inf * 0 would make the gradient NaN.
        distance = distance.masked_fill(future, -torch.inf)
    decay = distance.exp()
    weights = F.dropout(q @ k.mT * decay, dropout) if dropout else q @ k.mT * decay
    read, mass = weights.to(v.dtype) @ v, decay.sum(-1)
    if state is not None:
        # The absorbed memory has decayed by all tokens since, including these.
        read = read + own.exp()[..., None] * (q.to(state.memory.dtype) @ state.memory)
        mass = mass + own.exp() * state.mass[..., None]
    return read / mass[..., None].sqrt() if normalize else read


def absorb(k: Tensor, v: Tensor, log_decay: Tensor, state: RetentionState) -> RetentionState:
    """The state after N more tokens."""
    fade = log_decay.to(state.mass.dtype).cumsum(-1)
    left = (fade[..., -1:] - fade).exp()  # weight of each token after the last one
    gone = fade[..., -1].exp()
    memory = gone[..., None, None] * state.memory + (k * left[..., None]).mT @ v.to(state.memory.dtype)
    return RetentionState(memory, gone * state.mass + left.sum(-1))


def chunkwise(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    state: RetentionState,
    *,
    normalize: bool = False,
    dropout: float = 0.0,
    chunk: int = CHUNK,
) -> tuple[Tensor, RetentionState]:
    """Process `chunk` tokens at a time: linear in length, quadratic only in `chunk`."""
    reads = []
    for n in range(0, q.shape[2], chunk):
        piece = slice(n, n + chunk)
        q_piece, k_piece, v_piece, decay_piece = (x[:, :, piece] for x in (q, k, v, log_decay))
        read, state = parallel(q_piece, k_piece, v_piece, decay_piece, state, normalize=normalize, dropout=dropout)
        reads.append(read)
    return torch.cat(reads, dim=2), state


class Decay(nn.Module, ABC):
    """log γ for every head and token, at most 0."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Token vectors (B, N, width) to log γ, (B, H, N), or (1, H, N) if the same for all lines."""


DECAYS = Variants[Decay]("decay")
"""Made from config, position of the layer, and width of the network."""


@DECAYS.computes(Scheduled)
class ScheduledDecay(Decay):
    """One γ per head, the same for every token."""

    log_gamma: Tensor

    def __init__(self, config: Scheduled, position: LayerPosition, width: int) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma(config, position), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.log_gamma[None, :, None].expand(1, -1, x.shape[1])


def log_gamma(decay: Scheduled, position: LayerPosition) -> Tensor:
    """Log γ of each head, (H,); on the CPU even while a network is built on the meta device."""
    return torch.from_numpy(decay.log_gamma(position))
