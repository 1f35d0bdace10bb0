"""Locate a pattern on a line: the likeliest reading of the line that contains it, and the place of its letters."""

from typing import NamedTuple, TypeAlias

from drethtr.recognition.posteriors import Posteriors
from drethtr.search.automaton import Automaton
from drethtr.search.forward import FAINTEST
from drethtr.search.spelling import is_letter

AROUND = 30
"""Characters of a snippet before and after the match."""

OPEN, CLOSE, LEFT_OUT = "[", "]", "…"


class Letter(NamedTuple):
    """A token of a reading, at the first step where it is read."""

    text: str
    step: int


class Node(NamedTuple):
    """A letter and those before it."""

    letter: Letter
    before: "Node | None"


Hypotheses: TypeAlias = dict[tuple[int, int], tuple[float, Node | None]]
"""The likeliest reading by state and last token, -1 for a blank."""

BLANK = -1


class Location(NamedTuple):
    """A match on a line: its columns in pixels, and the text there and around it."""

    left: float
    right: float
    snippet: str


def locate(line: Posteriors, automaton: Automaton, *, over: bool = False) -> Location | None:
    """Find a pattern on a line; with `over`, the part of it before the line break. None if that is impossible."""
    letters = likeliest(line, automaton, over=over)
    for first in reversed(range(len(letters))):
        begins = first == 0 or not is_letter(letters[first - 1].text[-1])
        if begins and is_letter(letters[first].text[0]):
            last = end_of(letters, first, automaton, over=over)
            if last is not None:
                return Location(*columns(letters, first, last, line), snippet(letters, first, last))
    return None


def likeliest(line: Posteriors, automaton: Automaton, *, over: bool) -> list[Letter]:
    """The likeliest reading that contains the pattern; empty if there is none."""
    classes = automaton.classes_of(line.texts)
    after = [automaton.classes[number].tolist() for number in classes]
    alive: Hypotheses = {(0, BLANK): (1.0, None)}
    before = -1
    for step in range(line.steps):
        number = int(line.numbers[step])
        if number > before + 1:
            alive = in_blank(alive)
        before = number
        entries = slice(int(line.firsts[step]), int(line.firsts[step + 1]))
        chances = dict(zip(line.tokens[entries].tolist(), line.probabilities[entries].tolist(), strict=True))
        rest = max(1 - sum(chances.values()), 0.0)
        grown: Hypotheses = {}
        for (state, last), (mass, node) in alive.items():
            keep(grown, (state, BLANK), mass * rest, node)
            for token, chance in chances.items():
                if token == last:
                    keep(grown, (state, token), mass * chance, node)
                else:
                    longer = Node(Letter(line.texts[token], number), node)
                    keep(grown, (after[token][state], token), mass * chance, longer)
        alive = grown
    ends = [(mass, node) for (state, _), (mass, node) in alive.items() if fits(automaton, state, over=over)]
    node = max(ends, key=lambda end: end[0], default=(0.0, None))[1]
    letters = []
    while node is not None:
        letters.append(node.letter)
        node = node.before
    return letters[::-1]


def in_blank(alive: Hypotheses) -> Hypotheses:
    """The readings after a blank."""
    found: Hypotheses = {}
    for (state, _), (mass, node) in alive.items():
        keep(found, (state, BLANK), mass, node)
    return found


def keep(found: Hypotheses, key: tuple[int, int], mass: float, node: Node | None) -> None:
    """Keep a reading if it is the likeliest of its kind, and not too faint."""
    if mass > FAINTEST and (key not in found or found[key][0] < mass):
        found[key] = (mass, node)


def fits(automaton: Automaton, state: int, *, over: bool) -> bool:
    """Whether the pattern is on a line that ended in this state, or continues after its end."""
    behind = int(automaton.breaks[state])
    return behind not in (automaton.found, automaton.dead) if over else behind == automaton.found


def end_of(letters: list[Letter], first: int, automaton: Automaton, *, over: bool) -> int | None:
    """The last letter of a match that begins at `first`; None if there is none."""
    state = 0
    last = first
    for place in range(first, len(letters)):
        state = automaton.after(letters[place].text, state)
        if state == automaton.found:
            return None if over else last
        if is_letter(letters[place].text[-1]):
            last = place
    return last if fits(automaton, state, over=over) else None


def columns(letters: list[Letter], first: int, last: int, line: Posteriors) -> tuple[float, float]:
    """The columns from the first to the last letter, up to halfway to the neighbors."""
    steps = [letter.step + 0.5 for letter in letters]
    usual = (steps[-1] - steps[0]) / max(len(steps) - 1, 1) or 2.0
    left = (steps[first - 1] + steps[first]) / 2 if first else steps[first] - usual / 2
    right = (steps[last] + steps[last + 1]) / 2 if last + 1 < len(steps) else steps[last] + usual / 2
    return max(max(left, steps[first] - usual) * line.step, 0.0), min(right, steps[last] + usual) * line.step


def snippet(letters: list[Letter], first: int, last: int) -> str:
    """The text around the match, which is in brackets."""
    before, inside, behind = (
        "".join(letter.text for letter in some)
        for some in (letters[:first], letters[first : last + 1], letters[last + 1 :])
    )
    before = before if len(before) <= AROUND else LEFT_OUT + before[-AROUND:]
    behind = behind if len(behind) <= AROUND else behind[:AROUND] + LEFT_OUT
    return f"{before}{OPEN}{inside}{CLOSE}{behind}"
