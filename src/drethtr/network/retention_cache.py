"""The state of retention in decoding: a memory, and a buffer with the keys and values of the latest tokens.

Absorbing a token rewrites the whole memory, and so does reordering beams. New tokens are therefore buffered until their
keys and values take as much room as the memory, and are then absorbed together. A short text never needs the memory: it
is read like attention without softmax, at the same cost. A text decoded in one pass is buffered as a whole until more
tokens follow; if none follow, as in scoring, it is never absorbed.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue
from drethtr.network.cache import TextCache
from drethtr.network.retention import RetentionState, absorb, recall


class RetentionCache(NamedTuple):
    """The text of R rows.

    memory     memory of the absorbed tokens; None if there are none
    latest     the buffer, with N tokens
    log_decay  (R, H, N), log γ before each of these
    """

    memory: RetentionState | None
    latest: TextCache
    log_decay: Tensor

    @classmethod
    def empty(cls, like: KeyValue) -> Self:
        """The state before the first token, with as many rows as `like`."""
        return cls.of(None, like)

    @classmethod
    def of(cls, memory: RetentionState | None, like: KeyValue) -> Self:
        """A memory with an empty buffer."""
        exact = torch.promote_types(like.keys.dtype, torch.float32)
        return cls(memory, TextCache.empty(like), like.keys.new_zeros(*like.keys.shape[:2], 0, dtype=exact))

    def followed_by(self, text: KeyValue, log_decay: Tensor) -> "RetentionCache":
        """Append N tokens: keys and values (R, H, N, K), log γ (R, H, N) or (1, H, N)."""
        rows, width = text.keys.shape[0], text.keys.shape[-1]
        log_decay = torch.cat([self.log_decay, log_decay.to(self.log_decay.dtype).expand(rows, -1, -1)], dim=-1)
        return RetentionCache(self.memory, self.latest.followed_by(text, room=buffer_size(width)), log_decay)

    def read(self, q: Tensor, *, normalize: bool) -> Tensor:
        """The output (R, H, M, V) for the last M tokens with scaled queries (R, H, M, K)."""
        return recall(q, *self.latest.tokens, self.log_decay, self.memory, normalize=normalize)

    def full_memory(self) -> RetentionState:
        """The memory with all tokens absorbed."""
        tokens = self.latest.tokens
        memory = self.memory or RetentionState.empty(*tokens)
        return absorb(*tokens, self.log_decay, memory) if self.latest.length else memory

    def absorb_latest(self) -> "RetentionCache":
        """Absorb all buffered tokens into the memory."""
        return RetentionCache.of(self.full_memory(), self.latest.tokens) if self.latest.length else self

    def absorb_if_full(self) -> "RetentionCache":
        """Absorb the buffered tokens, if the buffer is full."""
        return self.absorb_latest() if self.latest.length >= buffer_size(self.latest.tokens.keys.shape[-1]) else self


def buffer_size(width: int) -> int:
    """The number of tokens whose keys and values take as much room as the memory of a head of this width."""
    return max(width // 2, 1)
