"""Texts of a line as one tree, in which each token of a shared beginning stands once.

The readings proposed for a line differ in a few letters, so their tree has far fewer nodes than they have tokens.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.tree import Tree
from drethtr.text.tokenizer import BOS, PAD

LIKE = 0.75
"""A tree is read together with larger ones of which it has that part at least."""


class TextTree(NamedTuple):
    """Some texts of one line.

    tokens  of the nodes; the first, BOS, stands before all texts
    paths   for each text its nodes, the first included
    homes   for each node a text that goes through it, and its place there
    """

    tokens: list[int]
    paths: list[list[int]]
    homes: list[tuple[int, int]]

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Self:
        """The tree of any number of texts, none included."""
        tokens, paths, homes = [BOS], [], [(0, 0)]
        known: dict[tuple[int, int], int] = {}
        for number, text in enumerate(texts):
            path = [0]
            for place, token in enumerate(text, start=1):
                node = known.setdefault((path[-1], token), len(tokens))
                if node == len(tokens):
                    tokens.append(token)
                    homes.append((number, place))
                path.append(node)
            paths.append(path)
        return cls(tokens, paths, homes)


def of_like_size(trees: Sequence[TextTree]) -> Iterator[list[int]]:
    """The numbers of trees in groups in which none is much smaller than the largest; those without texts in none."""
    sizes = [len(tree.tokens) if tree.paths else 0 for tree in trees]
    group: list[int] = []
    for number in sorted(filter(sizes.__getitem__, range(len(sizes))), key=sizes.__getitem__, reverse=True):
        if group and sizes[number] < LIKE * sizes[group[0]]:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def stack_trees(trees: Sequence[TextTree]) -> tuple[Tensor, Tree]:
    """Tokens (lines, N) and trees as `DRetHTR.decode_tree` takes them; no text goes through padding."""
    nodes = max(len(tree.tokens) for tree in trees)
    texts = max(max(len(tree.paths) for tree in trees), 1)
    length = max(len(path) for tree in trees for path in (*tree.paths, [0]))
    tokens = torch.tensor([tree.tokens + [PAD] * (nodes - len(tree.tokens)) for tree in trees])
    homes = torch.tensor([tree.homes + [(0, 0)] * (nodes - len(tree.homes)) for tree in trees])
    paths = torch.zeros(len(trees), texts, length, dtype=torch.long)
    for own, tree in zip(paths, trees, strict=True):
        for row, path in zip(own, tree.paths, strict=False):
            row[: len(path)] = torch.tensor(path)
    return tokens, Tree(paths, homes[..., 0], homes[..., 1])
