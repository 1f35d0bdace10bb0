"""Connected components of a mask, by runs of pixels: rows are labeled run by run, and runs that touch are united.

A mask of a page has few runs, so this is as fast as labeling pixel by pixel in a compiled library.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from drethtr.base.arrays import Booleans, Ints

Window = tuple[slice, slice]


def components(mask: Booleans) -> Iterator[tuple[Window, Booleans]]:
    """The 8-connected components of a mask: rows and columns of each, and its pixels there.

    In the order of their first pixels, row by row.
    """
    rows, firsts, lasts = runs_of(mask)
    roots = component_roots(rows, firsts, lasts)
    order = np.argsort(roots, kind="stable")
    borders = np.flatnonzero(np.diff(roots[order], prepend=-1, append=len(roots)))
    for begin, end in pairwise(borders.tolist()):
        own = order[begin:end]
        top, left = int(rows[own].min()), int(firsts[own].min())
        found = np.zeros((int(rows[own].max()) + 1 - top, int(lasts[own].max()) - left), dtype=np.bool_)
        for row, first, last in zip(rows[own] - top, firsts[own] - left, lasts[own] - left, strict=True):
            found[row, first:last] = True
        yield (slice(top, top + found.shape[0]), slice(left, left + found.shape[1])), found


def runs_of(mask: Booleans) -> tuple[Ints, Ints, Ints]:
    """Row, first column and the column after the last of every horizontal run, from the top left."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, firsts = np.nonzero(edges > 0)
    _, lasts = np.nonzero(edges < 0)
    return rows, firsts, lasts


def component_roots(rows: Ints, firsts: Ints, lasts: Ints) -> Ints:
    """The number of the first run of the component that each run belongs to."""
    roots = list(range(len(rows)))

    def root(run: int) -> int:
        while roots[run] != run:
            roots[run] = run = roots[roots[run]]
        return run

    starts = np.searchsorted(rows, np.arange(int(rows.max(initial=-1)) + 2))
    begins, ends = firsts.tolist(), lasts.tolist()
    for above, below, end in zip(starts[:-2].tolist(), starts[1:-1].tolist(), starts[2:].tolist(), strict=True):
        upper, lower = above, below
        while upper < below and lower < end:
            if begins[upper] <= ends[lower] and begins[lower] <= ends[upper]:  # diagonal neighbors touch
                one, other = root(upper), root(lower)
                roots[max(one, other)] = min(one, other)
            if ends[upper] < ends[lower]:
                upper += 1
            else:
                lower += 1
    return np.array([root(run) for run in range(len(roots))], dtype=np.int64)
