"""The probability that a pattern is on a line: the sum over all readings of the line that contain it.

Shapes, everywhere in this file: L lines of a page; Q states of an automaton.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.base.native import native
from drethtr.search.automaton import Automaton
from drethtr.search.packed import VALUES, PackedLines

Masses: TypeAlias = NDArray[np.float64]
Step: TypeAlias = tuple[bool, NDArray[np.int64], Masses]
"""Whether blanks precede the step, its tokens, and their probabilities."""

FAINTEST = 1e-10
"""States with a lower probability are dropped: a hundred of them together make no hit."""

MIN_PROBABILITY = 1e-8
"""Lines with a lower probability are not hits. It is low because the calibration sums over all lines: a million lines
below it add up to a hundredth of a hit at most."""


def probabilities(pages: Sequence[PackedLines], automaton: Automaton) -> Masses:
    """(L, 2) probabilities that a pattern is on each line of some pages, and that it continues on the next line.

    Raises:
        DataError: if the lines are damaged.
    """
    classes = [automaton.classes_of(lines.texts) for lines in pages]
    if native is None:
        none = np.empty((0, 2))
        every = zip(pages, classes, strict=True)
        return np.concatenate([none, *(probabilities_in_python(lines, automaton, known) for lines, known in every)])
    found = np.empty((sum(map(len, pages)), 2))
    try:
        native.word_on_pages(
            [lines.content for lines in pages],
            classes,
            *automaton.known(),
            automaton.breaks,
            VALUES,
            automaton.pieces,
            automaton.found,
            automaton.dead,
            FAINTEST,
            MIN_PROBABILITY,
            found,
        )
    except ValueError as error:
        raise DataError("posteriors are damaged") from error
    return found


def probabilities_in_python(lines: PackedLines, automaton: Automaton, classes: bytes) -> Masses:
    """(L, 2) the definition of `probabilities`, for one page."""
    after = automaton.classes.astype(np.int64)[list(classes)] if classes else np.empty((0, automaton.states), np.int64)
    steps = list(steps_of(lines))
    start = np.zeros(automaton.states)
    start[0] = 1
    found = np.zeros((len(lines), 2))
    for number, line in enumerate(steps):
        ends = at_end(line, after, start, automaton)
        found[number, 0] = ends[automaton.found]
        ends[[automaton.found, automaton.dead]] = 0  # so that no reading counts on this line and again on the next
        if number + 1 < len(steps) and ends.sum() > FAINTEST:
            found[number, 1] = at_end(steps[number + 1], after, ends, automaton)[automaton.found]
    return np.where(found < MIN_PROBABILITY, 0.0, found)


def at_end(line: list[Step], after: NDArray[np.int64], start: Masses, automaton: Automaton) -> Masses:
    """(Q,) the probability of each state after the line and its end, from those before it."""
    ends = np.zeros(automaton.states)
    np.add.at(ends, automaton.breaks, walk(line, after, start))
    return ends


def walk(line: list[Step], after: NDArray[np.int64], start: Masses) -> Masses:
    """(Q,) the probability of each state after the last letter of a line.

    A step repeats the token of the previous step, or continues with another one; after a blank, also with the same one.
    """
    # CTC: the probability of each state is kept separately by last token, since a repeated token is the same letter.
    blank = start.copy()
    inside: dict[int, Masses] = {}  # by the token of the previous step
    for apart, tokens, chances in line:
        if apart:  # steps that are certainly blank were not stored; after them, a token is a new letter
            blank, inside = blank + sum(inside.values()), {}
        total = blank + sum(inside.values())
        total[total < FAINTEST] = 0
        now = {}
        for token, chance in zip(tokens.tolist(), chances.tolist(), strict=True):
            stays = inside.get(token, np.zeros(len(start)))
            stays = np.where(total > 0, stays, 0)
            now[token] = chance * stays  # the same letter continues
            np.add.at(now[token], after[token], chance * (total - stays))  # a new letter: the automaton moves
        # The rest of the probability is the blank's; it includes tokens that were too unlikely to be stored.
        blank, inside = max(1 - float(chances.sum()), 0) * total, now
    end: Masses = blank + sum(inside.values())
    return end


def steps_of(lines: PackedLines) -> Iterator[list[Step]]:
    """The steps of each line."""
    firsts = np.concatenate([[0], np.cumsum(lines.counts, dtype=np.int64)])
    tokens, levels = lines.unpacked
    chances, gaps = VALUES[levels], lines.gaps
    for begin, end in pairwise(np.concatenate([[0], np.cumsum(lines.sizes, dtype=np.int64)]).tolist()):
        yield [
            (
                bool(gaps[step] > 1),
                tokens[firsts[step] : firsts[step + 1]],
                chances[firsts[step] : firsts[step + 1]],
            )
            for step in range(begin, end)
        ]
