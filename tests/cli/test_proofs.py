"""Where `align` and `check` write pages: to the same files as `transcribe`."""

from dataclasses import replace

import pytest
from made_pages import TEXTS, blank, write

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.cli.proofs import prove_all, tasks_of, write_pages
from drethtr.documents.formats import formats_named
from drethtr.documents.page import Page
from drethtr.pages.segmentation import segmentation_named
from drethtr.proofreading.inputs import open_proof_inputs
from drethtr.proofreading.proof import PageProof
from drethtr.proofreading.rules import Rules

FORMATS = formats_named(["page", "txt"])


@pytest.fixture
def given(tmp_path):
    """A file of two pages with their text, and a page."""
    (tmp_path / "text.txt").write_text(" ".join(TEXTS), encoding="utf-8")
    image = write(blank(700, 300), TEXTS[:2]).image
    image.save(tmp_path / "book.tif", save_all=True, append_images=[image])
    image.save(tmp_path / "one.png")
    return open_proof_inputs([str(tmp_path / name) for name in ("book.tif", "one.png", "text.txt")], texts_needed=True)


def test_formats_that_hold_several_pages_hold_those_of_a_file(given, tiny_path, tmp_path):
    """But not a page that could not be read, and a file without any is not written."""
    out = tmp_path / "out"
    tasks = tasks_of(given, out, FORMATS, force=False)
    [one] = given
    proofs = [PageProof(original, Page("book.tif", 700, 300), (), False) for original in one.originals[:2]]
    recognizer = Recognizer.load(tiny_path)
    write_pages(tasks, proofs[1:], recognizer, FORMATS)
    assert {path.name for path in out.iterdir()} == {"book.txt", "book_0002.page.xml"}
    write_pages(tasks, proofs, recognizer, FORMATS)
    assert {path.name for path in out.iterdir()} == {"book.txt", "book_0001.page.xml", "book_0002.page.xml"}
    with pytest.raises(DataError, match=r"book_0001\.page\.xml exists; choose another output or use --force"):
        tasks_of(given, out, FORMATS, force=False)
    assert tasks_of(given, out, FORMATS, force=True) == tasks


def test_a_file_that_cannot_be_written_costs_no_other(given, tiny_path, tmp_path, capsys):
    out = tmp_path / "out"
    tasks = tasks_of(given, out, FORMATS, force=False)
    (out / "book_0001.page.xml").mkdir(parents=True)
    [one] = given
    proofs = [PageProof(original, Page("book.tif", 700, 300), (), False) for original in one.originals]
    assert write_pages(tasks, proofs, Recognizer.load(tiny_path), FORMATS) == 1
    assert "book_0001.page.xml" in capsys.readouterr().err
    assert {path.name for path in out.glob("*.*") if path.is_file()} == {
        "book.txt",
        "book_0002.page.xml",
        "one.txt",
        "one.page.xml",
    }


def test_an_input_is_not_replaced(given, tmp_path):
    (tmp_path / "one.png").rename(tmp_path / "one.txt")
    [one] = given
    files = {tmp_path / "one.txt": one.files[tmp_path / "one.png"]}
    with pytest.raises(DataError, match="is an input and would be overwritten"):
        tasks_of([replace(one, files=files)], tmp_path, FORMATS, force=True)


def test_a_given_text_is_not_replaced(given, tmp_path):
    (tmp_path / "text.txt").rename(tmp_path / "one.txt")
    given = open_proof_inputs([str(tmp_path / name) for name in ("one.png", "one.txt")], texts_needed=True)
    with pytest.raises(DataError, match=r"one\.txt is an input and would be overwritten"):
        tasks_of(given, tmp_path, FORMATS, force=True)


def test_every_text_that_cannot_be_checked_is_named(given, tiny_path, tmp_path, capsys):
    texts = [replace(one, text=" ", texts=(tmp_path / name,)) for one in given for name in ("a.txt", "b.txt")]
    with pytest.raises(DataError, match=r"b\.txt: this text is empty"):
        prove_all(texts, Recognizer.load(tiny_path), segmentation_named("projection"), Rules())
    assert "a.txt: this text is empty" in capsys.readouterr().err
