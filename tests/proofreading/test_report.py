"""The report of a check: its order, its bounds, and what it shows of strangers' texts."""

import numpy as np
import pytest

from drethtr.documents.points import Box
from drethtr.proofreading import report
from drethtr.proofreading.check import CheckedWord, Kind, TextCheck
from drethtr.proofreading.proof import ProofLine, ProofWord, on_no_line
from drethtr.proofreading.report import ranked, summary, write_report


def line(name, *words):
    """The proof of a line; each word has a text, a probability and a kind, and a box 10 pixels wide."""
    checked = [
        CheckedWord(text, p, kind, "", 10.0 * place, 10.0 * place + 10, "" if kind is Kind.SUPPORTED else "why not")
        for place, (text, p, kind) in enumerate(words)
    ]
    polygons = [Box(10 * place, 0, 10 * place + 10, 20).polygon() for place in range(len(words))]
    text = " ".join(word.text for word in checked if word.text)
    return ProofLine(
        "page.jpg", name, TextCheck(text, tuple(checked), 0.5, ""), tuple(map(ProofWord, checked, polygons))
    )


LINES = [
    line("l1", ("right", 0.99, Kind.SUPPORTED), ("wrong", 0.3, Kind.UNSUPPORTED)),
    line("l2", ("", 0.1, Kind.OMITTED), ("<b>", 0.2, Kind.INVENTED)),
    on_no_line("two words"),
]


def test_the_least_likely_words_come_first():
    assert [(number, word.checked.text) for number, word in ranked(LINES)] == [
        (2, "two words"), (1, ""), (1, "<b>"), (0, "wrong"),
    ]  # fmt: skip


def test_the_summary_counts_words_of_the_text_and_doubts():
    assert summary(LINES) == "5 words, 2 lines: 1 unsupported, 3 invented, 1 omitted"
    assert summary(LINES[:1]) == "2 words, 1 line: 1 unsupported"
    assert summary([]) == "0 words, 0 lines: no doubtful word"


def test_texts_are_shown_and_never_run():
    html = write_report(LINES, {0: (np.full((20, 40), 255, np.uint8), Box(0, 0, 40, 20))}, "a < b", "me & you")
    assert "<b>" not in html.replace("<b>0.", "") and "&lt;b&gt;" in html
    assert "a &lt; b" in html and "me &amp; you" in html
    assert html.count("data:image/jpeg;base64") == 1 and "left:25.00%" in html and "width:25.00%" in html
    assert "<mark>…</mark>" in html, "a missing word is marked where it is missing"


def test_a_long_report_says_that_it_is_cut(monkeypatch):
    monkeypatch.setattr(report, "SHOWN", 2)
    html = write_report(LINES, {}, "title", "me")
    assert "The first 2 of 4 are shown." in html and html.count("<li>") == 2
    assert report.doubted(LINES) == [1, 2]


@pytest.mark.parametrize("edge", [(0, 0, 10, 20), (30, 0, 40, 20)])
def test_a_frame_lies_on_its_strip(edge):
    word = ProofWord(CheckedWord("x", 0.1, Kind.UNSUPPORTED, "", 0, 1, "why"), Box(*edge).polygon())
    framed = report.picture(word, (np.full((20, 40), 255, np.uint8), Box(0, 0, 40, 20)))
    assert f"left:{edge[0] / 40:.2%}" in framed and report.picture(word, None) == ""
