"""Marks of editors are told from text that is on the page."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drethtr.text.marks import TAGS, marks_in

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
