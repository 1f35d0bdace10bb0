import json
from pathlib import Path

from page_examples import PROVENANCE

from drethtr.documents.formats import LINE_FORMATS, LINE_TEXT_WITH_DOUBTS
from drethtr.documents.transcription import PageFlag, PageWord, Transcription
from drethtr.documents.writers.line import LineEntry
from drethtr.documents.writers.text import marked

FLAG = PageFlag("uncovered", "no character accounts for 80 columns\tof ink here")
WORDS = (PageWord("an", 0.9), PageWord("old", 0.4, doubtful=True), PageWord("ox", 0.6))
LINE = Transcription("an old ox", 0.9, WORDS, (FLAG,))
ENTRY = LineEntry(Path("a.png"), LINE, {"text": "an old ox", "more": [1, 2]}, lambda: PROVENANCE)


def test_doubts_are_marked_in_text_where_asked():
    text = "an [old?] ox [!uncovered: no character accounts for 80 columns\tof ink here]"
    assert LINE_TEXT_WITH_DOUBTS.file(ENTRY) == text + "\n"
    assert LINE_TEXT_WITH_DOUBTS.row(ENTRY) == f"a.png\t{text.replace(chr(9), ' ')}\n"
    assert LINE_FORMATS["txt"].file(ENTRY) == "an old ox\n"


def test_a_name_does_not_break_its_row():
    odd = ENTRY._replace(path=Path("a\tb\nc.png"))
    for format in (LINE_FORMATS["txt"], LINE_FORMATS["tsv"], LINE_TEXT_WITH_DOUBTS):
        assert format.row(odd).startswith("a b c.png\tan ")


def test_a_line_without_doubts_is_its_text():
    sure = ENTRY._replace(transcription=Transcription("an old ox", 0.9))
    assert LINE_TEXT_WITH_DOUBTS.file(sure) == LINE_FORMATS["txt"].file(sure)


def test_a_line_on_which_nothing_is_read_has_its_flags():
    assert marked(Transcription("", 0.0, (), (PageFlag("blank", "there is no ink"),))) == "[!blank: there is no ink]"


def test_tables_tell_flags_and_their_reasons():
    cells = dict(
        zip(
            LINE_FORMATS["tsv"].header.rstrip().split("\t"),
            LINE_FORMATS["tsv"].row(ENTRY).rstrip().split("\t"),
            strict=True,
        )
    )
    assert cells["flags"].startswith("uncovered: no character accounts")
    assert cells["made by"] == "drethtr 1.2.3, model 0123abcd"


def test_json_tells_all():
    found = json.loads(LINE_FORMATS["json"].file(ENTRY))
    assert list(found) == ["file", "text", "more", "made_by"] and found["more"] == [1, 2]
    assert found["made_by"] == {"drethtr": "1.2.3", "model": "0123abcd", "created": "2026-11-21T12:30:00Z"}
