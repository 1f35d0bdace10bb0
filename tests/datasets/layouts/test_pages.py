"""Small pages as Transkribus, eScriptorium and READ-2016 lay them out."""

import re
from collections import Counter

import edited_folders
import numpy as np
import pytest
from page_examples import document_of
from PIL import Image
from printed_pages import draw_page, page_xml, put_page
from real_data import PAGES, needs_pages

from drethtr.base.errors import DataError
from drethtr.datasets.layouts import layout_for
from drethtr.datasets.layouts.pages import READ, UNCONFIRMED, Pages
from drethtr.datasets.open import open_samples
from drethtr.datasets.sample import LeftOut, Sample, checked
from drethtr.documents import FORMATS, read_page


def found(source):
    layout = layout_for(source)
    entries = [checked(entry) for entry in layout.entries(source)]
    lines = [entry for entry in entries if isinstance(entry, Sample)]
    return layout.name, lines, [entry for entry in entries if isinstance(entry, LeftOut)]


def test_transkribus_export(tmp_path):
    source = tmp_path / "letters"
    put_page(source / "0001.png", source / "page" / "0001.xml", ["eins", "", "zwei e\u0301"])
    (source / "mets.xml").write_text("<mets/>")
    name, lines, left_out = found(source)
    assert name == "pages"
    assert [(line.split, line.text) for line in lines] == [("", "eins"), ("", "zwei e\u0301")]
    assert [(line.set, line.page) for line in lines] == [("letters", "0001")] * 2
    assert lines[0].key.endswith("0001.xml line l0") and [line.id for line in lines] == ["l0", "l2"]
    assert [entry.reason for entry in left_out] == ["not a page", "empty transcription"]


@pytest.mark.parametrize("left", [0.7, 0.0])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_damaged_page_is_not_passed_over(left, encoding, tmp_path):
    """Training and evaluation went on without its lines, and `data check` found nothing."""
    for name in ("a", "b"):
        edited_folders.put_page(tmp_path, name)
    (tmp_path / "mets.xml").write_text("<mets/>")
    whole = (tmp_path / "b.page.xml").read_text(encoding="utf-8").encode(encoding)
    (tmp_path / "b.page.xml").write_bytes(whole[: round(left * len(whole))])
    with pytest.raises(DataError, match=r"^\S*b\.page\.xml: "):
        open_samples(tmp_path)


def test_our_page_comes_before_our_alto(tmp_path):
    """The editor writes corrections into the PAGE file."""
    for format in ("alto", "page"):
        edited_folders.put_page(tmp_path, "a", format)
    _, lines, left_out = found(tmp_path)
    assert {line.key.partition(" ")[0] for line in lines} == {str(tmp_path / "a.page.xml")}
    assert {entry.key for entry in left_out} == {str(tmp_path / "a.alto.xml")}


def test_texts_that_a_program_read_are_named(tmp_path):
    path = edited_folders.put_page(tmp_path, "a")
    assert all(READ in line.remarks for line in found(tmp_path)[1])
    confirmed = re.sub('(<TextLine [^>]*custom=")', r"\1drethtr {review:corrected;} ", path.read_text(encoding="utf-8"))
    path.write_text(confirmed, encoding="utf-8")
    assert not any(READ in line.remarks for line in Pages(unconfirmed=True).entries(tmp_path))
    edited_folders.put_page(tmp_path, "a", confidence=None)
    assert not any(READ in line.remarks for line in found(tmp_path)[1])


def test_lines_that_nobody_confirmed_count_once(tmp_path):
    for name in ("a", "b"):
        for format in ("alto", "page"):
            path = edited_folders.put_page(tmp_path, name, format)
    confirmed = re.sub('(<TextLine [^>]*custom=")', r"\1drethtr {review:confirmed;} ", path.read_text(encoding="utf-8"))
    path.write_text(confirmed, encoding="utf-8")
    _, lines, left_out = found(tmp_path)
    assert {line.page for line in lines} == {"b"}
    reasons = Counter(entry.reason for entry in left_out)
    assert reasons == {UNCONFIRMED: edited_folders.LINES, "second description of a page": 2}


def test_a_page_that_is_described_twice_counts_once(tmp_path):
    """Other XML of the same name describes nothing."""
    for folder in ("alto", "page"):
        put_page(tmp_path / "0001.png", tmp_path / folder / "0001.xml", ["eins"])
    (tmp_path / "0001.xml").write_text("<mets/>")
    _, lines, left_out = found(tmp_path)
    assert len(lines) == 1
    [entry] = [entry for entry in left_out if "page/" in entry.key]
    assert entry.detail == "its page is already described by alto/0001.xml; give one of them"


