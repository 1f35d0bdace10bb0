"""How likely each token is after the ones before it in a line of text: n-grams with backing off, a few bytes each.

An n-gram is a node of a tree, under the node of all its tokens but the last. Nodes are numbered by the length of their
n-grams, then by their tokens, the root first. So the children of node 0, of node 1 and so on, one after the other, are
the nodes from 1 on, and a node needs no pointer but only to know how many children it has.
Source: Katz, IEEE Transactions on Acoustics, Speech and Signal Processing 1987; `learn.py` says where the numbers are
from.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.text.tokenizer import BOS, EOS

STEP = 1 / 16
"""Nats between two neighbors of the numbers that are kept."""

FAINTEST = -255 * STEP
"""The least log-probability; tokens that are in no text have it."""

LONGEST = 10

REMEMBERED = 1 << 14
"""Steps whose outcome is kept for the next time, some hundred bytes each."""

State = tuple[int, ...]
"""The nodes of the last 0, 1, 2, … tokens, as far as n-grams go; -1 where none begins with these tokens."""


def dtypes(size: int) -> dict[str, np.dtype[Any]]:
    """In which numbers the arrays of n-grams of so many tokens are kept."""
    few = np.dtype(np.uint8 if size <= np.iinfo(np.uint8).max else np.int16)
    return {"tokens": few, "losses": np.dtype(np.uint8), "children": few, "backoffs": np.dtype(np.int8)}


@dataclass(frozen=True, eq=False)
class NGrams:
    """Log-probabilities of the next token, or of `EOS`.

    size      tokens there are, V
    order     tokens of the longest n-gram
    tokens    (nodes,) the last token of each n-gram
    losses    (nodes,) its negative log-probability after the others, in steps
    children  (contexts,) how many n-grams go on from it; contexts are the nodes of fewer than `order` tokens
    backoffs  (contexts,) what another token has after it, beside what that has after a token less; in steps
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
        return np.concatenate([[1], 1 + np.cumsum(self.children, dtype=np.int64)]).data

    @cached_property
    def views(self) -> tuple[memoryview, memoryview, memoryview]:
        """Tokens, losses and backoffs; of a view, one number is looked up faster than of an array."""
        return self.tokens.data, self.losses.data, self.backoffs.data

    @cached_property
    def start(self) -> State:
        """Where a line begins."""
        return self.after((0,) + (-1,) * (self.order - 1), BOS)

    def after(self, state: State, token: int) -> State:
        """Where one is after one more token."""
        return (0, *(self.child(node, token) for node in state[:-1]))

    def child(self, node: int, token: int) -> int:
        """The n-gram one token longer; -1 if there is none."""
        if node < 0:
            return -1
        tokens, end = self.views[0], self.firsts[node + 1]
        place = bisect_left(tokens, token, self.firsts[node], end)
        return place if place < end and tokens[place] == token else -1

    def next(self, state: State, token: int) -> float:
        """Log-probability of a token, if it comes now."""
        _, losses, backoffs = self.views
        lost = 0
        for node in reversed(state):
            if (place := self.child(node, token)) >= 0:
                return STEP * (lost - losses[place])
            if node >= 0:
                lost += backoffs[node]
        return STEP * lost + FAINTEST

    @cached_property
    def step(self) -> Callable[[State, int], tuple[float, State]]:
        """Both of them; texts that are read one after the other are much alike."""
        return lru_cache(REMEMBERED)(lambda state, token: (self.next(state, token), self.after(state, token)))

    def log_probability(self, tokens: Sequence[int]) -> float:
        """Of a whole line, its end included."""
        state, total = self.start, 0.0
        for token in (*tokens, EOS):
            gained, state = self.step(state, token)
            total += gained
        return total

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that it says."""
        digest = sha256(f"{self.size} {self.order}".encode())
        for name in dtypes(self.size):
            digest.update(getattr(self, name).tobytes())
        return digest.hexdigest()

    def tensors(self) -> dict[str, Tensor]:
        """What `of_tensors` takes."""
        return {name: torch.from_numpy(getattr(self, name)) for name in dtypes(self.size)}

    @classmethod
    def of_tensors(cls, size: int, order: int, tensors: Mapping[str, Tensor]) -> Self:
        """From what may come from anybody.

        Raises:
            CheckpointError: if it is no tree of n-grams.
        """
        if not 1 <= order <= LONGEST:
            raise CheckpointError(f"n-grams of {order} tokens, where 1 to {LONGEST} can be")
        for name, dtype in dtypes(size).items():
            if name not in tensors or str(tensors[name].dtype) != f"torch.{dtype}" or tensors[name].ndim != 1:
                raise CheckpointError(f"its n-grams lack {name}")
        found = cls(size, order, **{name: tensors[name].numpy() for name in dtypes(size)})
        found.check()
        return found

    def check(self) -> None:
        """Refuse arrays that are no tree.

        Raises:
            CheckpointError: saying so.
        """
        nodes, contexts = len(self.tokens), len(self.children)
        fits = len(self.losses) == nodes and len(self.backoffs) == contexts and 1 <= contexts <= nodes
        if not fits or (self.children < 0).any() or int(self.children.sum(dtype=np.int64)) != nodes - 1:
            raise CheckpointError("its n-grams are no tree")
        if (self.tokens < 0).any() or (self.tokens >= self.size).any():
            raise CheckpointError("its n-grams are not of its tokens")
        level = [0, 1]
        for _ in range(self.order):
            level.append(int(self.firsts[min(level[-1], contexts)]))
        if level[-2] != contexts or level[-1] != nodes:
            raise CheckpointError(f"its n-grams are not of at most {self.order} tokens")
