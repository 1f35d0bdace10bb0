"""Volumes that METS lists: which pages they have, in which order, with which images and lines."""

from random import Random

import pytest
from growth import steps
from mets_examples import ALTO_TYPE, PAGE_TYPE, any_volume, counted_by_lxml, mets_of
from page_examples import document_of
from PIL import Image
from printed_pages import put_page

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.base.links import open_ordinary
from drethtr.documents.document import Provenance
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Tag
from drethtr.pages import Skipped
from drethtr.pages.inputs import find_inputs
from drethtr.pages.mets import pages_of_mets
from drethtr.pages.opening import open_job
from drethtr.pages.source import Original, open_originals
from drethtr.pages.task import PageCache
from drethtr.pages.volume import AbsentPage

IMAGES = [("I1", "image/png", "OCR-D-IMG/a.png"), ("I2", "image/png", "OCR-D-IMG/b.png")]
LINES = [("G1", PAGE_TYPE, "OCR-D-SEG/a.xml"), ("G2", PAGE_TYPE, "OCR-D-SEG/b.xml")]


@pytest.fixture
def workspace(tmp_path):
    """Two pages with lines, in a workspace of OCR-D; the second file is the first page."""
    for name, texts in (("a", ["eins", "zwei"]), ("b", ["drei"])):
        put_page(tmp_path / "OCR-D-IMG" / f"{name}.png", tmp_path / "OCR-D-SEG" / f"{name}.xml", texts)
    return tmp_path


def volume(folder, groups, *pages):
    path = folder / "mets.xml"
    path.write_text(mets_of(groups, pages), encoding="utf-8")
    return path


def test_pages_come_in_the_order_of_the_physical_structure(workspace):
    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("10", ["I1", "G1"]), ("9", ["I2", "G2"]))
    first, second = open_originals(path)
    assert [page.source.path.name for page in (first, second)] == ["b.png", "a.png"]
    assert [(page.source.number, page.source.pages) for page in (first, second)] == [(1, 2), (2, 2)]
    assert [line.text for line in second.given().lines] == ["eins", "zwei"] and second.has_lines
    assert second.name == str(workspace / "OCR-D-SEG" / "a.xml") and not second.is_line
    assert second.scan().file == workspace / "OCR-D-IMG" / "a.png"


def test_each_description_of_a_page_is_read_once(tmp_path):
    def read(number):
        for n in range(number):
            (tmp_path / f"{n}.png").touch()
            (tmp_path / f"{n}.xml").write_bytes(FORMATS["page"].write(document_of(Page(f"{n}.png", 9, 9))))
        images = [(f"I{n}", "image/png", f"{n}.png") for n in range(number)]
        lines = [(f"G{n}", PAGE_TYPE, f"{n}.xml") for n in reversed(range(number))]
        path = volume(tmp_path, {"IMG": images, "PAGE": lines}, ("1", [id for id, *_ in (*images, *lines)]))
        return steps(lambda: pages_of_mets(path))

    read(2)  # what is done once
    assert read(40) < 4.8 * read(10)


def test_the_last_step_of_a_workflow_counts_and_page_before_alto(workspace):
    put_page(workspace / "unused.png", workspace / "OCR-D-OCR" / "a.xml", ["fünf"])
    page = read_page(workspace / "OCR-D-SEG" / "a.xml")
    (workspace / "a.alto.xml").write_bytes(FORMATS["alto"].write(document_of(page)))
    later, alto = [("O1", PAGE_TYPE, "OCR-D-OCR/a.xml")], [("A1", ALTO_TYPE, "a.alto.xml")]
    groups = {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES, "OCR-D-OCR": later, "FULLTEXT": alto}
    [found] = open_originals(volume(workspace, groups, ("1", ["I1", "G1", "O1", "A1"])))
    assert [line.text for line in found.given().lines] == ["fünf"]
    [found] = open_originals(volume(workspace, groups, ("1", ["I1", "A1"])))
    assert [line.text for line in found.given().lines] == ["eins", "zwei"]


def test_the_largest_image_that_is_here_is_read(workspace):
    """Thumbnails never are; names may be written as addresses are."""
    (workspace / "OCR-D-IMG" / "b.png").rename(workspace / "OCR-D-IMG" / "b c.png")
    groups = {
        "THUMBS": [("T", "image/png", "OCR-D-IMG/a.png")],
        "DEFAULT": [("D", "image/png", "OCR-D-IMG/b%20c.png")],
        "MAX": [("M", "image/png", "https://example.org/max.png")],
        "DOWNLOAD": [("P", "application/pdf", "volume.pdf")],
    }
    [found] = open_originals(volume(workspace, groups, ("1", ["T", "D", "M", "P"])))
    assert found.source.path.name == "b c.png"
    with pytest.raises(DataError, match=r"page 1: it has no image, only a PDF; give that itself: volume\.pdf"):
        open_originals(volume(workspace, groups, ("1", ["T", "P"])))


