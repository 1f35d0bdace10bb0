"""Of a folder that people have worked in, only lines that they have confirmed are learned from."""

from dataclasses import replace

import pytest
from edited_folders import approve, put_page

from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Sample
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Review


def review(path, line_id, review):
    file = PageFile.parse(path.read_bytes(), "a")
    line = file.line(line_id)
    path.write_bytes(file.with_line(replace(line, transcription=replace(line.transcription, review=review))).data)


def texts(folder, **options):
    return [entry.text for entry in Pages(**options).entries(folder) if isinstance(entry, Sample)]


@pytest.mark.parametrize("format", ["page", "alto"])
def test_only_confirmed_lines_by_default(tmp_path, format):
    path = put_page(tmp_path, "a", format)
    put_page(tmp_path, "b", format)
    assert len(texts(tmp_path)) == 8
    review(path, "l1", Review.CORRECTED)
    assert texts(tmp_path) == []
    review(path, "l2", Review.CONFIRMED)
    assert texts(tmp_path) == ["and thank you for the news"]
    assert len(texts(tmp_path, unconfirmed=True)) == 8


def test_lines_of_pages_approved_in_transkribus_are_among_them(tmp_path):
    approve(put_page(tmp_path, "a"))
    put_page(tmp_path, "b")
    assert len(texts(tmp_path)) == 8  # the others need not be unfinished
    review(put_page(tmp_path, "c"), "l2", Review.CONFIRMED)
    assert len(texts(tmp_path)) == 5
