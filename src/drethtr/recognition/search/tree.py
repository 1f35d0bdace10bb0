"""Texts of a line as one tree, in which each token of a shared beginning stands once.

The readings proposed for a line differ in a few letters, so their tree has far fewer nodes than they have tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from drethtr.text.tokenizer import BOS


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
