"""Quotation marks in tables: those of people stay, those of spreadsheets go."""

import csv
from io import StringIO

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from drethtr.datasets.layouts.table import Table


def texts_of(folder, table):
    (folder / "a.png").touch()
    (folder / "t.tsv").write_text(table, encoding="utf-8", newline="")
    return [entry.text for entry in Table().entries(folder / "t.tsv")]


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (['"He said ""no"""', "plain"], ['He said "no"', "plain"]),
        (['"He said ""no"""', '"Yes"'], ['He said "no"', "Yes"]),
        (['"Yes"', "plain"], ['"Yes"', "plain"]),
        (['say "a"', '"b ""c"""'], ['say "a"', '"b ""c"""']),
        (['"'], ['"']),
    ],
)
def test_cells_are_unquoted_only_if_all_are_quoted(tmp_path, cells, texts):
    assert texts_of(tmp_path, "".join(f"a.png\t{cell}\n" for cell in cells)) == texts


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text('ab" ,', min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_what_a_spreadsheet_writes_is_read(tmp_path, texts):
    """Unless no text has a quotation mark inside, when those around it could be a person's."""
    assume(any('"' in text for text in texts))
    file = StringIO()
    csv.writer(file, delimiter="\t", lineterminator="\n").writerows(["a.png", text] for text in texts)
    assert texts_of(tmp_path, file.getvalue()) == texts
