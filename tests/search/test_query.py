from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.errors import ConfigError
from drethtr.search.automaton import automaton_of, automatons_of
from drethtr.search.query import Spelling, parse, pattern_of


def stands(query, text, *, strict=False):
    """Whether a pattern stands in a text of one line."""
    spelling = Spelling(strict)
    automaton = automaton_of(pattern_of(query, spelling), spelling)
    return int(automaton.breaks[automaton.after(text)]) == automaton.found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Straße", "die STRASSE."),
        ("oeuvre", "l'œuvre"),
        ("vniuersel", "universel"),
        ("ami", "l'ami,"),
        ("Été", "en ete 1914"),
        ("1914", "en été 1914"),
        ("laſſen", "lassen"),
        ("pref*", "a prefix"),
        ("pref*", "pref"),
        ("*fix", "a prefix"),
        ("p*x", "a prefix"),
        ("c?t", "the cut"),
        ("~hundred", "hundert pfund hundrd"),
        ("~hundred", "hundredd"),
        ("dear sir", "My dear, Sir"),
        ("l'ami", "de l’ami"),
        ("no 5", "№ 5"),
        ("hun\u00addred\u200b", "hundred"),
    ],
)
def test_what_fits(query, text):
    assert stands(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cat", "concatenate"),
        ("cat", "cats"),
        ("c?t", "ct coat"),
        ("pref*", "a ref"),
        ("~hundred", "hunde"),
        ("dear sir", "dear old sir"),
        ("dear sir", "sir dear"),
        ("over", "o-ver"),
    ],
)
def test_what_does_not(query, text):
    assert not stands(query, text)


def test_strict_tells_spellings_apart():
    assert stands("Été", "un Été", strict=True) and not stands("été", "un Été", strict=True)
    assert not stands("universel", "vniversel", strict=True)
    assert stands("E\u0301te\u0301", "un Été", strict=True), "in whichever form it is typed"


def groups(text):
    return [[(term.pattern.text, term.wanted) for term in group] for group in parse(text).groups]


def test_or_binds_closer_than_and():
    assert groups('mill river OR "small brook" -dam') == [
        [("mill", True)],
        [("river", True), ("small brook", True)],
        [("dam", False)],
    ]
    assert groups("a AND b") == [[("a", True)], [("b", True)]] == groups("a - b")


@pytest.mark.parametrize(
    "text", ['"dear sir" x', "“dear sir” x", "„dear sir“ x", "«dear sir» x", "x “dear sir", '"dear sir”x']
)
def test_a_phrase_stands_between_quotation_marks_of_any_kind(text):
    assert sorted(groups(text)) == [[("dear sir", True)], [("x", True)]]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", '"', '""', "-", "*", "?", "~", "'';", "\0", "-not", "-a OR -b", "~ab"),
        *("a" * 10_000, "a" * 101, " ".join("ab" for _ in range(21)), "a*" * 50 + "b"),
    ],
)
def test_what_names_nothing_or_too_much_is_refused(text):
    with pytest.raises(ConfigError):
        parse(text)


def test_words_with_a_tilde_may_have_a_hundred_letters_together():
    assert len(parse("~abcdefghij " * 10).terms) == 10
    with pytest.raises(ConfigError, match="the words with ~ have 110 letters together"):
        parse("~abcdefghij " * 11)


@pytest.mark.parametrize("text", ["~" + "a?" * 30 + "b", "*a*b*c*d*e*f*g*h*a*b*c*d*e*f*", "~" + "abcdefghij" * 9])
def test_wide_patterns_are_bounded(text):
    """They are built in a moment, or refused."""
    with suppress(ConfigError):
        assert automaton_of(pattern_of(text, Spelling()), Spelling()).states < 5000


@pytest.mark.parametrize("text", ["*a???????? " * 20, "~" + "a?b*" * 20, '"' + "~abc " * 25 + '"'])
def test_the_terms_of_a_query_take_no_more_than_a_second_together(text):
    with pytest.raises(ConfigError, match="use fewer"):
        automatons_of(parse(text))


def test_twenty_words_with_wildcards_can_be_searched_for():
    words = "*schaften ~gesellschaft harb* c?t inter*al ~wissenschaft"
    assert len(automatons_of(parse(f"{words} {words} {words}"))) == 18


@given(st.text(max_size=60))
def test_any_text_is_a_query_or_refused(text):
    try:
        query = parse(text)
    except ConfigError:
        return
    assert all(term.pattern.letters for term in query.terms)
