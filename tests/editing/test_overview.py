from pathlib import Path

import pytest
from page_examples import document_of, letter_page, register_page

from drethtr.documents.formats import FORMATS
from drethtr.documents.page_file import PageFile
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.overview import Summary
from drethtr.editing.page_files import OpenPage
from drethtr.layout.doubt import IN_TABLE, USUAL, doubt_of_page
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.decoding.strategies import CTC


def summary_of(page, *, made_here):
    file = PageFile.parse(FORMATS["page"].write(document_of(page)), "page")
    return Summary.of(OpenPage(FolderPage("5f0c", "page.jpg", Path("page.xml"), None), file, made_here))


RATE = ErrorRate(CTC(), factor=1.0, spread=0.1, noise=1.0, sets=9)


def test_a_layout_found_here_is_part_of_the_expected_error():
    given, found = (summary_of(letter_page(), made_here=made_here) for made_here in (False, True))
    cost = doubt_of_page(letter_page()).expected
    assert (given.layout, found.layout) == (0.0, cost) and cost >= USUAL
    with_layout, without = found.row(RATE), given.row(RATE)
    assert with_layout["expected_cer"] - without["expected_cer"] == pytest.approx(cost, abs=1e-4)
    assert with_layout["expected_high"] > without["expected_high"]


def test_tables_are_doubted_most_and_the_doubt_is_kept():
    summary = summary_of(register_page(), made_here=True)
    assert (summary.layout, summary.layout_high) == (IN_TABLE.expected, IN_TABLE.high)
    assert Summary.from_json(summary.to_json()) == summary and summary.row(RATE)["layout"] == IN_TABLE.expected
