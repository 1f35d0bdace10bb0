"""A backoff n-gram language model with a few bytes per n-gram.

The n-grams form a tree: the parent of an n-gram is the n-gram without its last token. Nodes are numbered from the root
by the length of their n-grams, then by their tokens. The children of node 0, of node 1 and so on are therefore the
nodes from 1 on, in order, and a node needs no pointer, only the number of its children.
Source: Katz, IEEE Transactions on Acoustics, Speech and Signal Processing 1987; `learn.py` estimates the parameters.
"""

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.errors import CheckpointError
from drethtr.base.native import native
from drethtr.text.tokenizer import BOS, EOS

STEP = 1 / 16
"""Unit of the stored numbers, in nats: a byte then holds log-probabilities down to -16.

A power of two, so that sums are exact in any order: C and Python agree to the last bit, and texts may share sums of
common parts (LOG.md, 2026-11-27, later)."""

FAINTEST = -255 * STEP
"""The lowest log-probability, that of unseen tokens."""

MAX_ORDER = 10
"""The highest order."""

REMEMBERED = 1 << 14
"""Cache size of `step`; an entry takes a few hundred bytes."""

MAX_BYTES = 1 << 28
"""Largest size in memory of all models in a file together; compressed, they may be a thousand times smaller."""

FIRST = np.dtype(np.int64)
"""The dtype of `NGrams.firsts`, as the compiled loops take it."""

State = tuple[int, ...]
"""The nodes of the last 0, 1, 2, … order - 1 tokens; -1 where no n-gram begins with these tokens."""

Table = tuple[int, NDArray[Any], NDArray[Any], memoryview, NDArray[Any]]
"""Order, tokens, losses, first children and backoffs, as `base/compiled/texts.c` takes them."""


def dtypes(size: int) -> dict[str, np.dtype[Any]]:
    """The dtype of each array for a vocabulary of `size` tokens."""
    few = np.dtype(np.uint8 if size <= np.iinfo(np.uint8).max else np.int16)
    return {"tokens": few, "losses": np.dtype(np.uint8), "children": few, "backoffs": np.dtype(np.int8)}


def lengths_of(facts: Mapping[str, int]) -> dict[str, int]:
    """The length of each array, from the metadata of a model."""
    nodes, contexts = facts["nodes"], facts["contexts"]
    return {"tokens": nodes, "losses": nodes, "children": contexts, "backoffs": contexts}


def check_memory(size: int, models: Iterable[Mapping[str, int]]) -> None:
    """Refuse models that together take too much memory, by their metadata, before one of them is unpacked.

    Raises:
        CheckpointError: saying so.
    """
    claimed = 0
    for lengths in map(lengths_of, models):
        if min(lengths.values()) < 1:
            raise CheckpointError("its n-grams are missing")
        arrays = sum(lengths[name] * dtype.itemsize for name, dtype in dtypes(size).items())
        claimed += arrays + FIRST.itemsize * (lengths["children"] + 1)
    if claimed > MAX_BYTES:
        raise CheckpointError(f"its n-grams are too many: they take more than {MAX_BYTES >> 20} MB")


