"""How likely each token is after the ones before it in a line of text: n-grams with backing off, a few bytes each.

An n-gram is a node of a tree, under the node of all its tokens but the last. Nodes are numbered by the length of their
n-grams, then by their tokens, the root first. So the children of node 0, of node 1 and so on, one after the other, are
the nodes from 1 on, and a node needs no pointer but only to know how many children it has.
Source: Katz, IEEE Transactions on Acoustics, Speech and Signal Processing 1987; `learn.py` says where the numbers are
from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from drethtr.errors import CheckpointError
from drethtr.text.tokenizer import BOS, EOS

STEP = 1 / 16
"""Nats between two neighbors of the numbers that are kept."""

FAINTEST = -255 * STEP
"""The least log-probability; tokens that are in no text have it."""

LONGEST = 10
ROWS = 1 << 14
"""Distributions that are kept for the next time, half a kilobyte each."""

TENSORS = {"tokens": torch.int16, "losses": torch.uint8, "children": torch.int16, "backoffs": torch.int8}

State = tuple[int, ...]
"""The nodes of the last 0, 1, 2, … tokens, as far as n-grams go; -1 where none begins with these tokens."""


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
    tokens: NDArray[np.int16]
    losses: NDArray[np.uint8]
    children: NDArray[np.int16]
    backoffs: NDArray[np.int8]
    rows: dict[State, NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)

    def __str__(self) -> str:
        return f"{len(self.tokens) - 1:,} n-grams of up to {self.order} tokens"

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """(contexts + 1,) the first child of each context."""
        return np.concatenate([[1], 1 + np.cumsum(self.children, dtype=np.int64)])

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
        first, end = self.firsts[node : node + 2]
        place = int(first + np.searchsorted(self.tokens[first:end], token))
        return place if place < end and self.tokens[place] == token else -1

    def next(self, state: State) -> NDArray[np.float64]:
        """(V,) log-probabilities of what comes now; not to be changed."""
        row = self.rows.get(state)
        if row is None:
            row = np.full(self.size, FAINTEST)
            for node in state:
                if node >= 0:
                    first, end = self.firsts[node : node + 2]
                    row += STEP * self.backoffs[node]
                    row[self.tokens[first:end]] = -STEP * self.losses[first:end]
            if len(self.rows) >= ROWS:
                self.rows.clear()
            self.rows[state] = row
        return row

    def log_probability(self, tokens: Sequence[int]) -> float:
        """Of a whole line, its end included."""
        state, total = self.start, 0.0
        for token in (*tokens, EOS):
            total += float(self.next(state)[token])
            state = self.after(state, token)
        return total

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that it says."""
        digest = sha256(f"{self.size} {self.order}".encode())
        for name in TENSORS:
            digest.update(getattr(self, name).tobytes())
        return digest.hexdigest()

    def tensors(self) -> dict[str, Tensor]:
        """What `of_tensors` takes."""
        return {name: torch.from_numpy(getattr(self, name)) for name in TENSORS}

    @classmethod
    def of_tensors(cls, size: int, order: int, tensors: Mapping[str, Tensor]) -> Self:
        """From what may come from anybody.

        Raises:
            CheckpointError: if it is no tree of n-grams.
        """
        if not 1 <= order <= LONGEST:
            raise CheckpointError(f"n-grams of {order} tokens, where 1 to {LONGEST} can be")
        for name, dtype in TENSORS.items():
            if name not in tensors or tensors[name].dtype != dtype or tensors[name].ndim != 1:
                raise CheckpointError(f"its n-grams lack {name}")
        found = cls(size, order, **{name: tensors[name].numpy() for name in TENSORS})
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
