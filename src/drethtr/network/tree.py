"""Texts that share beginnings: a token that several have stands once in their tree.

Most of a layer looks at each token alone and is computed once per node. Only where tokens look back at their text does
each text stand in a row of its own.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Tree(NamedTuple):
    """For each of B lines, T texts of at most L tokens, which are paths through N nodes.

    nodes  (B, T, L) the node of each token; behind the end of a text any
    text   (B, N) a text that goes through each node
    place  (B, N) number of its token there, which is its place in each text that has it
    """

    nodes: Tensor
    text: Tensor
    place: Tensor

    @property
    def lines(self) -> Tensor:
        """The number of each line, (B, 1)."""
        return torch.arange(len(self.nodes), device=self.nodes.device)[:, None]

    def spread(self, x: Tensor) -> Tensor:
        """Vectors of nodes (B, ..., N, K) as those of texts (B x T, ..., L, K)."""
        return x.movedim(-2, 1)[self.lines[..., None], self.nodes].flatten(0, 1).movedim(1, -2)

    def gathered(self, x: Tensor) -> Tensor:
        """Vectors of texts (B x T, ..., L, K) as those of nodes (B, ..., N, K)."""
        rows = self.lines * self.nodes.shape[1] + self.text
        return x.movedim(-2, 1)[rows, self.place].movedim(1, -2)
