"""Which pages a folder has, and which file holds the text of each."""

import os
import sys
from io import BytesIO
from zipfile import ZipFile

import pytest
from edited_folders import foreign, put_page, scan
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.base.files import atomic_write
from drethtr.editing.export import archive_path, export, preview
from drethtr.editing.folder_pages import Listing, find_pages, folder_page_of
from drethtr.editing.scans import source_of
from drethtr.editing.workspace import Workspace
from drethtr.images.page import PageSource
from drethtr.pages.source import open_originals


def described(folder):
    return {folder_page.name: folder_page.xml_path.relative_to(folder).as_posix() for folder_page in find_pages(folder)}


def test_scans_in_subfolders_in_the_order_of_numbers(tmp_path):
    for name in ("p10", "p9"):
        put_page(tmp_path / "b", name)
    scan().image.save(tmp_path / "a.jpg")
    (tmp_path / ".hidden").mkdir()
    scan().image.save(tmp_path / ".hidden" / "c.jpg")
    assert list(described(tmp_path).items()) == [
        ("a.jpg", "a.page.xml"),
        ("b/p9.png", "b/p9.page.xml"),
        ("b/p10.png", "b/p10.page.xml"),
    ]


def long_ago(folder):
    """Let the folder and all below it have been changed a minute ago, so that its times are trusted."""
    for place in (folder, *folder.rglob("*")):
        os.utime(place, (place.stat().st_atime, place.stat().st_mtime - 60))


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("change", ["file", "folder", "in a folder", "gone", "book"])
def test_names_that_come_and_go_are_noticed(tmp_path, change, settled):
    (tmp_path / "b").mkdir()
    image = Image.new("L", (30, 40), 255)
    image.save(tmp_path / "a.png")
    image.save(tmp_path / "book.tif")
    if settled:
        long_ago(tmp_path)
    listing = Listing(tmp_path)
    changes = {
        "file": lambda: image.save(tmp_path / "c.png"),
        "folder": (tmp_path / "c").mkdir,
        "in a folder": lambda: image.save(tmp_path / "b" / "c.png"),
        "gone": (tmp_path / "a.png").unlink,
        "book": lambda: image.save(tmp_path / "book.tif", save_all=True, append_images=[image]),
    }
    changes[change]()
    assert not listing.is_current()


def test_a_folder_that_comes_back_is_listed_again(tmp_path):
    put_page(tmp_path / "scans", "a")
    (tmp_path / "scans").rename(tmp_path / "elsewhere")
    listing = Listing(tmp_path / "scans", None)
    assert listing.is_current()
    (tmp_path / "elsewhere").rename(tmp_path / "scans")
    assert not listing.is_current()


def test_a_text_that_is_saved_changes_no_name(tmp_path):
    path = put_page(tmp_path, "a")
    (tmp_path / ".drethtr").mkdir()
    long_ago(tmp_path)
    listing = Listing(tmp_path)
    with atomic_write(path) as whole:
        whole.write_bytes(b"<PcGts/>")
    (tmp_path / ".drethtr" / "edit.sqlite").touch()
    assert listing.is_current() and listing.is_current()


def test_a_book_whose_time_is_ahead_is_no_news(tmp_path):
    Image.new("L", (30, 40), 255).save(tmp_path / "book.tif")
    os.utime(tmp_path / "book.tif", (3e9, 3e9))
    assert Listing(tmp_path).is_current()


def test_files_of_people_before_ours_and_page_before_alto(tmp_path):
    put_page(tmp_path, "a", "page")
    foreign(put_page(tmp_path, "a", "alto"))
    assert described(tmp_path) == {"a.png": "a.alto.xml"}
    foreign(put_page(tmp_path, "a", "page"))
    assert described(tmp_path) == {"a.png": "a.page.xml"}


def test_an_export_of_transkribus(tmp_path):
    path = foreign(put_page(tmp_path, "0001"))
    (tmp_path / "page").mkdir()
    path.rename(tmp_path / "page" / "0001.xml")
    (tmp_path / "mets.xml").write_text("<mets/>")
    assert described(tmp_path) == {"0001.png": "page/0001.xml"}


def test_each_page_of_a_book_has_its_file(tmp_path):
    image = Image.new("L", (300, 400), 255)
    image.save(tmp_path / "book.tif", save_all=True, append_images=[image])
    assert described(tmp_path) == {"book.tif page 1": "book_0001.page.xml", "book.tif page 2": "book_0002.page.xml"}


def put_book(folder, pages, *files):
    """Write a TIFF of so many pages, and page files that name it."""
    image = Image.new("L", (300, 400), 255)
    image.save(folder / "book.tif", save_all=True, append_images=[image] * (pages - 1))
    for name in files:
        path = put_page(folder, "a", "alto" if ".alto" in name else "page")
        (folder / name).write_text(path.read_text(encoding="utf-8").replace("a.png", "book.tif"), encoding="utf-8")
        for own in (path, folder / "a.png"):
            own.unlink()


