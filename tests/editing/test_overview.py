import json
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from page_examples import document_of, letter_page, register_page

from drethtr.documents.formats import FORMATS
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Transcription
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.overview import Summary
from drethtr.editing.page_files import OpenPage
from drethtr.layout.doubt import IN_TABLE, USUAL, doubt_of_page
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.decoding.strategies import CTC


def summary_of(page, *, made_here):
    data = FORMATS["page"].write(document_of(page))
    file = PageFile.parse(data if made_here else data.replace(b"<Creator>drethtr", b"<Creator>others"), "page")
    return Summary.of(OpenPage(FolderPage("5f0c", "page.jpg", Path("page.xml"), None), file))


RATE = ErrorRate(CTC(), factor=1.0, spread=0.1, noise=1.0, sets=9)


def test_a_layout_found_here_is_part_of_the_expected_error():
    given, found = (summary_of(letter_page(), made_here=made_here) for made_here in (False, True))
    cost = doubt_of_page(letter_page()).expected
    assert (given.row(None)["layout"], found.row(None)["layout"]) == (0.0, round(cost, 4)) and cost >= USUAL
    with_layout, without = found.row(RATE), given.row(RATE)
    assert with_layout["expected_cer"] - without["expected_cer"] == pytest.approx(cost, abs=1e-4)
    assert with_layout["expected_high"] > without["expected_high"]


def test_tables_are_doubted_most_and_the_doubt_is_kept():
    summary = summary_of(register_page(), made_here=True)
    assert summary.doubt.layout == IN_TABLE
    assert Summary.from_json(summary.to_json()) == summary and summary.row(RATE)["layout"] == IN_TABLE.expected


def test_a_page_without_confidences_is_not_counted_at_each_start():
    page = letter_page().with_lines(lambda line: replace(line, transcription=Transcription(line.text)))
    summary = summary_of(page, made_here=False)
    assert Summary.from_json(summary.to_json()) == summary


@pytest.mark.parametrize(
    "stored",
    [
        {"doubt": 0.5, "characters": 4, "measured": 1, "empty": 0, "layout": 0.1, "layout_high": 0.2},  # as before
        {"doubt": [[0.5, 4, 1, 0, 0], [0.1, 0.0, 0.2, ""]]},
        {"doubt": [[-0.5, 4, 1, 0], [0.1, 0.0, 0.2, ""]]},
        {"doubt": [[0.5, 4, 1, 0], [0.1, 0.0, inf, ""]]},
        {"doubt": [[0.5, 4, 1, 0], ["0.1", 0.0, 0.2, ""]]},
        {"doubt": [[0.5, 4, 1, 0], [0.1, 0.0, 0.2, None]]},
        {"words": 0.5},
    ],
)
def test_a_summary_that_cannot_be_understood_is_made_again(stored):
    usual = json.loads(summary_of(letter_page(), made_here=True).to_json())
    assert Summary.from_json(json.dumps(usual)) is not None
    assert Summary.from_json(json.dumps(usual | stored)) is None
