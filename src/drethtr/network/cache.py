"""The cache of a softmax mixer: keys and values of every text token, with room for more.

A step appends its token in place. When a search reorders its rows, the cache only notes the order and
applies it, in place as well, when the next token comes. Two texts may continue from one cache; a cache whose rows have
been reordered since is stale and refuses to be read.

Shapes, everywhere in this file: keys and values (R, H, room, K), of which the first tokens are written.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue

ROOM = 128
"""Capacity of a new cache in tokens."""

TURNED_AT_ONCE = 4 << 20
"""Bytes of heads to reorder together: as many as fit into a processor's cache."""


class StaleCacheError(RuntimeError):
    """A cache was used after its rows were reordered: a bug in the search."""


class Store:
    """Keys and values of some rows, `order` their numbers.

    The newest cache that uses them has `written` tokens; the rows have been reordered `turns` times.
    """

    __slots__ = ("order", "parts", "turns", "written")

    def __init__(self, parts: KeyValue, written: int) -> None:
        self.parts = parts
        self.written = written
        self.turns = 0
        self.order = torch.arange(parts.keys.shape[0], device=parts.keys.device)

    def moved(self, rows: Tensor, tokens: int, room: int) -> "Store":
        """A new store with the first tokens of some rows; only for decoding, without gradients."""
        parts = []
        for part in self.parts:
            _, heads, _, width = part.shape
            there = part.new_empty(rows.shape[0], heads, room, width)
            torch.index_select(part[:, :, :tokens], 0, rows, out=there[:, :, :tokens])
            parts.append(there)
        return Store(KeyValue(*parts), tokens)

    def turn(self, rows: Tensor) -> None:
        """Reorder all rows."""
        self.turns += 1
        for part in self.parts:
            written = part[:, :, : self.written]
            # A few heads at a time: no second copy of a long text.
            for heads in torch.split(written, heads_at_once(written), dim=1):
                heads.copy_(heads.index_select(0, rows))

    def write(self, text: KeyValue, at: int) -> None:
        """Write tokens from place `at` on."""
        self.written = at + text.keys.shape[2]
        for part, new in zip(self.parts, text, strict=True):
            part[:, :, at : self.written] = new

    def holds(self, rows: Tensor) -> bool:
        """Whether these are all rows in order; on a GPU, where comparing means waiting, as far as known."""
        return rows is self.order or (not rows.is_cuda and torch.equal(rows, self.order))


class TextCache(NamedTuple):
    """The text of each row: the first `length` tokens in row `rows` (R,) of the store, as it was after `turns`."""

    rows: Tensor
    length: int
    store: Store
    turns: int

    @classmethod
    def all_of(cls, store: Store) -> Self:
        """Everything in a store."""
        return cls(store.order, store.written, store, store.turns)

    @classmethod
    def empty(cls, like: KeyValue) -> Self:
        """The cache before the first token, for as many rows as `like` has."""
        nothing = (part.new_empty(*part.shape[:2], 0, part.shape[-1]) for part in like)  # a view would keep all of it
        return cls.all_of(Store(KeyValue(*nothing), 0))

    def followed_by(self, text: KeyValue, room: int = ROOM) -> "TextCache":
        """The text with N further tokens, keys and values (R, H, N, K); a new store has a capacity of `room`."""
        length = self.length + text.keys.shape[2]
        if not self.length:
            return TextCache.all_of(Store(text, length))
        store = self.with_room(length, room)
        store.write(text, self.length)
        return TextCache.all_of(store)

    def with_room(self, length: int, room: int) -> Store:
        """A store with this text, its rows in order, and room for a longer one."""
        self.refuse_stale()
        # A token after this text would overwrite that of a newer cache of the store.
        is_newest = self.store.written == self.length
        if length > self.store.parts.keys.shape[2] or not is_newest or len(self.rows) != len(self.store.order):
            return self.store.moved(self.rows, self.length, room_for(length, room))
        if not self.store.holds(self.rows):
            self.store.turn(self.rows)
        return self.store

    def refuse_stale(self) -> None:
        """Refuse to read rows that have been reordered.

        Raises:
            StaleCacheError: if the rows of the store have been reordered since this cache was made.
        """
        if self.turns != self.store.turns:
            raise StaleCacheError("the rows of this cache have been reordered since it was made")

    @property
    def tokens(self) -> KeyValue:
        """Keys and values of all tokens, (R, H, length, K)."""
        self.refuse_stale()
        parts = (part[:, :, : self.length] for part in self.store.parts)
        in_order = self.store.holds(self.rows)
        return KeyValue(*(part if in_order else part.index_select(0, self.rows) for part in parts))


def room_for(tokens: int, room: int) -> int:
    """The smallest of `room`, twice that, four times that and so on, with room for so many tokens."""
    while room < tokens:
        room *= 2
    return room


def heads_at_once(part: Tensor) -> int:
    """How many heads of a part (R, H, N, K) are reordered together; on a GPU, where every kernel costs, all."""
    heads = part.shape[1]
    return heads if part.is_cuda else max(1, heads * TURNED_AT_ONCE // max(part.nbytes, 1))
