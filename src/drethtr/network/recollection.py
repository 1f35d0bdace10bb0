"""The state of retention in decoding: a memory, and the latest tokens as keys and values.

A token that enters the memory touches all of it, and so does reordering beams. So tokens wait as keys and values until
they take as much room as the memory, and then enter together. A short text never needs the memory: it is read like
attention without a softmax, at the same cost. A text decoded in one pass waits as a whole until more follows; where
nothing follows, as in scoring, it never enters.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue
from drethtr.network.cache import TextCache
from drethtr.network.retention import RetentionState, absorb, recall


class Recollection(NamedTuple):
    """A text of R rows.

    memory     of all tokens but the latest; None if there are no others
    latest     the N tokens that wait
    log_decay  (R, H, N), log γ before each of these
    """

    memory: RetentionState | None
    latest: TextCache
    log_decay: Tensor

    @classmethod
    def empty(cls, like: KeyValue) -> Self:
        """Before the first token, for as many rows as `like` has."""
        return cls.of(None, like)

    @classmethod
    def of(cls, memory: RetentionState | None, like: KeyValue) -> Self:
        """A memory without waiting tokens."""
        exact = torch.promote_types(like.keys.dtype, torch.float32)
        return cls(memory, TextCache.empty(like), like.keys.new_zeros(*like.keys.shape[:2], 0, dtype=exact))

    def followed_by(self, text: KeyValue, log_decay: Tensor) -> "Recollection":
        """The text with N further tokens, keys and values (R, H, N, K), log γ (R, H, N) or (1, H, N)."""
        rows, width = text.keys.shape[0], text.keys.shape[-1]
        log_decay = torch.cat([self.log_decay, log_decay.to(self.log_decay.dtype).expand(rows, -1, -1)], dim=-1)
        return Recollection(self.memory, self.latest.followed_by(text, room=waiting(width)), log_decay)

    def read(self, q: Tensor, *, normalize: bool) -> Tensor:
        """What the last M tokens read, (R, H, M, V), by their scaled queries (R, H, M, K)."""
        return recall(q, *self.latest.tokens, self.log_decay, self.memory, normalize=normalize)

    def settled(self) -> RetentionState:
        """All tokens in the memory."""
        tokens = self.latest.tokens
        memory = self.memory or RetentionState.empty(*tokens)
        return absorb(*tokens, self.log_decay, memory) if self.latest.length else memory

    def absorbed(self) -> "Recollection":
        """Let all waiting tokens enter the memory."""
        return Recollection.of(self.settled(), self.latest.tokens) if self.latest.length else self

    def tidied(self) -> "Recollection":
        """Let waiting tokens enter the memory, if there are enough of them."""
        return self.absorbed() if self.latest.length >= waiting(self.latest.tokens.keys.shape[-1]) else self


def waiting(width: int) -> int:
    """How many tokens, as keys and values, take as much room as the memory of heads of this width."""
    return max(width // 2, 1)