def test_a_file_that_names_no_page_of_a_book_is_shown_with_the_message_of_transcribe(tmp_path):
    put_book(tmp_path, 3, "book.page.xml", "p0002.xml")
    pages = {page.name: page for page in find_pages(tmp_path)}
    with pytest.raises(DataError) as refused:
        open_originals(tmp_path / "p0002.xml")
    assert list(pages) == ["book.page.xml", *(f"book.tif page {number}" for number in (1, 2, 3)), "p0002.xml"]
    assert pages["p0002.xml"].error == refused.value.reason and "such as book_0001.xml" in refused.value.reason
    assert pages["p0002.xml"].source is None and pages["p0002.xml"].xml_path == tmp_path / "p0002.xml"


@pytest.mark.parametrize("left", [1, 2])
def test_texts_of_pages_that_a_book_has_no_more_are_shown(tmp_path, left):
    files = [f"book_000{number}.page.xml" for number in (1, 2, 3)]
    put_book(tmp_path, 3, *files)
    assert list(described(tmp_path).values()) == files
    put_book(tmp_path, left)
    assert sorted(described(tmp_path).values()) == files
    errors = {page.name: page.error for page in find_pages(tmp_path) if page.error}
    assert list(errors) == files[left:]
    assert f"describes page 3, but {tmp_path / 'book.tif'} has only {left};" in errors["book_0003.page.xml"]


def test_the_only_page_of_a_book_is_not_that_of_another_number(tmp_path):
    put_book(tmp_path, 1, "book_0002.page.xml")
    assert described(tmp_path) == {"book.tif": "book.page.xml", "book_0002.page.xml": "book_0002.page.xml"}
    with pytest.raises(DataError, match=r"describes page 2, but .*book\.tif has only 1"):
        open_originals(tmp_path / "book_0002.page.xml")


@pytest.mark.parametrize("pages", [1, 2])
def test_of_several_files_of_one_page_of_a_book_the_best_is_shown(tmp_path, pages):
    put_book(tmp_path, pages, "book_0001.page.xml", "book_0001.alto.xml", "book_0001.xml")
    foreign(tmp_path / "book_0001.alto.xml")
    shown = [(page.xml_path.name, page.error) for page in find_pages(tmp_path)]
    assert shown == [("book_0001.alto.xml", None), ("book_0002.page.xml", None)][:pages]


def test_a_photograph_has_all_files_that_name_it(tmp_path):
    path = put_page(tmp_path, "a")
    path.rename(tmp_path / "a_0017.xml")
    assert described(tmp_path) == {"a.png": "a_0017.xml"}


def test_scans_of_one_name_have_files_of_their_own(tmp_path):
    for ending in ("jpg", "png"):
        scan().image.save(tmp_path / f"a.{ending}")
    assert described(tmp_path) == {"a.jpg": "a.jpg.page.xml", "a.png": "a.png.page.xml"}


def test_a_missing_or_damaged_scan_is_a_page_with_an_error(tmp_path):
    put_page(tmp_path, "a")
    (tmp_path / "a.png").unlink()
    (tmp_path / "b.pdf").write_bytes(b"no PDF")
    errors = {folder_page.name: folder_page.error for folder_page in find_pages(tmp_path)}
    assert "is missing" in errors["a.page.xml"] and "not a PDF" in errors["b.pdf"]


def test_all_texts_of_a_damaged_book_are_shown(tmp_path):
    files = [f"book_000{number}.page.xml" for number in (1, 2, 3)]
    put_book(tmp_path, 3, *files, "book_0002.alto.xml")
    (tmp_path / "book.tif").write_bytes(b"cut short")
    pages = {page.name: page for page in find_pages(tmp_path)}
    assert list(pages) == ["book.tif", *files[1:]]
    assert [page.xml_path.name for page in pages.values()] == files
    assert {page.error for page in pages.values()} == {pages["book.tif"].error}


@pytest.mark.parametrize("name", ["a b.png", "ä.png", "a#b.png"])
def test_ids_tell_nothing_and_stay(tmp_path, name):
    scan().image.save(tmp_path / name)
    [first], [second] = find_pages(tmp_path), find_pages(tmp_path)
    assert first.id == second.id and first.id.isalnum()


