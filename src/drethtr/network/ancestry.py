"""The cache of a layer for a search on a GPU: every token once, and the ancestry of each row.

A `TextCache` moves keys and values when a search reorders its rows, and grows; so its tensors, and with them the
kernels of a step, change all the time. Here nothing moves. Token n of row r is written to place (n, r) and stays there;
the rows that continue it refer to it. All tensors keep their addresses, so one step can be captured as a CUDA graph and
replayed for the next token. Retention reads the past like attention without softmax: these texts are too short for its
memory to pay (`drethtr.network.cache`).

Shapes, everywhere in this file: R rows, H heads, K channels of a head; `room` for tokens, of which those up to a
position are written.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue


class Kernels(NamedTuple):
    """What a step computes over each row's text: by the formulas here, or without gathering keys and values."""

    recall: Callable[[Tensor, "AncestralCache", bool], Tensor]
    attend: Callable[[Tensor, "AncestralCache"], tuple[Tensor, Tensor]]


class Ancestry(NamedTuple):
    """The descent of R rows, which all layers share.

    rows      (R, room)  the row in which each token of a row's text was written
    position  ()         the number of the token that is being written
    """

    rows: Tensor
    position: Tensor

    @classmethod
    def empty(cls, rows: int, room: int, device: torch.device) -> Self:
        """Texts without tokens."""
        number = torch.zeros((), dtype=torch.long, device=device)
        return cls(torch.zeros(rows, room, dtype=torch.long, device=device), number)

    def begin_step(self) -> None:
        """Write the next token of each row in the row itself."""
        own = torch.arange(len(self.rows), device=self.rows.device)
        self.rows.index_copy_(1, self.position[None], own[:, None])

    def end_step(self, parents: Tensor) -> None:
        """Let row r continue the text of row `parents[r]`."""
        self.rows.copy_(self.rows[parents])
        self.position.add_(1)

    @property
    def places(self) -> Tensor:
        """The numbers of all tokens, (room,)."""
        return torch.arange(self.rows.shape[1], device=self.rows.device)


class AncestralCache(NamedTuple):
    """The text of R rows in one layer, with the methods of `TextCache` and `RetentionCache` that a step needs.

    written  keys and values by token and row, (room, R, H, K)
    fade     (room, R, H)  the sum of log γ up to each token along its row's text; 0 without retention
    kernels  how to read it
    """

    written: KeyValue
    fade: Tensor
    ancestry: Ancestry
    kernels: Kernels

    @classmethod
    def empty(cls, ancestry: Ancestry, like: KeyValue, kernels: Kernels) -> Self:
        """A cache for rows as in `like`, of which only heads, channels and type matter."""
        rows, room = ancestry.rows.shape
        _, heads, _, width = like.keys.shape
        parts = (part.new_zeros(room, rows, heads, width) for part in like)
        exact = torch.promote_types(like.keys.dtype, torch.float32)
        return cls(KeyValue(*parts), like.keys.new_zeros(room, rows, heads, dtype=exact), ancestry, kernels)

    def followed_by(self, text: KeyValue, log_decay: Tensor | None = None) -> Self:
        """Write a token in place: keys and values (R, H, 1, K), log γ before it (R or 1, H, 1)."""
        position, rows = self.ancestry.position, self.ancestry.rows
        for part, new in zip(self.written, text, strict=True):
            part.index_copy_(0, position[None], new[:, :, 0][None])
        if log_decay is not None:
            # Numbers on the GPU stay tensors with one dimension: used as an index, a scalar would be fetched by the
            # host.
            before = (position - 1).clamp(min=0)[None]
            faded = self.fade.index_select(0, before)[0].index_select(0, rows.index_select(1, before)[:, 0])
            self.fade.index_copy_(0, position[None], (faded + log_decay[..., 0])[None].to(self.fade.dtype))
        return self

    def of_rows(self, part: Tensor) -> Tensor:
        """Gather the text of each row, (R, H, room, ...), from a part (room, R, H, ...)."""
        return part[self.ancestry.places, self.ancestry.rows].transpose(1, 2)

    @property
    def tokens(self) -> KeyValue:
        """Keys and values of each row's text, (R, H, room, K); meaningless behind the last token, see `seen`."""
        return KeyValue(*map(self.of_rows, self.written))

    def distance(self, queries: int) -> Tensor:
        """How far each token is from the last one, (1, room); negative behind it."""
        return (self.ancestry.position - self.ancestry.places)[None]

    def seen(self, queries: int) -> Tensor:
        """Which tokens the last one attends to, (1, room)."""
        return self.distance(queries) >= 0

    def read(self, q: Tensor, *, normalize: bool) -> Tensor:
        """Retention's output (R, H, 1, K) for the last token with scaled queries (R, H, 1, K)."""
        return self.kernels.recall(q, self, normalize)

    def attend(self, q: Tensor) -> tuple[Tensor, Tensor]:
        """Softmax attention (R, H, 1, K) with scaled queries (R, H, 1, K), and the log of its mass (R, H, 1, 1)."""
        return self.kernels.attend(q, self)

    def absorb_if_full(self) -> Self:
        """Nothing is absorbed."""
        return self


def recall(q: Tensor, cache: AncestralCache, normalize: bool) -> Tensor:
    """(Q Kᵀ ⊙ D) V over each row's text."""
    keys, values = cache.tokens
    fade = cache.of_rows(cache.fade)
    own = fade.index_select(-1, cache.ancestry.position[None])
    decay = (own - fade).masked_fill(~cache.seen(1), -torch.inf).exp()[:, :, None]
    read = (q @ keys.mT * decay).to(values.dtype) @ values
    return read / decay.sum(-1, keepdim=True).sqrt() if normalize else read


def attend(q: Tensor, cache: AncestralCache) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ) V over each row's text, and the logarithm of what the softmax divides by."""
    keys, values = cache.tokens
    scores = (q @ keys.mT).masked_fill(~cache.seen(1), -torch.inf).to(cache.fade.dtype)
    return scores.softmax(-1).to(values.dtype) @ values, scores.logsumexp(-1, keepdim=True)


FORMULAS = Kernels(recall, attend)
"""The reference that other kernels must agree with."""
