"""Trees of texts as inputs of a graph: the distance of each node to the nodes before it.

Shapes, everywhere in this file: N nodes of a tree, T texts.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.text_tree import TextTree

Feeds = dict[str, NDArray[np.generic]]


def tree_feeds(tree: TextTree) -> Feeds:
    """Tokens, places and distances of the nodes of a tree."""
    text, places = np.array(tree.homes, dtype=np.int64).T
    paths = tree.paths or [[0]]
    on_path = np.zeros((len(paths), len(places)), dtype=np.bool_)
    rows = np.repeat(np.arange(len(paths)), list(map(len, paths)))
    on_path[rows, np.fromiter(chain.from_iterable(paths), dtype=np.int64, count=len(rows))] = True
    return feeds(tree.tokens, places, on_path[text])


def chain_feeds(tokens: Sequence[int]) -> Feeds:
    """Tokens, places and distances of a single text."""
    return feeds(tokens, np.arange(len(tokens)), np.bool_(True))


def feeds(tokens: Sequence[int], places: NDArray[np.int64], same_text: NDArray[np.bool_] | np.bool_) -> Feeds:
    """Tokens, places and distances of nodes; of two nodes of a text (`same_text`, (N, N)), the lower place is first."""
    distance = (places[:, None] - places).astype(np.float32)
    distance[~(same_text & (distance >= 0))] = np.inf
    return {
        "tokens": np.array(tokens, dtype=np.int64),
        "places": places.astype(np.float32)[:, None],
        "distance": distance,
    }