def test_images_on_no_page_are_named_once(workspace):
    """Groups of which no page has anything, such as smaller copies, are not counted."""
    groups = {"OCR-D-IMG": IMAGES, "OCR-D-BIN": [("B2", "image/png", "OCR-D-BIN/b.png")]}
    [found] = open_originals(volume(workspace, groups, ("1", ["I1"])))
    [remark] = found.remarks(Page("a.png", 9, 9))
    assert remark == f"{workspace / 'mets.xml'}: 1 image on no page of its structure, not read: OCR-D-IMG/b.png"
    first, second = open_originals(volume(workspace, groups, ("1", ["I1"]), ("2", ["I2"])))
    assert not [*first.remarks(Page("a.png", 9, 9)), *second.remarks(Page("b.png", 9, 9))]


def test_addresses_of_files_on_this_machine(workspace):
    place = (workspace / "OCR-D-IMG" / "a.png").as_uri()
    [found] = open_originals(volume(workspace, {"IMG": [("I1", "image/png", place)]}, ("1", ["I1"])))
    assert found.source.path == workspace / "OCR-D-IMG" / "a.png"


def test_transkribus_points_to_files_through_areas(workspace):
    path = volume(workspace, {"IMG": IMAGES, "PAGEXML": LINES}, ("1", ["I1", "G1"]))
    text = path.read_text(encoding="utf-8")
    text = text.replace('TYPE="PHYSICAL"', 'TYPE="MANUSCRIPT"').replace('<mets:div TYPE="physSequence">', "<mets:div>")
    for id in ("I1", "G1"):
        text = text.replace(f'<mets:fptr FILEID="{id}"/>', f'<mets:fptr><mets:area FILEID="{id}"/></mets:fptr>')
    path.write_text(text, encoding="utf-8")
    [found] = open_originals(path)
    assert found.source.path.name == "a.png" and found.has_lines


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("https://example.org/a.png", r"its image is at https://example\.org/a\.png, and only the METS file is here"),
        ("nowhere.png", r"its image nowhere\.png is missing"),
        ("http://[", r"its image is at http://\[, and only the METS file is here"),
    ],
)
def test_a_page_without_its_image_is_missed_alone(workspace, place, reason):
    groups = {"OCR-D-IMG": [IMAGES[0], ("I2", "image/png", place)]}
    first, second = open_originals(volume(workspace, groups, ("1", ["I1"]), ("2", ["I2"])))
    assert first.source.gray().shape == (180, 400)
    with pytest.raises(DataError, match=rf"mets\.xml page 2: {reason}"):
        second.source.gray()


@pytest.mark.parametrize(
    "place", ["{0}", "file://{0}", "../../mine.png", "%2e%2e/%2e%2e/mine.png", "a/../../../mine.png"]
)
def test_nothing_is_read_far_from_the_volume(workspace, place):
    """Whoever wrote the METS file chose the names; what is read may be copied into results."""
    folder = workspace / "sent" / "volume"
    folder.mkdir(parents=True)
    mine, image = workspace / "mine.png", workspace / "OCR-D-IMG" / "a.png"
    mine.write_bytes(image.read_bytes())
    image.rename(folder.parent / "a.png")
    files = [("I1", "image/png", place.format(mine)), ("I2", "image/png", "../a.png")]
    far, near = open_originals(volume(folder, {"IMG": files}, ("1", ["I1"]), ("2", ["I2"])))
    assert near.source.gray().shape == (180, 400)
    with pytest.raises(DataError, match=r"is missing; put it into the folder of the METS file or the one above"):
        far.source.gray()
    mine.rename(workspace / "mine.xml")
    (workspace / "mine.xml").write_bytes((workspace / "OCR-D-SEG" / "a.xml").read_bytes())
    lines = [("G1", PAGE_TYPE, place.format(workspace / "mine.png").replace("mine.png", "mine.xml"))]
    [page] = open_originals(volume(folder, {"IMG": files[1:], "SEG": lines}, ("1", ["I2", "G1"])))
    assert not page.has_lines


def test_a_page_that_waits_is_read_again_if_its_lines_change(workspace):
    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1", "G1"]), ("2", ["I2", "G2"]))
    page, _ = open_originals(path)
    cache, provenance = PageCache(workspace / "waiting"), Provenance.now("model")

    def lines():
        return [line.text for line in cache.page(page, Original.given, "reader", provenance).lines]

    assert lines() == lines() == ["eins", "zwei"]
    put_page(workspace / "unused.png", workspace / "OCR-D-SEG" / "a.xml", ["fünf"])
    assert lines() == ["fünf"]


