import json
from pathlib import Path

from drethtr.cli.formats import FORMATS, TEXT_WITH_DOUBTS
from drethtr.reading import Alternative, Character, Flag, Reading

CHARACTERS = tuple(Character(c, 0.9, 10.0 * i, 10.0 * i + 10) for i, c in enumerate("an old ox"))
READING = Reading(
    "an old ox",
    0.9,
    CHARACTERS,
    flags=(Flag("uncovered", "no character accounts for 80 columns\tof ink here", 90.04, 170),),
    word_confidences=(0.9, 0.4, 0.6),
    alternatives=(Alternative("an old ox", -1.0), Alternative("an odd ox", -2.5)),
)
FILE = Path("a.png")


def test_doubts_are_marked_in_text_where_asked():
    marked = "an [old?] ox [!uncovered: no character accounts for 80 columns\tof ink here]"
    assert TEXT_WITH_DOUBTS.file(FILE, READING) == marked + "\n"
    assert TEXT_WITH_DOUBTS.row(FILE, READING) == f"a.png\t{marked.replace(chr(9), ' ')}\n"
    assert FORMATS["txt"].file(FILE, READING) == "an old ox\n"


def test_a_line_without_doubts_is_its_text():
    sure = Reading("an old ox", 0.9, CHARACTERS)
    assert TEXT_WITH_DOUBTS.file(FILE, sure) == FORMATS["txt"].file(FILE, sure)


def test_tables_tell_flags_and_their_reasons():
    assert FORMATS["tsv"].row(FILE, READING).split("\t")[3].startswith("uncovered: no character accounts")
    assert FORMATS["tsv"].row(FILE, READING).count("\t") == 3


def test_json_tells_all():
    found = json.loads(FORMATS["json"].file(FILE, READING))
    assert found["calibrated"] and [word["confidence"] for word in found["words"]] == [0.9, 0.4, 0.6]
    assert found["flags"][0].keys() == {"kind", "reason", "left", "right"} and found["flags"][0]["left"] == 90.0
    assert found["alternatives"] == [{"text": "an old ox", "score": -1.0}, {"text": "an odd ox", "score": -2.5}]
