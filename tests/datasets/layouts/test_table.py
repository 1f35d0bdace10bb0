"""Quotation marks in tables: those of people stay, those of spreadsheets go."""

import csv
from io import StringIO

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from drethtr.base.errors import DataError
from drethtr.datasets.layouts import layout_for
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


def test_a_table_that_cannot_be_read_is_not_passed_over(tmp_path):
    """The validation lines of a folder were missing, since their first was in Latin-1."""
    (tmp_path / "readme.txt").write_text("Märchen\n", encoding="latin-1")
    (tmp_path / "train.tsv").write_text("a.png\tMär\n", encoding="utf-8")
    for name in ("val.tsv", "test.txt"):
        (tmp_path / name).write_text("a.png\tMär\n", encoding="latin-1")
        with pytest.raises(DataError, match=rf"{name}: is not UTF-8"):
            list(Table().entries(tmp_path))
        (tmp_path / name).unlink()


def test_other_tables_in_any_encoding_are_passed_over(tmp_path):
    """A list from a spreadsheet beside line images kept their texts from being read."""
    (tmp_path / "000001.png").touch()
    (tmp_path / "000001.gt.txt").write_text("ab\n")
    (tmp_path / "letters.tsv").write_text("Aufbewahrungsort\tMünchen\n", encoding="latin-1")
    assert layout_for(tmp_path).name == "kraken"


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text('ab" ,', min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_what_a_spreadsheet_writes_is_read(tmp_path, texts):
    """Unless no text has a quotation mark inside, when those around it could be a person's."""
    assume(any('"' in text for text in texts))
    file = StringIO()
    csv.writer(file, delimiter="\t", lineterminator="\n").writerows(["a.png", text] for text in texts)
    assert texts_of(tmp_path, file.getvalue()) == texts