@pytest.mark.parametrize("format", ["alto", "page"])
@pytest.mark.parametrize("own", ["p.xml", "p.page.xml", "p.alto.xml", "page/p.xml"])
def test_what_a_person_wrote_counts_before_what_drethtr_read(tmp_path, format, own):
    """Wherever it lies and whatever it is called; what drethtr read counts where there is nothing else."""
    read = tmp_path / f"p{FORMATS[format].ending}"
    if (tmp_path / own) == read:
        read = tmp_path / "alto" / "p.xml"
        read.parent.mkdir()
    draw_page(tmp_path / "p.png", ["eins"])
    (tmp_path / "p.xml").write_text(page_xml("p.png", ["drei"], 120), encoding="utf-8")
    page = read_page(tmp_path / "p.xml")
    (tmp_path / "p.xml").unlink()
    read.write_bytes(FORMATS[format].write(document_of(page)))
    assert [line.text for line in found(tmp_path)[1]] == ["drei"]
    put_page(tmp_path / "p.png", tmp_path / own, ["eins"])
    _, lines, left_out = found(tmp_path)
    assert [line.text for line in lines] == ["eins"]
    assert [entry.detail for entry in left_out] == [f"its page is already described by {own}; give one of them"]


def test_two_descriptions_of_a_page_beside_each_other_are_refused(tmp_path):
    for dialect in ("alto", "page"):
        put_page(tmp_path / "p.png", tmp_path / f"p.{dialect}.xml", ["eins"])
    with pytest.raises(DataError, match=r"p\.alto\.xml: its page is already described by p\.page\.xml; give one"):
        open_samples(tmp_path)


def test_a_folder_of_xml_has_the_name_of_its_document(tmp_path):
    source = tmp_path / "letters"
    put_page(source / "0001.png", source / "page" / "0001.xml", ["eins"])
    for place in (source / "page", source / "page" / "0001.xml"):
        [line] = Pages().entries(place)
        assert (line.set, line.page) == ("letters", "0001")


def test_lines_show_their_own_writing(tmp_path):
    put_page(tmp_path / "p.png", tmp_path / "p.xml", ["mmmm", "i"])
    _, (first, second), _ = found(tmp_path)
    ink = [int((line.line() < 128).sum()) for line in (first, second)]
    assert ink[0] > 3 * ink[1] > 0
    assert all(line.line().shape[0] < 60 for line in (first, second))


def test_read_2016(tmp_path):
    for folder, split in (("PublicData/Training", "train"), ("PublicData/Validation", "val")):
        root = tmp_path / folder
        put_page(root / "Images" / f"{split}.JPG", root / "page" / "page" / f"{split}.xml", [split])
    put_page(tmp_path / "Test-ICFHR-2016" / "t.JPG", tmp_path / "Test-ICFHR-2016" / "page" / "t.xml", ["test"])
    name, lines, left_out = found(tmp_path)
    assert (name, left_out) == ("read-2016", [])
    assert [(line.split, line.text) for line in lines] == [(s, s) for s in ("train", "val", "test")]
    assert {(line.set, line.language) for line in lines} == {("read2016", "de")}
    assert lines[0].page == "PublicData/Training/train"


def test_lines_are_cut_from_the_page_of_a_book_that_the_name_counts(tmp_path):
    scans = []
    for number, text in ((1, "mmmm"), (2, "i")):
        put_page(tmp_path / "book.tif", tmp_path / f"book_000{number}.xml", [text])
        with Image.open(tmp_path / "book.tif") as scan:
            scans.append(scan.copy())
    scans[0].save(tmp_path / "book.tif", save_all=True, append_images=scans[1:])
    _, lines, left_out = found(tmp_path)
    ink = [int((line.line() < 128).sum()) for line in lines]
    assert left_out == [] and ink[0] > 3 * ink[1] > 0


def test_lines_that_cannot_be_cut_are_left_out(tmp_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["a"])
    put_page(tmp_path / "b.png", tmp_path / "b.xml", ["b"])
    (tmp_path / "b.png").unlink()
    put_page(tmp_path / "c.png", tmp_path / "c.xml", ["c"])
    Image.fromarray(np.zeros((10, 300), np.uint8)).save(tmp_path / "c.png")
    _, lines, left_out = found(tmp_path)
    assert [line.text for line in lines] == ["a"]
    assert [entry.reason for entry in left_out] == ["no image of the page"] * 2
    assert "b.png" in left_out[0].detail and "300 x 10" in left_out[1].detail


def test_no_pages(tmp_path):
    (tmp_path / "mets.xml").write_text("<mets/>")
    with pytest.raises(DataError, match="no known layout recognized"):
        layout_for(tmp_path)


@needs_pages
def test_real_alto_pages():
    [page] = [path for path in PAGES.glob("*.xml") if path.name.startswith("en_1905")]
    lines = [entry for entry in Pages().entries(page) if isinstance(entry, Sample)]
    assert len(lines) > 10 and all(line.line().shape[1] > 100 for line in lines)


@pytest.mark.parametrize(
    ("custom", "clean"),
    [
        ("unclear {offset:0; length:4;}", False),
        ("gap {offset:2; length:0; continued:false;}", False),
        ("supplied {offset:0; length:1; reason:x;}", False),
        ("person {offset:0; length:4;}", True),
    ],
)
def test_lines_in_which_people_tagged_doubts_are_not_clean(tmp_path, custom, clean):
    path = tmp_path / "p.xml"
    put_page(tmp_path / "p.png", path, ["eins"])
    path.write_text(path.read_text(encoding="utf-8").replace('id="l0"', f'id="l0" custom="{custom}"'), encoding="utf-8")
    assert [sample.clean for sample in found(tmp_path)[1]] == [clean]