@dataclass(frozen=True, eq=False)
class NGrams:
    """Log-probabilities of the next token, including `EOS`.

    size      vocabulary size, V
    order     length of the longest n-grams
    tokens    (nodes,) the last token of each n-gram
    losses    (nodes,) its negative log-probability given the tokens before it, in units of `STEP`
    children  (contexts,) number of n-grams one token longer; contexts are the nodes of fewer than `order` tokens
    backoffs  (contexts,) backoff weights, in units of `STEP`
    """

    size: int
    order: int
    tokens: NDArray[np.uint8 | np.int16]
    losses: NDArray[np.uint8]
    children: NDArray[np.uint8 | np.int16]
    backoffs: NDArray[np.int8]

    def __str__(self) -> str:
        return f"{len(self.tokens) - 1:,} n-grams of up to {self.order} tokens"

    @cached_property
    def firsts(self) -> memoryview:
        """(contexts + 1,) the first child of each context."""
        return np.concatenate([[1], 1 + np.cumsum(self.children, dtype=FIRST)]).data

    @cached_property
    def views(self) -> tuple[memoryview, memoryview, memoryview]:
        """Tokens, losses and backoffs; indexing a memoryview is faster than indexing an array."""
        return self.tokens.data, self.losses.data, self.backoffs.data

    @cached_property
    def table(self) -> Table:
        """The model in the form that the compiled loops take."""
        tokens, losses, backoffs = map(np.ascontiguousarray, (self.tokens, self.losses, self.backoffs))
        return self.order, tokens, losses, self.firsts, backoffs

    @cached_property
    def start(self) -> State:
        """The state at the beginning of a line."""
        return self.after((0,) + (-1,) * (self.order - 1), BOS)

    def after(self, state: State, token: int) -> State:
        """The state after one more token."""
        # The longest context is dropped: one more token would make it longer than any n-gram of the model.
        return (0, *(self.child(node, token) for node in state[:-1]))

    def child(self, node: int, token: int) -> int:
        """The node of the n-gram extended by a token; -1 if there is none."""
        if node < 0:
            return -1
        tokens, end = self.views[0], self.firsts[node + 1]
        # Children are adjacent and sorted by token, so no hash table is needed.
        place = bisect_left(tokens, token, self.firsts[node], end)
        return place if place < end and tokens[place] == token else -1

    def next(self, state: State, token: int) -> float:
        """The log-probability of a token in a state."""
        _, losses, backoffs = self.views
        lost = 0
        # From the longest known context down; if a context lacks the token, its backoff weight is added.
        for node in reversed(state):
            if (place := self.child(node, token)) >= 0:
                return STEP * (lost - losses[place])
            if node >= 0:
                lost += backoffs[node]
        return STEP * lost + FAINTEST

    def unigram(self, token: int) -> float:
        """The unigram log-probability of a token."""
        return self.next((0,), token)

    @cached_property
    def step(self) -> Callable[[State, int], tuple[float, State]]:
        """`next` and `after`, cached, since texts scored in a row share most n-grams."""
        return lru_cache(REMEMBERED)(lambda state, token: (self.next(state, token), self.after(state, token)))

    def surprises(self, tokens: Sequence[int]) -> list[float]:
        """The negative log-probability of each token of a line given its predecessors."""
        if native is None:
            return self.surprises_in_python(tokens)
        found = np.empty(len(tokens))
        native.surprises(array("i", (BOS, *tokens)), self.table, found)
        return found.tolist()

    def surprises_in_python(self, tokens: Sequence[int]) -> list[float]:
        """The definition of `surprises`."""
        state, lost = self.start, []
        for token in tokens:
            gained, state = self.step(state, token)
            lost.append(-gained)
        return lost

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the model."""
        digest = sha256(f"{self.size} {self.order}".encode())
        for name in dtypes(self.size):
            digest.update(getattr(self, name).tobytes())
        return digest.hexdigest()

    @property
    def facts(self) -> dict[str, int]:
        """The metadata that `of_packed` needs: the order, and the lengths of the arrays."""
        return {"order": self.order, "nodes": len(self.tokens), "contexts": len(self.children)}

    @cached_property
    def packed(self) -> NDArray[np.uint8]:
        """The arrays, compressed to about half their size; once, as training saves the same n-grams many times."""
        # xz would save another 7 %, but take four times as long to load (LOG.md, 2026-11-25, evening).
        content = b"".join(getattr(self, name).tobytes() for name in dtypes(self.size))
        return np.frombuffer(zlib.compress(content, 9), dtype=np.uint8)

    @classmethod
    def of_packed(cls, size: int, facts: Mapping[str, int], packed: NDArray[Any] | None) -> Self:
        """Unpack an untrusted model, within the memory that the declared number of n-grams takes.

        Raises:
            CheckpointError: if it is not a tree of n-grams, or too large.
        """
        check_memory(size, [facts])
        if packed is None or packed.dtype != np.uint8:
            raise CheckpointError("its n-grams are missing")
        lengths = lengths_of(facts)
        expected = sum(lengths[name] * dtype.itemsize for name, dtype in dtypes(size).items())
        try:
            content = zlib.decompressobj().decompress(packed.tobytes(), expected + 1)
        except zlib.error as error:
            raise CheckpointError(f"its n-grams are damaged: {error}") from error
        if len(content) != expected:
            raise CheckpointError("the number of its n-grams differs from the declared one")
        arrays, begin = {}, 0
        for name, dtype in dtypes(size).items():
            arrays[name] = np.frombuffer(content, dtype, lengths[name], begin)
            begin += arrays[name].nbytes
        found = cls(size, facts["order"], **arrays)
        found.check()
        return found

    def check(self) -> None:
        """Refuse arrays that are not a tree of n-grams."""
        if not 1 <= self.order <= MAX_ORDER:
            raise CheckpointError(f"its n-grams have {self.order} tokens; supported are 1 to {MAX_ORDER}")
        nodes, contexts = len(self.tokens), len(self.children)
        if contexts > nodes or (self.children < 0).any() or int(self.children.sum(dtype=np.int64)) != nodes - 1:
            raise CheckpointError("its n-grams are not a tree")
        if (self.tokens < 0).any() or (self.tokens >= self.size).any():
            raise CheckpointError("its n-grams have tokens outside its vocabulary")
        # Mixing and renaming need the probability of every token on the first level, including that of a text's
        # beginning.
        if not np.array_equal(self.tokens[1 : self.firsts[1]], np.arange(self.size)):
            raise CheckpointError("its n-grams lack tokens of its vocabulary")
        # Levels follow each other without gaps, so the first child of a level's end is the end of the next. After
        # `order` steps that must be the end of all nodes, or a walk down the tree would leave the arrays.
        level = [0, 1]
        for _ in range(self.order):
            level.append(int(self.firsts[min(level[-1], contexts)]))
        if level[-2] != contexts or level[-1] != nodes:
            raise CheckpointError(f"its n-grams do not have 1 to {self.order} tokens")


def log_probabilities(models: Sequence[NGrams], texts: Sequence[Sequence[int]]) -> Floats:
    """The log-probability of each whole line, including `EOS`, by each model: (texts, models).

    Lines that resemble the first one take a fraction of its time.
    """
    if native is None:
        return np.array([[-sum(model.surprises_in_python((*text, EOS))) for model in models] for text in texts])
    found = np.empty((len(texts), len(models)))
    lines = tuple(array("i", (BOS, *text, EOS)) for text in texts)
    native.log_probabilities(lines, tuple(model.table for model in models), found)
    return found
