import csv
import io
from dataclasses import replace

from page_examples import document_of, letter_page, line_of

from drethtr.documents import FORMATS, Page, Region, TextLine, Transcription


def rows(page):
    text = FORMATS["csv"].write(document_of(page)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_row_for_each_word():
    table = rows(letter_page())
    assert len(table) == 10
    assert table[2] == {
        "page": "1",
        "image": "letter.jpg",
        "line": "l1",
        "word": "3",
        "text": "daſs",
        "confidence": "0.9000",
        "doubtful": "yes",
        "flags": "",
        "left": "330",
        "top": "50",
        "right": "410",
        "bottom": "90",
        "made by": "drethtr 1.2.3, model 0123abcd",
    }


def test_pages_have_the_numbers_of_their_file():
    """Where one between them could not be read; without them, they are counted."""
    document = document_of(letter_page(), letter_page())
    first, third = document.sheets
    lacking = replace(document, sheets=(replace(first, number=1), replace(third, number=3)))
    for written, numbers in ((document, {"1", "2"}), (lacking, {"1", "3"})):
        text = FORMATS["csv"].write(written).decode("utf-8-sig")
        assert {row["page"] for row in csv.DictReader(io.StringIO(text, newline=""))} == numbers


def test_a_line_without_words_is_one_row_and_an_unread_one_none():
    lines = (TextLine("a", transcription=Transcription("zwei Worte")), TextLine("b"))
    [row] = rows(Page("a.jpg", 9, 9, (Region("r", lines),)))
    assert (row["text"], row["confidence"], row["left"]) == ("zwei Worte", "", "")


def test_no_cell_is_a_formula():
    line = line_of("=1+1 +x -y @z a=b", id="=l")
    table = rows(Page("=p.jpg", 9, 9, (Region("r", (line,)),)))
    hidden = ["\u00a0=1", "\u200b=1", "\0+1", "  @z"]  # behind what a spreadsheet may skip
    hidden += [f"{filler}=1" for filler in "\u115f\u1160\u3164\uffa0\ufe0f\u180e\u00ad\u2800\u0301\u3000"]
    hidden += ["\uff1d1", "\uff0b1", "\uff0d1", "\uff20a", "\ufe66a"]  # full width, small
    lines = tuple(TextLine(f"l{number}", transcription=Transcription(text)) for number, text in enumerate(hidden))
    found = [row["text"] for row in rows(Page("a.jpg", 9, 9, (Region("r", lines),)))]
    assert found == [f"'{text}" for text in hidden]
    assert [row["text"] for row in table] == ["'=1+1", "'+x", "'-y", "'@z", "a=b"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in table for cell in row.values())
