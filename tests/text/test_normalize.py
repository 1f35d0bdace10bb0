"""Marks of editors are told from text that is on the page."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drethtr.text.normalize import TAGS, fold_spaces, for_scoring, marks_in, nfc, visible


def test_an_accent_becomes_part_of_its_letter():
    assert nfc("u\u0308ber") == "über"


def test_white_space_of_every_kind_is_folded():
    assert fold_spaces("\ta\u00a0 b\r\n") == "a b"


def test_case_punctuation_and_look_alikes_stay():
    assert for_scoring("Ab ,  c. — ſ’") == "Ab , c. — ſ’"
    assert for_scoring("u\u0308") == "ü"


INVISIBLE = "\u200b\u00ad\ufeff\u200e\u200f\u202a\u202c\u2060\u2066\u2069\u061c\U000e0041"


@given(st.lists(st.sampled_from(["a", "é", "-", " ", "1", *INVISIBLE])), st.sampled_from("az."))
def test_what_nobody_sees_does_not_count(parts, last):
    text = "".join(parts) + last
    seen = "".join(part for part in parts if part not in INVISIBLE) + last
    assert visible(text) == seen and for_scoring(text) == for_scoring(seen)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Whit\u00ad\nby", "Whit-\nby"),
        ("Whit\u00ad", "Whit-"),
        ("Whit-\u00ad \r\nby", "Whit- \r\nby"),
        ("Whit\u00ad\u200b", "Whit-"),
        ("Whit\u00adby", "Whitby"),
    ],
)
def test_a_soft_hyphen_is_a_hyphen_at_the_end_of_a_line(text, seen):
    assert visible(text) == seen


def test_joiners_stay_where_a_script_needs_them():
    assert visible("می\u200cخواهم क\u094d\u200dष") == "می\u200cخواهم क\u094d\u200dष"
    assert visible("a\u200cb\u200d") == "ab"


def test_signs_of_numbers_and_verses_are_seen():
    assert visible("\u06dd\u0600") == "\u06dd\u0600"


def test_only_format_characters_are_left_out():
    others = "".join(
        map(chr, (n for n in range(0, sys.maxunicode, 7) if unicodedata.category(chr(n)) not in ("Cf", "Cs")))
    )
    assert visible(others) == others


@given(st.text())
def test_scoring_form_is_final(text):
    assert for_scoring(for_scoring(text)) == for_scoring(text)


MARKS = ["[...]", "[…]", "[?]", "[ ]", "[---]", "[Smith?]", "(?)", "###", "<unk>", "<del>", "</del>", "<gap/>"]
MARKS += ["[unclear]", "[gap: 3 words]", "[!omitted here]", "[Illegible]", '<unclear reason="ink">', "[sic]"]
PLAIN = ["a", "[and]", "(or)", "No. #3", "3 < 4 > 2", "why?", "...", "[1905]", "x-y", "§ 4", "& Co.", "—", "<3"]


@pytest.mark.parametrize("text", PLAIN)
def test_what_may_be_on_the_page_is_no_mark(text):
    assert marks_in(text) == []


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PLAIN)), st.sampled_from(MARKS), st.lists(st.sampled_from(PLAIN)))
def test_a_mark_is_found_wherever_it_stands(before, mark, after):
    assert marks_in(" ".join([*before, mark, *after])) == [mark]


def test_tags_count_if_the_text_under_them_is_not_certain():
    assert marks_in("a", ["person", "gap", "unclear"]) == ["gap", "unclear"]
    assert all(marks_in("", [tag]) == [tag] for tag in TAGS)