@pytest.mark.parametrize(
    ("file", "number", "pages", "name"),
    [
        ("Letter page 2.jpg", 1, 1, "Letter page 2"),
        ("Letter_2.jpg", 1, 1, "Letter_2"),
        ("sub/Akte.tif", 3, 12, "sub/Akte_0003"),
        ("Band page 1.pdf", 1, 2, "Band page 1_0001"),
    ],
)
def test_exported_pages_are_named_as_results_are(file, number, pages, name, tmp_path):
    source = PageSource(tmp_path / file, number - 1, number, pages)
    assert archive_path(folder_page_of(tmp_path, source.path, tmp_path / "x.xml", source)) == name


def test_an_export_of_several_pages_names_the_folders_of_their_images(tmp_path):
    for box in ("1", "2"):
        put_page(tmp_path / box, "0001")
    with Workspace.open(tmp_path) as workspace:
        csv, tei = (export(workspace, list(workspace.folder_pages), format, "m").content for format in ("csv", "tei"))
        alone = export(workspace, list(workspace.folder_pages)[:1], "csv", "m").content
        shown = [preview(workspace, list(workspace.folder_pages)[:count], "csv", "m").text or "" for count in (1, 2)]
    assert {row.split(b",")[1] for row in csv.splitlines()[1:]} == {b"1/0001.png", b"2/0001.png"}
    assert b'url="1/0001.png"' in tei and b'url="2/0001.png"' in tei
    assert {row.split(b",")[1] for row in alone.splitlines()[1:]} == {b"0001.png"}
    assert [text.splitlines()[1].split(",")[1] for text in shown] == ["0001.png", "1/0001.png"]


@pytest.mark.skipif(sys.platform == "win32", reason="no file can have these names there")
def test_names_in_an_export_lead_nowhere_on_any_system(tmp_path):
    for stem in ("a\\..\\..\\evil", "C:evil", "a\n=b", "C_evil"):
        put_page(tmp_path, stem)
    with Workspace.open(tmp_path) as workspace:
        content = export(workspace, list(workspace.folder_pages), "page", "m").content
    names = ZipFile(BytesIO(content)).namelist()
    assert sorted(names) == ["C_evil.page.xml", "C_evil_2.page.xml", "a_.._.._evil.page.xml", "a_=b.page.xml"]


def put_apart(folder):
    """Write a page file in a folder `pages`, and its scan in a folder `archive/1` beside it."""
    pages, images = folder / "pages", folder / "archive" / "1"
    images.mkdir(parents=True)
    put_page(pages, "a").with_name("a.png").rename(images / "a.png")
    return pages, images


def test_scans_of_page_files_lie_in_a_folder_of_images(tmp_path):
    pages, images = put_apart(tmp_path)
    scan().image.save(images / "not described.png")
    [missing] = find_pages(pages)
    assert missing.source is None and "is missing" in missing.error
    [page] = find_pages(pages, images)
    assert (page.name, page.xml_path, page.source.path) == ("a.png", pages / "a.page.xml", images / "a.png")
    scan().image.save(pages / "a.png")
    assert find_pages(pages, images) == [page]


def test_pages_of_a_book_in_a_folder_of_images_are_those_that_have_a_file(tmp_path):
    pages, images = put_apart(tmp_path)
    image = scan().image
    image.save(images / "a.tif", save_all=True, append_images=[image, image])
    (images / "a.png").unlink()
    (pages / "a.page.xml").rename(pages / "a_0002.page.xml")
    (pages / "a_0002.page.xml").write_text((pages / "a_0002.page.xml").read_text().replace("a.png", "a.tif"))
    [page] = find_pages(pages, images)
    assert (page.name, page.xml_path.name) == ("a.tif page 2", "a_0002.page.xml")


def test_a_scan_above_the_folder_is_not_shown_but_named(tmp_path):
    put_page(tmp_path / "page", "a").with_name("a.png").rename(tmp_path / "a.png")
    [page] = find_pages(tmp_path / "page")
    assert page.source is None and "not below this folder" in page.error and "--images" in page.error


def test_scans_behind_a_linked_folder_of_images_are_shown(tmp_path):
    pages, images = put_apart(tmp_path)
    (pages / "images").symlink_to(images)
    [page] = find_pages(pages)
    assert page.name == "images/a.png" and page.xml_path == pages / "a.page.xml"


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_links_that_lead_nowhere_are_pages_with_an_error(tmp_path):
    put_page(tmp_path, "a")
    for name, target in (("loop.png", "loop.png"), ("b.png", "gone.png"), ("c.pdf", "gone.pdf"), ("a.xml", "gone.xml")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "images").symlink_to("gone")
    pages = {page.name: page for page in find_pages(tmp_path)}
    assert list(pages) == ["a.png", "a.xml", "b.png", "c.pdf", "loop.png"]
    assert pages["a.png"].xml_path.name == "a.page.xml" and "leads to no file" in pages["a.xml"].error
    for name in ("b.png", "c.pdf", "loop.png"):
        with pytest.raises(DataError):
            source_of(pages[name]).size()
