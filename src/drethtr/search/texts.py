"""Look for a pattern in the texts of lines."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from drethtr.search.automaton import Automaton
from drethtr.search.records import Records


def in_texts(
    store: Records, pages: NDArray[np.int64], numbers: NDArray[np.int64], automaton: Automaton
) -> NDArray[np.bool_]:
    """(C,) whether the texts of lines have a pattern, of pages (C,) in ascending order.

    Raises:
        DataError: if the index is damaged.
    """
    found = np.zeros(len(pages), dtype=np.bool_)
    ids, firsts = np.unique(pages, return_index=True)
    for id, places in zip(ids.tolist(), np.split(np.arange(len(pages)), firsts[1:]), strict=False):
        texts = [line.text for line in store.page(id)[1]]
        found[places] = [has(texts[number : number + 2], automaton) for number in numbers[places].tolist()]
    return found


def has(texts: Sequence[str], automaton: Automaton) -> bool:
    """Whether a line has a pattern, by its text and that of the next line, on which the pattern may end."""
    state = 0
    for text in texts:
        state = int(automaton.breaks[automaton.after(text, state)])
        if state in (automaton.found, automaton.dead):
            break
    return state == automaton.found
