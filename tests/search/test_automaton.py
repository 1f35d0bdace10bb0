"""The law of an automaton: on any text it finds what comparing the text word by word finds."""

import re
from fnmatch import fnmatchcase
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import ConfigError
from drethtr.search.automaton import automaton_of
from drethtr.search.query import Spelling, pattern_of

LETTERS = "abc"
WORDS = st.text(LETTERS, min_size=1, max_size=7)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from([" ", ", ", " – ", "1"])), max_size=9).map("".join)
STRICT = Spelling(strict=True)


def finds(pattern, text):
    """Whether the automaton of a pattern finds it on a line of its own."""
    automaton = automaton_of(pattern_of(pattern, STRICT), STRICT)
    return automaton.after(f"{text} ") == automaton.found


def words_of(text):
    return re.findall(r"[^\W_]+", text)


@settings(max_examples=50)
@given(st.text("abc?*", min_size=1, max_size=6).filter(lambda word: set(word) & set(LETTERS)), TEXTS)
def test_wildcards_match_as_in_file_names(word, text):
    assert finds(word, text) == any(fnmatchcase(other, word) for other in words_of(text))


@settings(max_examples=50)
@given(st.text(LETTERS, min_size=3, max_size=6), TEXTS)
def test_a_tilde_allows_one_edit(word, text):
    assert finds(f"{word}~", text) == any(Levenshtein.distance(word, other) <= 1 for other in words_of(text))


@settings(max_examples=50)
@given(WORDS, WORDS, TEXTS)
def test_a_phrase_is_found_in_consecutive_words(first, second, text):
    assert finds(f"{first} {second}", text) == ((first, second) in pairwise(words_of(text)))


@settings(max_examples=50)
@given(st.text(LETTERS, min_size=3, max_size=5), WORDS)
def test_one_edit_can_be_anywhere_in_a_word(word, letter):
    edited = {word[:place] + letter[0] + word[place:] for place in range(len(word) + 1)}
    edited |= {word[:place] + letter[0] + word[place + 1 :] for place in range(len(word))}
    edited |= {word[:place] + word[place + 1 :] for place in range(len(word))}
    automaton = automaton_of(pattern_of(f"{word}~", STRICT), STRICT)
    assert all(automaton.after(f"{other} ") == automaton.found for other in edited)


@pytest.mark.parametrize(("line", "rest", "found"), [("ab-", "ca", True), ("ab", "ca", False), ("ab-c", "a", False)])
def test_a_word_goes_on_after_a_hyphen_on_the_rest_only(line, rest, found):
    automaton = automaton_of(pattern_of("abca", STRICT), STRICT)
    state = int(automaton.breaks[automaton.after(line)])
    assert (automaton.after(f"{rest} ", state) == automaton.found) is found


def test_once_found_it_stays_found_and_dead_stays_dead():
    automaton = automaton_of(pattern_of("ab", STRICT), STRICT)
    for state in (automaton.found, automaton.dead):
        assert automaton.after("ab x-y", state) == state


def test_a_phrase_that_tells_too_many_tokens_apart_is_refused():
    text = "it is a truth universally acknowledged that a single man in possession of a good fortune"
    automaton = automaton_of(pattern_of(text, STRICT), STRICT)
    tokens = [text[begin : begin + length] for length in range(1, 7) for begin in range(len(text) - length)]
    with pytest.raises(ConfigError, match="too long for the tokens of this model"):
        automaton.classes_of(tokens)
    assert max(automaton.classes_of(list(text))) < len(automaton.classes) == 256
