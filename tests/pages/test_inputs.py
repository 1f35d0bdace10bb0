"""Which files a person means."""

import re
import sys

import pytest
from edited_folders import foreign, put_page, scan

from drethtr.documents.beside import page_stem
from drethtr.pages.inputs import find_inputs
from drethtr.pages.selection import select
from drethtr.pages.source import open_originals


@pytest.mark.parametrize("recursive", [False, True])
def test_a_name_that_no_file_can_have_is_told(tmp_path, recursive):
    selection = select([tmp_path, "x" * 300], tmp_path / "out", recursive=recursive)
    # The second since Python 3.14, and on Windows.
    assert any(re.search("x: (cannot be accessed: |no such file)", str(error)) for error in selection.unreadable)


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_no_folder(tmp_path, monkeypatch, name):
    (tmp_path / "scan.jfif").touch()
    monkeypatch.chdir(tmp_path)
    assert find_inputs([str(tmp_path)]) == ([tmp_path / "scan.jfif"], [])
    files, [error] = find_inputs([name])
    assert not files and "an input name is empty" in str(error)


@pytest.mark.parametrize("name", ["s3://archive/a.jpg", "file:///scans/*.jpg"])
def test_an_address_of_another_kind_is_called_so(name):
    files, [error] = find_inputs([name])
    assert not files and str(error).startswith(f"{name}: only http:// and https:// addresses can be read")


def test_pictures_of_a_telephone_are_not_passed_over(tmp_path):
    for name in ("a.jpg", "b.HEIC", "notes.docx"):
        (tmp_path / name).touch()
    assert find_inputs([str(tmp_path)]) == ([tmp_path / "a.jpg", tmp_path / "b.HEIC"], [])


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
@pytest.mark.parametrize("pattern", ["", "*"])
def test_a_link_whose_scan_was_not_fetched_is_named(tmp_path, pattern):
    """As in folders of git-annex and DVC; other links are followed."""
    (tmp_path / "scans").mkdir()
    scan().image.save(tmp_path / "there.png")
    for name, leads in (("a.png", "gone.png"), ("b.png", "../there.png"), ("c.png", "c.png"), (".#b.png", "lock")):
        (tmp_path / "scans" / name).symlink_to(leads)
    selection = select([str(tmp_path / "scans" / pattern)], tmp_path / "out", recursive=not pattern)
    errors = list(selection.unreadable)
    assert [file.name for file, _ in selection.opened(errors.append)] == ["b.png"]
    assert [re.findall(r"[^/]*: no such file", str(error)) for error in errors] == [
        ["a.png: no such file"],
        ["c.png: no such file"],
    ]


def test_of_several_files_for_a_page_one_is_read(tmp_path):
    ours = [put_page(tmp_path, "a", format) for format in ("page", "alto")]
    theirs = foreign(put_page(tmp_path, "b", "alto"))
    put_page(tmp_path, "b", "page")
    assert find_inputs([str(tmp_path)]) == ([ours[0], theirs], [])


def test_each_page_of_a_book_keeps_its_file(tmp_path):
    book = scan().image
    book.save(tmp_path / "book.tif", save_all=True, append_images=[book])
    pages = [put_page(tmp_path, f"book_000{number}", "alto") for number in (1, 2)]
    for page in pages:
        (tmp_path / f"{page_stem(page)}.png").unlink()
        name = page.read_text(encoding="utf-8").replace(f"{page_stem(page)}.png", "book.tif")
        page.write_text(name, encoding="utf-8")
    assert find_inputs([str(tmp_path)]) == (pages, [])


def test_a_page_that_was_renamed_with_its_scan_names_it_as_it_is_called_now(tmp_path):
    """Or programs that get the results would look for a scan that is gone, or is that of another page."""
    path = put_page(tmp_path, "1")
    for ending in (".png", ".page.xml"):
        (tmp_path / f"1{ending}").rename(tmp_path / f"2{ending}")
    [original] = open_originals(path.with_name("2.page.xml"))
    assert original.source.path.name == "2.png" and original.given().image == "2.png"
