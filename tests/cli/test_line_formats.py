import json
from dataclasses import replace
from pathlib import Path

from page_examples import PROVENANCE

from drethtr.cli.doubts import Doubts
from drethtr.cli.line_formats import LINE_FORMATS, TEXT_WITH_DOUBTS, Entry, with_doubts
from drethtr.recognition.reading import Alternative, Character, Flag, Reading

CHARACTERS = tuple(Character(c, 0.9, 10.0 * i, 10.0 * i + 10) for i, c in enumerate("an old ox"))
READING = Reading(
    "an old ox",
    0.9,
    CHARACTERS,
    flags=(Flag("uncovered", "no character accounts for 80 columns\tof ink here", 90.04, 170),),
    word_confidences=(0.9, 0.4, 0.6),
    alternatives=(Alternative("an old ox", -1.0), Alternative("an odd ox", -2.5)),
)
ENTRY = Entry(Path("a.png"), READING, PROVENANCE)


def test_doubts_are_marked_in_text_where_asked():
    marked = "an [old?] ox [!uncovered: no character accounts for 80 columns\tof ink here]"
    assert TEXT_WITH_DOUBTS.file(ENTRY) == marked + "\n"
    assert TEXT_WITH_DOUBTS.row(ENTRY) == f"a.png\t{marked.replace(chr(9), ' ')}\n"
    assert LINE_FORMATS["txt"].file(ENTRY) == "an old ox\n"


def test_a_sure_word_is_doubtful_where_a_flag_stands():
    """As it is on a page."""
    reading = replace(READING, flags=(Flag("uncovered", "ink", 75, 85),))
    assert with_doubts(reading) == "an [old?] [ox?] [!uncovered: ink]"
    doubts = Doubts()
    doubts.see_line(reading)
    assert str(doubts).startswith("2 of 3 words doubtful")


def test_a_name_does_not_break_its_row():
    odd = ENTRY._replace(path=Path("a\tb\nc.png"))
    for format in (LINE_FORMATS["txt"], LINE_FORMATS["tsv"], TEXT_WITH_DOUBTS):
        assert format.row(odd).startswith("a b c.png\tan ")


def test_a_line_without_doubts_is_its_text():
    sure = ENTRY._replace(reading=Reading("an old ox", 0.9, CHARACTERS))
    assert TEXT_WITH_DOUBTS.file(sure) == LINE_FORMATS["txt"].file(sure)


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
    assert found["calibrated"] and [word["confidence"] for word in found["words"]] == [0.9, 0.4, 0.6]
    assert found["flags"][0].keys() == {"kind", "reason", "left", "right"} and found["flags"][0]["left"] == 90.0
    assert found["alternatives"] == [{"text": "an old ox", "score": -1.0}, {"text": "an odd ox", "score": -2.5}]
    assert found["made_by"] == {"drethtr": "1.2.3", "model": "0123abcd", "created": "2026-11-21T12:30:00Z"}
