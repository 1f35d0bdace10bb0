"""Texts of a line as a prefix tree, in which shared prefixes occur once.

The candidates for a line differ in a few letters, so their tree has far fewer nodes than they have tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from drethtr.text.tokenizer import BOS


class TextTree(NamedTuple):
    """The prefix tree of some texts of one line.

    tokens  of the nodes; the root is BOS
    paths   for each text its nodes, including the root
    homes   for each node one text that contains it, and its place there
    """

    tokens: list[int]
    paths: list[list[int]]
    homes: list[tuple[int, int]]

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Self:
        """The tree of any number of texts; may be none."""
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
