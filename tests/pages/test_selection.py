"""Which pages of which files a person wants, and where their results go."""

import sys
from pathlib import Path
from shutil import make_archive, rmtree

import pytest
from edited_folders import foreign, put_page
from made_pages import TEXTS, blank, write
from printed_pages import put_page as put_printed

from drethtr import Recognizer
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.beside import part_of, with_pages
from drethtr.documents.page_file import PageFile
from drethtr.pages import open_job
from drethtr.pages.inputs import find_inputs
from drethtr.pages.record import RECORD
from drethtr.pages.selection import PageRanges, select


@pytest.mark.parametrize(
    ("text", "pages"),
    [("1-3", [1, 2, 3]), ("2,5-", [2, 5, 6, 7]), (" 4 , 1-1", [1, 4]), ("9", [])],
)
def test_ranges(text, pages):
    ranges = PageRanges.parse(text)
    assert [number for number in range(1, 8) if number in ranges] == pages


@pytest.mark.parametrize("text", ["", "1,", "3-2", "0", "-4", "one", "1-2-3", "1;2"])
def test_ranges_that_make_no_sense(text):
    with pytest.raises(ConfigError, match="pages"):
        PageRanges.parse(text)


@pytest.mark.parametrize(
    ("numbers", "name"),
    [([1, 2, 3], "b_0001-0003"), ([5], "b_0005"), ([1, 2, 7, 9, 10], "b_0001-0002+0007+0009-0010")],
)
def test_some_pages_have_a_name(numbers, name):
    assert with_pages("b", numbers) == name and part_of(name) == ("b" if len(numbers) > 1 else None)


