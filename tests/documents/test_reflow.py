"""Running text from lines."""

from dataclasses import replace
from io import BytesIO
from itertools import permutations
from zipfile import ZipFile

import pytest
from growth import steps
from page_examples import document_of, register_page

from drethtr.documents import FORMATS, Page, Region, TextLine, Transcription
from drethtr.documents.document import About
from drethtr.documents.points import Box
from drethtr.documents.reflow import joined, paragraphs, reading_blocks, runs
from drethtr.documents.transcription import PageWord


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["Thurs-", "day at", "six."], "Thursday at six."),
        (["Haupt¬", "mann"], "Hauptmann"),
        (["Haupt\u2010", "mann"], "Hauptmann"),
        (["com\u0303-", "mune"], "com\u0303mune"),
        (["\u0303-", "mune"], "\u0303- mune"),
        (["ap-", "-probieren."], "approbieren."),
        (["Satisfacti¬", "¬on das"], "Satisfaction das"),
        (["ap-", "- probieren"], "ap- - probieren"),
        (["-do-", "-do-"], "-do- -do-"),
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


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_insertions_stand_where_they_were_written_in_whatever_order_they_are_listed(order):
    places = [("we", 0, 100), ("came", 110, 300), ("home", 310, 500)]
    words = tuple(PageWord(text, polygon=Box(left, 40, right, 70).polygon()) for text, left, right in places)
    whole = replace(line(1, "", 0, 500), transcription=Transcription("we came home", words=words))
    above = [(101, "all"), (301, "safely"), (510, "today")]
    inserted = [
        replace(line(2 + number, text, left, left + 90), kind="insertion") for number, (left, text) in enumerate(above)
    ]
    [block] = reading_blocks(Page("a.jpg", 900, 900, (Region("r", (whole, *(inserted[number] for number in order))),)))
    assert block.text == "we all came safely home today"


def prose(*regions):
    document = document_of(Page("a.jpg", 900, 900, regions))
    return replace(document, about=About(title="Letters")), FORMATS["prose"].write(document).decode()


def test_many_insertions_into_a_long_line_take_no_quadratic_time():
    def write(size):
        words = tuple(PageWord("a", None, Box(n, 9, n + 1, 20).polygon()) for n in range(size))
        line = TextLine("l", transcription=Transcription(" ".join("a" * size), words=words))
        above = (Box(n, 0, n + 1, 9).polygon() for n in range(size))
        insertions = [
            TextLine(f"i{n}", box, kind="insertion", transcription=Transcription("b")) for n, box in enumerate(above)
        ]
        list(reading_blocks(Page("a.png", size, 20, (Region("r", (line, *insertions)),))))

    write(10)  # what is done once
    assert steps(lambda: write(400)) < 4.4 * steps(lambda: write(100))


def test_a_text_for_reading_has_paragraphs_and_no_marks():
    text = Transcription("M^me Grey lives in Lon-", 0.2)
    lines = (TextLine("a", transcription=text), TextLine("b", transcription=Transcription("don *now*", 0.2)))
    others = [tuple(replace(line, id=line.id + letter) for line in lines) for letter in "mn"]
    margin, number = Region("m", others[0][1:], kind="margin"), Region("n", others[1], kind="number")
    document, written = prose(Region("r", lines), margin, number)
    assert written.split("-->\n\n")[1] == "M<sup>me</sup> Grey lives in London \\*now\\*\n\n> don \\*now\\*\n"
    with ZipFile(BytesIO(FORMATS["word"].write(document))) as archive:
        body = archive.read("word/document.xml").decode()
        assert "Letters" in archive.read("docProps/core.xml").decode()
    assert "superscript" in body and "lives in London *now*" in body and body.index("Letters") < body.index("Grey")


def test_a_table_stays_a_table():
    document = document_of(register_page())
    assert "| No. | Name | Sum |\n| --- | --- | --- |\n| 1 |  | 12.50 |" in FORMATS["prose"].write(document).decode()
    with ZipFile(BytesIO(FORMATS["word"].write(document))) as archive:
        assert archive.read("word/document.xml").decode().count("<w:tc>") == 6
