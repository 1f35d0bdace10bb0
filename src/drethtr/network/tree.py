"""Trees of texts with shared prefixes, in which a shared token is one node.

Most of a layer treats each token alone and is computed once per node. Only where tokens attend to their text, each text
has its own row: masks of ancestors over all pairs of nodes would cost more than they save (LOG.md, 2026-11-22).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drethtr.recognition.protocol import TextTree
from drethtr.text.tokenizer import PAD


class Tree(NamedTuple):
    """For each of B lines, T texts of at most L tokens, which are paths through N nodes.

    nodes  (B, T, L) the node of each token; arbitrary beyond the end of a text
    text   (B, N) a text that contains each node
    place  (B, N) the position of each node in its texts
    """

    nodes: Tensor
    text: Tensor
    place: Tensor

    @property
    def lines(self) -> Tensor:
        """The number of each line, (B, 1)."""
        return torch.arange(len(self.nodes), device=self.nodes.device)[:, None]

    def spread(self, x: Tensor) -> Tensor:
        """Copy vectors of nodes (B, ..., N, K) to their texts (B x T, ..., L, K)."""
        # With the nodes on the second axis, line and node number pick a vector for each token: (B, T, L, ..., K).
        return x.movedim(-2, 1)[self.lines[..., None], self.nodes].flatten(0, 1).movedim(1, -2)

    def gather(self, x: Tensor) -> Tensor:
        """Gather vectors of texts (B x T, ..., L, K) at the nodes (B, ..., N, K)."""
        rows = self.lines * self.nodes.shape[1] + self.text
        return x.movedim(-2, 1)[rows, self.place].movedim(1, -2)


LEAST_SHARE_OF_NODES = 0.75
"""A tree joins a batch if it has at least this share of the largest tree's nodes.

All trees in one batch took a quarter more time, for nodes that pad the small ones (LOG.md, 2026-11-23).
"""


def of_similar_size(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Group trees, by their numbers, so that none is much smaller than the largest of its group."""
    group: list[int] = []
    for number in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        if group and sizes[number] < LEAST_SHARE_OF_NODES * sizes[group[0]]:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def stack_trees(trees: Sequence[TextTree]) -> tuple[Tensor, Tree]:
    """Stack trees for `DRetHTR.decode_tree`: tokens (lines, N), and their structure; no text contains padding."""
    nodes = max(len(tree.tokens) for tree in trees)
    texts = max(max(len(tree.paths) for tree in trees), 1)
    length = max(len(path) for tree in trees for path in (*tree.paths, [0]))
    tokens = torch.tensor([tree.tokens + [PAD] * (nodes - len(tree.tokens)) for tree in trees])
    homes = torch.tensor([tree.homes + [(0, 0)] * (nodes - len(tree.homes)) for tree in trees])
    # Paths beyond the end of a text point to the root; no node gathers what is computed there.
    paths = torch.zeros(len(trees), texts, length, dtype=torch.long)
    for own, tree in zip(paths, trees, strict=True):
        for row, path in zip(own, tree.paths, strict=False):
            row[: len(path)] = torch.tensor(path)
    return tokens, Tree(paths, homes[..., 0], homes[..., 1])
