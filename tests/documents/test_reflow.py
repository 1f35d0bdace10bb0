"""Running text from lines."""

import pytest

from drethtr.documents import TextLine, Transcription
from drethtr.documents.points import Box
from drethtr.documents.reflow import joined, paragraphs, runs


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["Thurs-", "day at", "six."], "Thursday at six."),
        (["Haupt¬", "mann"], "Hauptmann"),
        (["Anne-", "Marie"], "Anne- Marie"),
        (["he said -", "and went"], "he said - and went"),
        (["", " a ", ""], "a"),
        ([], ""),
    ],
)
def test_hyphenated_words_are_joined_and_others_are_not(lines, text):
    assert joined(lines) == text


def test_raised_letters():
    assert [(run.text, run.raised) for run in runs("M^me d^r.") if run.text] == [
        ("M", False), ("me", True), (" d", False), ("r", True), (".", False)
    ]  # fmt: skip


def line(number, text, left, right):
    return TextLine(f"l{number}", Box(left, 40 * number, right, 40 * number + 30).polygon(), None, Transcription(text))


def test_a_paragraph_ends_early_or_the_next_one_is_indented():
    lines = [
        line(0, "My dear Anne,", 50, 300),
        line(1, "your parcel arrived", 50, 800),
        line(2, "on Thursday and", 50, 790),
        line(3, "so I shall", 50, 800),
        line(4, "Do write", 120, 800),
        line(5, "soon", 50, 200),
    ]
    assert [[one.text for one in part] for part in paragraphs(lines)] == [
        ["My dear Anne,"],
        ["your parcel arrived", "on Thursday and", "so I shall"],
        ["Do write", "soon"],
    ]
    unplaced = [TextLine("a", transcription=Transcription("a")), TextLine("b")]
    assert list(paragraphs(unplaced)) == [unplaced] and list(paragraphs([])) == []
