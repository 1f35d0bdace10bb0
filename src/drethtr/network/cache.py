"""The cache of a layer while a text is decoded: all keys and values, or retention's memory and a buffer of the latest.

A decoding step appends its token to a `TextCache` in place. When the search reorders rows, the cache only records the
order, and applies it in place with the next token. Two texts may continue from one cache; a cache whose rows have been
reordered since is stale, and reading it is an error.

Absorbing a token rewrites retention's whole memory, and so does reordering beams. A `RetentionCache` therefore buffers
new tokens until their keys and values take as much room as the memory, and then absorbs them together. A short text
never needs the memory: it is read like attention without softmax, at the same cost. A text decoded in one pass is
buffered as a whole until more tokens follow; if none follow, as in scoring, it is never absorbed.

Shapes, everywhere in this file: keys and values (R, H, room, K), of which the first tokens are written.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue
from drethtr.network.retention import RetentionState, absorb, recall

ROOM = 128
"""Capacity of a new cache in tokens: most lines end before it is full."""

REORDERED_AT_ONCE = 4 << 20
"""Bytes to reorder at a time, which fit into a processor's cache."""


class StaleCacheError(RuntimeError):
    """A stale cache was read: a bug in the search."""


class Store:
    """Keys and values of rows, which caches share.

    order    the numbers of all rows
    written  number of tokens of the newest cache that uses the store
    reorders how often the rows have been reordered
    """

    __slots__ = ("order", "parts", "reorders", "written")

    def __init__(self, parts: KeyValue, written: int) -> None:
        self.parts = parts
        self.written = written
        self.reorders = 0
        self.order = torch.arange(parts.keys.shape[0], device=parts.keys.device)

    def copy_rows(self, rows: Tensor, tokens: int, room: int) -> "Store":
        """Copy the first tokens of some rows to a new store; only for decoding, without gradients."""
        parts = []
        for part in self.parts:
            _, heads, _, width = part.shape
            copy = part.new_empty(rows.shape[0], heads, room, width)
            torch.index_select(part[:, :, :tokens], 0, rows, out=copy[:, :, :tokens])
            parts.append(copy)
        return Store(KeyValue(*parts), tokens)

    def reorder(self, rows: Tensor) -> None:
        """Reorder all rows in place."""
        self.reorders += 1
        for part in self.parts:
            written = part[:, :, : self.written]
            # A few heads at a time fit into the cache of a processor, and need no second copy of a long text; on a GPU
            # all at once, since every kernel launch costs time.
            most = written.shape[1]
            if not written.is_cuda:
                most = max(1, most * REORDERED_AT_ONCE // max(written.nbytes, 1))
            for heads in torch.split(written, most, dim=1):
                heads.copy_(heads.index_select(0, rows))

    def write(self, text: KeyValue, at: int) -> None:
        """Write tokens from position `at` on."""
        self.written = at + text.keys.shape[2]
        for part, new in zip(self.parts, text, strict=True):
            part[:, :, at : self.written] = new

    def holds(self, rows: Tensor) -> bool:
        """Whether these are all rows in order, on a GPU by identity: a comparison of values would synchronize."""
        return rows is self.order or (not rows.is_cuda and torch.equal(rows, self.order))


class TextCache(NamedTuple):
    """The text of R rows: the first `length` tokens of the rows `rows` (R,) of a store.

    It is stale as soon as the store has been reordered more often than `reorders`.
    """

    rows: Tensor
    length: int
    store: Store
    reorders: int

    @classmethod
    def all_of(cls, store: Store) -> Self:
        """The whole content of a store."""
        return cls(store.order, store.written, store, store.reorders)

    @classmethod
    def empty(cls, like: KeyValue) -> Self:
        """The cache before the first token, with as many rows as `like`."""
        nothing = (part.new_empty(*part.shape[:2], 0, part.shape[-1]) for part in like)  # a view would keep `like`
        return cls.all_of(Store(KeyValue(*nothing), 0))

    def followed_by(self, text: KeyValue, room: int = ROOM) -> "TextCache":
        """The cache with N further tokens, keys and values (R, H, N, K); a new store has room for `room` tokens."""
        length = self.length + text.keys.shape[2]
        if not self.length:
            # Without a copy or extra room: a text that is only scored gets no further tokens.
            return TextCache.all_of(Store(text, length))
        store = self.with_room(length, room)
        store.write(text, self.length)
        return TextCache.all_of(store)

    def with_room(self, length: int, room: int) -> Store:
        """A store with this text, its rows in order, and room for `length` tokens: `room`, or a multiple of it."""
        self.refuse_stale()
        # Otherwise a further token would overwrite one of a newer cache that shares the store.
        is_newest = self.store.written == self.length
        if length > self.store.parts.keys.shape[2] or not is_newest or len(self.rows) != len(self.store.order):
            while room < length:
                room *= 2
            return self.store.copy_rows(self.rows, self.length, room)
        if not self.store.holds(self.rows):
            self.store.reorder(self.rows)
        return self.store

    def refuse_stale(self) -> None:
        """Refuse to read a stale cache.

        Raises:
            StaleCacheError: if the rows of the store have been reordered since this cache was made.
        """
        if self.reorders != self.store.reorders:
            raise StaleCacheError("the rows of this cache have been reordered since it was made")

    @property
    def tokens(self) -> KeyValue:
        """Keys and values of all tokens, (R, H, length, K)."""
        self.refuse_stale()
        parts = (part[:, :, : self.length] for part in self.store.parts)
        in_order = self.store.holds(self.rows)
        return KeyValue(*(part if in_order else part.index_select(0, self.rows) for part in parts))

    def distance(self, queries: int) -> Tensor:
        """See `distances`, for queries at the last tokens."""
        return distances(queries, self.length, self.rows.device)

    def seen(self, queries: int) -> Tensor | None:
        """Which tokens each of the last ones attends to, (queries, length); None: all."""
        return None if queries == 1 else self.distance(queries) >= 0


def distances(queries: int, keys: int, device: torch.device) -> Tensor:
    """How far each key is before each query, (queries, keys), negative behind it; queries are at the last keys."""
    places = torch.arange(keys, device=device)
    return places[keys - queries :, None] - places


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