@pytest.fixture
def tree(tmp_path):
    """Scans of the same names in two folders, one beside these, and hidden ones."""
    for name in ("scans/1/a.png", "scans/2/a.png", "scans/c.png", "scans/.old/a.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path / "scans"


def places(selection, top):
    return sorted(str(folder.relative_to(top)) for folder in selection.folders.values())


@pytest.mark.parametrize("output", ["s3://archive/out", "file:///archive/out", "https://example.org/out"])
def test_results_are_not_written_to_a_folder_named_like_an_address(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    put_page(tmp_path, "a")
    with pytest.raises(DataError, match="is an address; give a local folder"):
        open_job([tmp_path], output)
    assert open_job([tmp_path], "notes: 1").selection.output is not None


def test_folders_below_are_read_and_mirrored(tree, tmp_path):
    out = tmp_path / "out"
    selection = select([tree], out, recursive=True)
    assert [str(file.relative_to(tree)) for file in selection.files] == ["c.png", "1/a.png", "2/a.png"]
    assert places(selection, out) == [".", "1", "2"]
    assert select([tree], out).files == (tree / "c.png",)


def test_results_of_two_files_are_two_where_case_and_accents_make_no_difference(tree, tmp_path):
    (tree / "1" / "Lé.png").touch()
    (tree / "2" / "LE\u0301.tif").touch()
    assert places(select([tree / "1" / "Lé.png", tree / "2" / "a.png"], tmp_path), tmp_path) == [".", "."]
    both = select([tree / "1" / "Lé.png", tree / "2" / "LE\u0301.tif"], tmp_path)
    assert places(both, tmp_path) == ["1", "2"]


def test_what_is_in_subfolders_is_not_left_out_without_a_word(tree):
    """But hidden folders and results are none of it, and a folder without images of its own says so itself."""
    assert select([tree.parent]).remarks == ()
    assert select([tree], recursive=True).remarks == () and select([tree / "1"]).remarks == ()
    assert select([tree / "c.png", tree]).remarks == (
        f"{tree}: its subfolders are left out; --recursive includes them",
    )
    (tree / "1" / RECORD).touch()
    assert select([tree], tree / "2").remarks == ()


def test_a_corrected_file_beside_that_of_another_program_is_not_passed_over_without_a_word(tmp_path, monkeypatch):
    folder = tmp_path / "scans"
    own, theirs = put_page(folder, "a"), folder / "a.xml"
    theirs.write_bytes(foreign(put_page(tmp_path / "other", "a")).read_bytes())
    assert select([folder]).files == (theirs,) and not select([folder]).remarks
    own.write_bytes(PageFile.parse(own.read_bytes(), "a").without_lines(["l1"]).data)
    assert select([folder]).remarks == (
        f"{own}: not read, although it was edited in drethtr edit; {theirs} of another program is read instead; "
        "move one of them away",
    )
    assert not select([folder / "*.xml"]).remarks
    exported = folder / "page" / "a.xml"
    exported.parent.mkdir()
    theirs.rename(exported)
    assert [f"{exported} of another program is read instead" in words for words in select([exported]).remarks] == [True]
    monkeypatch.chdir(exported.parent)
    assert [words.partition(":")[0] for words in select(["a.xml"]).remarks] == [str(Path("../a.page.xml"))]
    assert select([folder]).files == (own,)


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_folders_of_results_that_lead_elsewhere_are_refused(tree, tmp_path):
    """As in a tree of results that somebody sent; the folder that a user names may be a link."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "out").symlink_to("received")
    (tmp_path / "received").mkdir()
    assert places(select([tree], tmp_path / "out", recursive=True), tmp_path / "out") == [".", "1", "2"]
    (tmp_path / "received" / "1").symlink_to(tmp_path / "mine")
    with pytest.raises(DataError, match=r"a link leads out of .*out, to .*mine; remove it"):
        select([tree], tmp_path / "out", recursive=True)
    assert select([tree], tmp_path / "out").files == (tree / "c.png",)


def test_the_folder_for_results_is_not_read(tree):
    """Nor are results beside the scans, in each of their folders."""
    (tree / "out" / "1").mkdir(parents=True)
    (tree / "out" / "1" / "a.png").touch()
    assert len(select([tree], tree / "out", recursive=True).files) == 3
    rmtree(tree / "out")
    for name in ("1/a.txt", "1/a_0001.json"):
        (tree / name).touch()
    (tree / "1" / "a.alto.xml").write_text("<alto/>")
    selection = select([tree], tree, [".alto.xml"], recursive=True)
    assert len(selection.files) == 3 and places(selection, tree) == [".", "1", "2"]


def test_equal_names_in_several_folders_are_kept_apart(tree, tmp_path):
    out = tmp_path / "out"
    for inputs in ([tree / "1", tree / "2"], [tree / "*" / "a.png"], [tree / "1" / "a.png", tree / "2" / "a.png"]):
        assert places(select(inputs, out), out) == ["1", "2"]
    assert places(select([tree / "1", tree / "2"], out, recursive=True), out) == ["1", "2"]
    assert places(select([tree / "1", tree / "c.png"], out), out) == [".", "."]


def test_zip_files_count_as_folders_of_their_names(tree, tmp_path):
    """The folders that they are unpacked to have another name in each run."""
    out = tmp_path / "out"
    one, two, both = (make_archive(str(tmp_path / f"zip{name}"), "zip", tree / name) for name in ("1", "2", ""))
    assert places(select([one, two], out), out) == ["zip1", "zip2"]
    assert places(select([both, tree / "1"], out), out) == ["scans/1", "zip", "zip/1", "zip/2"]
    assert places(select([both], out, recursive=True), out) == [".", "1", "2"]


def test_a_tree_without_images(tmp_path):
    (tmp_path / "empty" / "below").mkdir(parents=True)
    files, [error] = find_inputs([str(tmp_path / "empty")], recursive=True)
    assert not files and "no images in this folder or below it" in str(error)


@pytest.fixture
def book(tmp_path):
    """A TIFF of three pages."""
    pages = [write(blank(700, 200), TEXTS[place : place + 1]).image for place in range(3)]
    pages[0].save(tmp_path / "book.tif", save_all=True, append_images=pages[1:])
    return tmp_path / "book.tif"


def test_some_pages_of_a_book(book, tiny_path, tmp_path):
    """A part is named after its pages, so that it does not pass for the book."""
    out = tmp_path / "out"

    def names(pages):
        job = open_job([book], out, ["txt", "page"], segmentation="projection", pages=pages)
        assert job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"))[:2] == (1, 0)
        return {path.name for path in out.iterdir()} - {RECORD}

    written = names("3")
    assert written == names(3) == {"book_0003.txt", "book_0003.page.xml"}
    written |= {"book_0002-0003.txt", "book_0002.page.xml"}
    assert names("2-") == written
    assert names(None) == written | {"book.txt", "book_0001.page.xml"}
    with pytest.raises(ConfigError, match="none of the files has a page"):
        open_job([book], out, pages="4-")


def test_some_files_of_a_folder(tree):
    for name in "bde":
        (tree / f"{name}.png").touch()
    selection = select([tree, tree / "1"], pages="1-2,4")
    chosen = [file.name for file in selection.files if selection.chosen(file, (None,))]
    assert chosen == ["b.png", "c.png", "e.png", "a.png"]


@pytest.mark.parametrize(("pages", "unreadable"), [(None, 2), ("1", 1), ("2", 2), ("1-3", 2)])
def test_damaged_files_outside_the_ranges_are_not_reported(tmp_path, pages, unreadable):
    """But all that may hold several pages, since nobody knows how many."""
    put_printed(tmp_path / "1.png", tmp_path / "1.xml", ["abc"])
    for name in ("2.png", "3.pdf"):
        (tmp_path / name).touch()
    (tmp_path / "1.xml").unlink()
    assert len(open_job([tmp_path], None, pages=pages).unreadable) == unreadable


def test_files_without_a_chosen_page_are_not_refused(tmp_path):
    """An image cannot be updated."""
    put_printed(tmp_path / "a.png", tmp_path / "a.xml", ["abc"])
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes())
    inputs = [tmp_path / "a.xml", tmp_path / "b.png"]
    assert "neither PAGE nor ALTO" in str(open_job(inputs, None, [], update=True).unreadable)
    job = open_job(inputs, None, [], update=True, pages="1")
    assert not job.unreadable and [task.path for task in job.tasks] == inputs[:1]
