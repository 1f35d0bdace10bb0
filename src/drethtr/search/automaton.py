"""The automaton of a pattern: it reads the letters of a line and finds whether the pattern occurs as whole words.

It is deterministic, so each reading of a line counts once. The states of a plain word of n letters are: boundary; k
letters read; other word; found. A line break is a separate letter, which ends a word, or continues it after a hyphen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.search.query import ANY, HYPHENS, STAR, Item, Pattern, Query, Spelling, WordPattern, is_letter

MAX_STATES = 4096
"""Maximum states of an automaton; a pattern that needs more is refused. Wildcards and edits multiply the states of a
deterministic automaton, and the table of a query has a row of them for each kind of letter."""

MAX_STEPS = 1 << 18
"""Maximum steps from positions that the automata of a query take to build, a second of preparation: seven times as many
as for twenty long words with a wildcard each."""

MAX_CLASSES = 256
"""Maximum classes of tokens, whose numbers are bytes; long tokens and a long phrase may need more."""

OTHER, BOUNDARY, HYPHEN, BREAK = range(4)
"""Kinds of input: a letter that is not in the pattern, signs and spaces, hyphens, the end of a line. The letters of the
pattern follow."""
KINDS = 4

MARK, PAIR, OPEN, SEVERAL, BROKEN = range(251, 256)
"""Codes for `base/compiled/pages.c`: tokens without a letter, tokens of two letters, wildcard letters, longer tokens,
and hyphens."""


class Position(NamedTuple):
    """A position in the pattern: words before it, letters of its word before it, edits made in the word.

    begun   whether a letter of the word was read
    hyphen  0 inside a word, 1 after its hyphen, 2 on the next line
    """

    word: int
    letter: int
    edits: int
    begun: bool = False
    hyphen: int = 0


START = Position(0, 0, 0)
FOUND = Position(-1, 0, 0)
AGAIN = Position(-2, 0, 0)
"""Present as long as a new word may begin the pattern: up to the end of the line."""

Positions: TypeAlias = frozenset[Position]


@dataclass(eq=False)
class Automaton:
    """A deterministic automaton with Q states; state 0 is the beginning of a line.

    table    (kinds, Q) the state after each kind of letter, without `BREAK`
    breaks   (Q,) the state after the end of the line, from which the pattern must continue
    found    the final state once the pattern was found
    dead     the state from which it cannot be found
    classes  (C, Q) the state after each class of tokens; classes are added as tokens appear
    reads    the code in `base/compiled/pages.c` for each class
    """

    pattern: Pattern
    spelling: Spelling
    kinds: dict[str, int]
    table: NDArray[np.uint16]
    breaks: NDArray[np.uint16]
    found: int
    dead: int
    classes: NDArray[np.uint16] = field(init=False)
    reads: bytes = bytes([MARK])
    class_of: dict[str, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.classes = np.arange(self.states, dtype=np.uint16)[None]

    @property
    def states(self) -> int:
        """The number of states, Q."""
        return len(self.breaks)

    def kind(self, symbol: str) -> int:
        """The kind of a folded letter or sign."""
        if is_letter(symbol):
            return self.kinds.get(symbol, OTHER)
        return HYPHEN if symbol in HYPHENS else BOUNDARY

    def classes_of(self, texts: Sequence[str]) -> bytes:
        """The class of each token; new classes are added. Tokens of a class lead from each state to the same state.

        Raises:
            ConfigError: if there are too many.
        """
        try:
            return bytes(map(self.class_of.__getitem__, texts))
        except KeyError:
            with self.lock:
                for text in texts:
                    if text not in self.class_of:
                        self.classify(text)
            return bytes(map(self.class_of.__getitem__, texts))

    def known(self) -> tuple[NDArray[np.uint16], bytes]:
        """`classes` and `reads`, safe while other threads add to them."""
        with self.lock:
            return self.classes, self.reads

    def classify(self, text: str) -> None:
        """Find the class of a token, or add one for it."""
        fold = self.spelling.fold(text)
        after = np.arange(self.states, dtype=np.uint16)
        for symbol in fold:
            after = self.table[self.kind(symbol), after]
        # Two tokens share a class only if the bound in `base/compiled/pages.c` also treats them alike.
        reads = self.code_of([self.kind(symbol) for symbol in fold])
        alike = np.flatnonzero((self.classes == after).all(1) & (np.frombuffer(self.reads, np.uint8) == reads))
        if not len(alike):
            if len(self.classes) == MAX_CLASSES:
                raise ConfigError(
                    f"{self.pattern.text[:30]!r}… is too long for the tokens of this model; use fewer words"
                )
            self.classes = np.vstack([self.classes, after])
            self.reads += bytes([reads])
        self.class_of[text] = int(alike[0]) if len(alike) else len(self.classes) - 1

    def code_of(self, kinds: list[int]) -> int:
        """The code of a token in `base/compiled/pages.c`, from the kinds of its letters and signs."""
        if set(kinds) <= {BOUNDARY}:
            return BOUNDARY if kinds else MARK
        if len(kinds) == 1:
            return BROKEN if kinds == [HYPHEN] else kinds[0]
        return PAIR if len(kinds) == 2 and not {BOUNDARY, HYPHEN} & set(kinds) else SEVERAL

    @cached_property
    def pieces(self) -> bytes:
        """Runs of letters at the beginning of the pattern, by which `base/compiled/pages.c` skips lines.

        A line with the pattern has one of the pieces, or begins one before a hyphen; without pieces, no line is
        skipped. A piece is its number of letters, whether others may precede and follow in the word, and their kinds.
        """
        found = [
            bytes([len(items), begin, end, *(OPEN if item == ANY else self.kinds[item] for item in items)])
            for items, begin, end in pieces_of(self.pattern.words[0])
        ]
        return b"".join(found) if all(piece[0] for piece in found) else b""

    def after(self, text: str, state: int = 0) -> int:
        """The state after a text of one line."""
        for symbol in self.spelling.fold(text):
            state = int(self.table[self.kind(symbol), state])
        return state


class Effort:
    """The remaining steps for building the automata of a query."""

    def __init__(self) -> None:
        self.left = MAX_STEPS


def automatons_of(query: Query) -> list[Automaton]:
    """The automata of the terms of a query.

    Raises:
        ConfigError: if they need too many states or steps.
    """
    effort = Effort()
    return [automaton_of(term.pattern, query.spelling, effort) for term in query.terms]


def automaton_of(pattern: Pattern, spelling: Spelling, effort: Effort | None = None) -> Automaton:
    """The automaton of a pattern.

    Raises:
        ConfigError: if it needs too many states, or more steps than are left.
    """
    kinds = {letter: KINDS + place for place, letter in enumerate(sorted(set(pattern.letters)))}
    effort = effort or Effort()
    steps = Steps(pattern, {kind: letter for letter, kind in kinds.items()})
    first = steps.closure({AGAIN, START})
    # Subset construction: a state of the automaton is the set of all positions at which the pattern may be. So every
    # reading of a line takes exactly one path, and the probabilities of readings can be summed.
    numbers: dict[Positions, int] = {first: 0, frozenset({FOUND}): 1, frozenset(): 2}
    order = list(numbers)
    inside = (*range(BREAK), *kinds.values())
    rows: list[list[int]] = []
    breaks: list[int] = []
    for state in order:  # `states` grows in the loop
        effort.left -= len(state) * (len(inside) + 1)
        if len(order) > MAX_STATES or effort.left < 0:
            raise ConfigError(f"{pattern.text[:30]!r}… needs too many states; use fewer ? and *, or no ~ with them")
        rows.append([number_of(steps.after(state, kind), numbers, order) for kind in inside])
        behind = steps.after(state, BREAK)
        # A position after a line break has lost `AGAIN`: the pattern may end on the next line, but not on the one after
        # it, which `forward.probabilities` never looks at.
        goes_on = AGAIN in state or FOUND in behind
        breaks.append(number_of(behind if goes_on else frozenset(), numbers, order))
    table = np.zeros((KINDS + len(kinds), len(order)), dtype=np.uint16)
    table[list(inside)] = np.array(rows, dtype=np.uint16).T
    return Automaton(pattern, spelling, kinds, table, np.array(breaks, dtype=np.uint16), found=1, dead=2)


class WordPiece(NamedTuple):
    """Items next to each other in a word, and whether the word may extend before and after them."""

    items: tuple[Item, ...]
    before: bool
    after: bool


def pieces_of(word: WordPattern) -> list[WordPiece]:
    """Pieces of which a matching word contains at least one unchanged."""
    if not word.edits:
        return [without_stars(WordPiece(word.items, False, False))]
    middle = len(word.items) // 2  # one edit leaves one of two halves unchanged
    halves = WordPiece(word.items[:middle], False, True), WordPiece(word.items[middle:], True, False)
    return list(map(without_stars, halves))


def without_stars(piece: WordPiece) -> WordPiece:
    """The longest piece of a piece that has no star."""
    items, begin, end = piece
    stars = [-1, *(place for place, item in enumerate(items) if item == STAR), len(items)]
    parts = (
        WordPiece(items[before + 1 : after], begin or before >= 0, end or after < len(items))
        for before, after in pairwise(stars)
    )
    return max(parts, key=lambda part: len(part.items))


def number_of(state: Positions, numbers: dict[Positions, int], order: list[Positions]) -> int:
    """The number of a state; a new state gets the next number."""
    if state not in numbers:
        numbers[state] = len(order)
        order.append(state)
    return numbers[state]


class Steps:
    """The transitions between positions of a pattern; `letters` are those of each kind."""

    def __init__(self, pattern: Pattern, letters: dict[int, str]) -> None:
        self.words = pattern.words
        self.letters = letters

    def after(self, positions: Positions, kind: int) -> Positions:
        """The positions after one more letter."""
        return self.closure({after for before in positions for after in self.from_position(before, kind)})

    def closure(self, positions: set[Position]) -> Positions:
        """The positions, and those reached without a letter: after a star, and after a deleted letter."""
        if FOUND in positions:
            return frozenset({FOUND})  # the pattern was found, whatever else follows: one state instead of many
        waiting = list(positions)
        while waiting:
            position = waiting.pop()
            if position in (AGAIN, FOUND) or position.letter == self.length(position):
                continue
            word = self.words[position.word]
            behind = position._replace(letter=position.letter + 1)
            if word.items[position.letter] != STAR:
                behind = behind._replace(edits=position.edits + 1)
            if behind.edits <= word.edits and behind not in positions:
                positions.add(behind)
                waiting.append(behind)
        return frozenset(positions)

    def length(self, position: Position) -> int:
        """Number of items of the word at a position."""
        return len(self.words[position.word].items)

    def from_position(self, position: Position, kind: int) -> Iterable[Position]:
        """The positions after one more letter, from a single position."""
        if position == FOUND:
            return (FOUND,)
        if position == AGAIN:
            # A word begins after a sign. None may begin after a line break, as the next line is searched by itself.
            return {BREAK: (), BOUNDARY: (AGAIN, START), HYPHEN: (AGAIN, START)}.get(kind, (AGAIN,))
        if kind in (BOUNDARY, HYPHEN, BREAK):
            return self.over_sign(position, kind)
        return () if position.hyphen == 1 else self.over_letter(position._replace(hyphen=0), kind)

    def over_letter(self, position: Position, kind: int) -> Iterable[Position]:
        """The positions after a letter: it matches, or is an insertion or a substitution."""
        position = position._replace(begun=True)
        word, behind = self.words[position.word], position._replace(letter=position.letter + 1)
        fits = False
        if position.letter < len(word.items):
            item = word.items[position.letter]
            fits = item in (ANY, STAR) or item == self.letters.get(kind)
            if fits:
                yield position if item == STAR else behind
            elif position.edits < word.edits:
                yield behind._replace(edits=position.edits + 1)  # a substitution
        if position.edits < word.edits:
            yield position._replace(edits=position.edits + 1)  # an insertion; deletions are in `closure`

    def over_sign(self, position: Position, kind: int) -> Iterable[Position]:
        """The positions after a separator of words, a hyphen or a line break.

        A word may be broken once: letters, a hyphen (1), signs, the end of the line (2), signs, letters.
        `from_position` refuses letters between the hyphen and the end of the line: there, the hyphen joins two words.
        """
        if position.hyphen:
            if kind != BREAK:
                yield position
            elif position.hyphen == 1:
                yield position._replace(hyphen=2)
            # At the second line break the word is dropped: hits span at most two lines.
        elif position.letter == self.length(position):  # the word is complete
            yield FOUND if position.word + 1 == len(self.words) else Position(position.word + 1, 0, 0)
        elif not position.begun and position.word > 0:  # any number of signs between the words of a phrase
            yield position
        elif position.begun and kind == HYPHEN:
            yield position._replace(hyphen=1)
