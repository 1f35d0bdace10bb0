"""The law: the probability of a pattern is the sum over all readings that have it, few enough to list here."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drethtr.recognition.posteriors import Posteriors
from drethtr.search.automaton import automaton_of
from drethtr.search.forward import probabilities, probabilities_in_python
from drethtr.search.packed import VALUES, PackedLines
from drethtr.search.query import Spelling, pattern_of

TEXTS = ("a", "b", "e", "é", "œ", "\u0303", " ", "-")
FOLDED = {"é": "e", "œ": "oe", "\u0303": ""}


def packed(lines):
    """Lines of steps, each of them (gap, {text: level})."""
    found = []
    for steps in lines:
        numbers = np.cumsum([gap for gap, _ in steps], dtype=np.int64) - 1
        entries = [sorted((TEXTS.index(text), level) for text, level in of_step.items()) for _, of_step in steps]
        firsts = np.cumsum([0, *map(len, entries)])
        flat = np.array([pair for of_step in entries for pair in of_step], dtype=np.int64).reshape(-1, 2)
        found.append(Posteriors(TEXTS, numbers, firsts, flat[:, 0], VALUES[flat[:, 1]], 4.0))
    return PackedLines.of(found)


def readings(lines, number):
    """Every reading of a line with its probability: all paths, listed."""
    line = lines.line(number)
    before, steps = -1, []
    for step in range(line.steps):
        if line.numbers[step] > before + 1:
            steps.append([("", 1.0)])
        before = line.numbers[step]
        entries = range(line.firsts[step], line.firsts[step + 1])
        some = [(line.texts[line.tokens[entry]], line.probabilities[entry]) for entry in entries]
        steps.append([*some, ("", max(1 - sum(chance for _, chance in some), 0.0))])
    for path in product(*steps):
        tokens = [token for token, _ in path]
        text = "".join(t for t, last in zip(tokens, ["", *tokens], strict=False) if t and t != last)
        yield text, float(np.prod([chance for _, chance in path]))


def by_listing(lines, pattern):
    """What `probabilities` must say; `pattern` is a regular expression of the folded text of two lines."""
    fold = str.maketrans(FOLDED)
    expression = re.compile(pattern)
    found = np.zeros((len(lines), 2))
    for number in range(len(lines)):
        others = list(readings(lines, number + 1)) if number + 1 < len(lines) else [("", 1.0)]
        for text, chance in readings(lines, number):
            text = text.translate(fold)
            if expression.search(text):
                found[number, 0] += chance
                continue
            for other, of_other in others if number + 1 < len(lines) else ():
                matches = expression.finditer(f"{text}\n{other.translate(fold)}")
                found[number, 1] += chance * of_other * any(match.start() <= len(text) for match in matches)
    return found


A, E = r"(?<![a-z])", r"(?![a-z])"
GAP = r"[ -]*\n?[ -]*"
CASES = {
    "ab": rf"{A}a(-[ -]*\n[ -]*)?b{E}",
    "aé": rf"{A}a(-[ -]*\n[ -]*)?e{E}",
    "œ": rf"{A}o(-[ -]*\n[ -]*)?e{E}",
    "a?": rf"{A}a(-[ -]*\n[ -]*)?[a-z]{E}",
    "?b": rf"{A}[a-z](-[ -]*\n[ -]*)?b{E}",
    "a*": rf"{A}a[a-z]*{E}",
    "*b": rf"{A}([a-z]+-[ -]*\n[ -]*)?[a-z]*b{E}",
    "a b": rf"{A}a(?:[ -]+|[ -]*\n[ -]*)b{E}",
}


@st.composite
def pages(draw, most_steps=4):
    """One or two lines of few steps, sharp or flat, with and without blanks between them."""
    chances = st.sampled_from([0, 1, 8, 14, 17, 20, 26, 31])
    step = st.tuples(
        st.integers(1, 2),
        st.dictionaries(st.sampled_from(TEXTS), chances, max_size=3).map(thinned),
    )
    return packed(draw(st.lists(st.lists(step, max_size=most_steps), min_size=1, max_size=2)))


def thinned(step):
    """A step whose probabilities are at most 1 together."""
    kept, left = {}, 1.0
    for text, level in step.items():
        if VALUES[level] <= left + 1e-12:
            kept[text] = level
            left -= VALUES[level]
    return kept


@pytest.mark.parametrize("text", CASES)
@settings(max_examples=60, deadline=None)
@given(lines=pages())
def test_it_is_the_sum_over_all_readings(text, lines):
    spelling = Spelling()
    automaton = automaton_of(pattern_of(text, spelling), spelling)
    expected = by_listing(lines, CASES[text])
    for found in (
        probabilities([lines], automaton),
        probabilities_in_python(lines, automaton, automaton.classes_of(lines.texts)),
    ):
        assert found == pytest.approx(expected, abs=2e-8)