def test_a_page_that_waits_keeps_what_people_marked(workspace):
    lines = workspace / "OCR-D-SEG" / "a.xml"
    custom = '<TextLine custom="person {offset:0; length:4; firstname:Anne;}" '
    lines.write_text(lines.read_text(encoding="utf-8").replace("<TextLine ", custom), encoding="utf-8")
    page, _ = open_originals(
        volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1", "G1"]), ("2", ["I2", "G2"]))
    )
    cache = PageCache(workspace / "waiting")
    read, waiting = (cache.page(page, Original.given, "reader", Provenance.now("model")) for _ in range(2))
    tags = [line.transcription.tags for line in waiting.lines]
    assert tags == [line.transcription.tags for line in read.lines] and tags[0] == (
        Tag("person", 0, 4, (("firstname", "Anne"),)),
    )


def test_a_folder_is_read_without_its_volume_and_the_volume_is_not_updated(workspace):
    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1", "G1"]))
    put_page(workspace / "c.png", workspace / "c.xml", ["vier"])
    assert find_inputs([str(workspace)]) == ([workspace / "c.xml"], [])
    [error] = open_job([path], None, (), update=True).unreadable
    assert "neither PAGE nor ALTO" in str(error)


@pytest.mark.parametrize("content", ["<mets:mets", '<!DOCTYPE a><mets xmlns="a"/>', "<mets/>"])
def test_what_is_no_volume_is_refused(tmp_path, content):
    (tmp_path / "mets.xml").write_text(content)
    with pytest.raises(DataError, match=r"mets\.xml: "):
        open_originals(tmp_path / "mets.xml")


def test_a_description_that_cannot_be_opened_costs_its_page_only(workspace, monkeypatch):
    def opened(path):
        if path.name == "a.xml":
            raise PermissionError(13, "Permission denied")
        return open_ordinary(path)

    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1", "G1"]), ("2", ["I2", "G2"]))
    monkeypatch.setattr("drethtr.documents.read.open_ordinary", opened)
    first, second = open_originals(path)
    assert str(first.error).endswith("a.xml: cannot be read: Permission denied")
    assert second.error is None and second.has_lines


def test_of_two_descriptions_the_one_that_can_be_opened_is_used(workspace, monkeypatch):
    def opened(path):
        if path.name == "a.alto.xml":
            raise PermissionError(13, "Permission denied")
        return open_ordinary(path)

    (workspace / "a.alto.xml").write_text("<alto")
    groups = {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES, "FULLTEXT": [("A1", ALTO_TYPE, "a.alto.xml")]}
    path = volume(workspace, groups, ("1", ["I1", "G1", "A1"]), ("2", ["I2", "G2"]))
    monkeypatch.setattr("drethtr.documents.read.open_ordinary", opened)
    first, second = open_originals(path)
    used = workspace / "OCR-D-SEG" / "a.xml"
    assert (first.error, first.description) == (None, used)
    told = [*first.remarks(first.given())]
    assert told == [f"{workspace / 'a.alto.xml'}: cannot be opened; {used} is used instead"]
    assert not [*second.remarks(second.given())]


def test_a_damaged_description_costs_its_page_only(workspace, tiny_path, tmp_path):
    (workspace / "OCR-D-SEG" / "a.xml").write_text("<PcGts", encoding="utf-8")
    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1", "G1"]), ("2", ["I2", "G2"]))
    events = []
    job = open_job([path], tmp_path / "out", ["page"])
    summary = job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"), events.append)
    assert summary[:2] == (1, 1) and not job.unreadable
    [skipped] = [event.error for event in events if isinstance(event, Skipped)]
    assert skipped.source == str(workspace / "OCR-D-SEG" / "a.xml")
    assert [path.name for path in (tmp_path / "out").glob("*.xml")] == ["mets_0002.page.xml"]


def test_a_page_without_lines_costs_itself_only(workspace, tiny_path, tmp_path):
    path = volume(workspace, {"OCR-D-IMG": IMAGES, "OCR-D-SEG": LINES}, ("1", ["I1"]), ("2", ["I2", "G2"]))
    job = open_job([path], tmp_path / "out", ["page"], segmentation="given")
    assert job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"))[:2] == (1, 1)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("volume")
    for number in range(8):
        Image.new("L", (60, 90), 255).save(folder / f"p{number}.png")
        Image.new("L", (12, 18), 255).save(folder / f"t{number}.png")
    return folder


def test_every_page_is_read_or_named_in_its_place(scans):
    for seed in range(240):
        content = any_volume(Random(seed))
        path = scans / f"mets{seed}.xml"
        path.write_bytes(content)
        found = [original.source for original in open_originals(path)]
        expected = [(way, place) for way, places in counted_by_lxml(content) for place in places or [""]]
        assert [page.number for page in found] == list(range(1, len(expected) + 1)), path.name
        for page, (way, place) in zip(found, expected, strict=True):
            if isinstance(page, AbsentPage):
                assert way not in ("one", "parts") and place in page.reason, path.name
            else:
                assert page.path.name == place and not place.startswith("t"), path.name
