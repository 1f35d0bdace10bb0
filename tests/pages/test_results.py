"""What a person has written is not replaced by a result."""

import re
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from edited_folders import foreign, put_page
from page_examples import document_of, line_of

from drethtr.base.errors import DataError
from drethtr.documents.document import Provenance
from drethtr.documents.formats import FORMATS, LINE_FORMATS
from drethtr.documents.page import Page, Region
from drethtr.documents.page_file import PageFile
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review, Transcription
from drethtr.pages.results import write_result, write_update
from drethtr.pages.source import open_originals
from drethtr.pages.task import FileTask


def confirm(file, line="l1", text="typed by a person"):
    """Confirm a line, as a person does in the editor."""
    opened = PageFile.parse(file.read_bytes(), file.name)
    changed = replace(opened.line(line), transcription=Transcription(text, review=Review.CONFIRMED))
    file.write_bytes(opened.with_line(changed).data)


def read_again(file):
    """The page of a file as a machine reads all its lines."""
    return read_page(file).with_lines(lambda line: replace(line, transcription=Transcription("machine", 0.5)))


def texts(file):
    return [line.text for line in read_page(file).lines]


@pytest.mark.parametrize("format", ["page", "alto"])
def test_a_result_that_a_person_has_corrected_is_not_replaced(tmp_path, format):
    file = put_page(tmp_path, "a", format)
    read = file.read_bytes()
    confirm(file)
    corrected = file.read_bytes()
    with pytest.raises(DataError, match=r"a person corrected or confirmed 1 line of it; choose another folder"):
        write_result(file, read, "choose another folder")
    assert file.read_bytes() == corrected


def test_a_result_that_another_program_has_changed_is_not_replaced(tmp_path):
    file = put_page(tmp_path, "a")
    changed = re.sub(rb"(<LastChange>)[^<]*", rb"\g<1>2030-01-01T00:00:00Z", file.read_bytes())
    file.write_bytes(changed)
    with pytest.raises(DataError, match="another program wrote or changed it; write elsewhere"):
        write_result(file, b"new")
    assert file.read_bytes() == changed


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_a_result_whose_name_leads_to_corrected_text_is_not_written(tmp_path):
    file = put_page(tmp_path, "a")
    confirm(file)
    corrected = file.read_bytes()
    upper = file.rename(file.with_suffix(".XML"))  # which Windows finds by the name of a result
    for name in ("b.txt", "b.page.xml"):
        (tmp_path / name).symlink_to(upper)
        with pytest.raises(DataError, match="a person corrected or confirmed 1 line"):
            write_result(tmp_path / name, b"new")
    assert upper.read_bytes() == corrected


@pytest.mark.parametrize("theirs", [b"<PcGts", b"<alto/>", b"old", b'{"title": "Letters"}'])
def test_a_damaged_or_unknown_file_of_others_is_not_replaced(tmp_path, theirs):
    """It was, where `drethtr segment` kept it."""
    for name in ("a.page.xml", "a.tei.xml", "a.json"):
        (tmp_path / name).write_bytes(theirs)
        with pytest.raises(DataError, match="another program wrote or changed it"):
            write_result(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == theirs


@pytest.mark.parametrize("format", [*FORMATS.values(), *LINE_FORMATS.values()])
def test_each_result_replaces_the_one_before(tmp_path, format):
    document = document_of(Page("a.jpg", 800, 600, (Region("r", (line_of("an old ox"),)),)))
    path = tmp_path / f"a{format.ending}"
    for content in (format.write(document), b"", b"new"):
        write_result(path, content)
        assert path.read_bytes() == content


@pytest.mark.parametrize("there", [None, b"", b"old"])
def test_text_and_empty_files_are_replaced(tmp_path, there):
    file = tmp_path / "a.txt"
    if there is not None:
        file.write_bytes(there)
    write_result(file, b"new")
    assert file.read_bytes() == b"new"


def test_a_damaged_result_of_ours_is_replaced(tmp_path):
    file = put_page(tmp_path, "a")
    file.write_bytes(file.read_bytes()[:-20])
    write_result(file, b"new")
    assert file.read_bytes() == b"new"


@pytest.mark.parametrize("replaces", [True, False])
def test_an_update_keeps_what_a_person_wrote_since_the_page_was_read(tmp_path, replaces):
    file = put_page(tmp_path, "a")
    page = read_again(file)
    confirm(file)
    write_update(FileTask(file, (), {}, file), page, Provenance.now("machine"), replace=replaces)
    first, second, *_ = texts(file)
    assert second == "typed by a person" and (first == "machine") is replaces


@pytest.mark.parametrize("format", ["page", "alto"])
def test_a_line_that_was_moved_since_the_page_was_read_gets_no_text(tmp_path, format):
    file = put_page(tmp_path, "a", format)
    empty = PageFile.parse(file.read_bytes(), file.name)
    empty = empty.with_lines([replace(line, transcription=None) for line in empty.page.lines])
    file.write_bytes(empty.data)
    task = FileTask(file, open_originals(file), {}, file).opened()
    page = read_again(file)
    moved = [replace(line, polygon=other.polygon) for line, other in pairwise(empty.page.lines)][1:2]
    file.write_bytes(empty.with_lines(moved).data)
    write_update(task, page, Provenance.now("machine"), replace=False)
    assert texts(file) == ["machine", "", "machine", "machine"]


def test_an_updated_copy_that_a_person_has_corrected_is_not_replaced(tmp_path):
    """What other programs wrote is in the file that it is a copy of."""
    file = put_page(tmp_path / "scans", "a")
    copy = foreign(put_page(tmp_path / "out", "a"))
    copy.write_bytes(re.sub(rb"(<LastChange>)[^<]*", rb"\g<1>2030-01-01T00:00:00Z", copy.read_bytes()))
    task = FileTask(file, (), {}, copy)
    write_update(task, read_again(file), Provenance.now("machine"), replace=True)
    assert texts(copy) == ["machine"] * 4
    confirm(copy)
    with pytest.raises(DataError, match="a person corrected or confirmed 1 line"):
        write_update(task, read_again(file), Provenance.now("machine"), replace=True)
    assert texts(copy)[1] == "typed by a person"
