"""`drethtr segment` on pages of a made hand."""

from shutil import make_archive

import pytest
from made_pages import TEXTS, blank, letter, write
from PIL import Image
from PIL.TiffImagePlugin import STRIPBYTECOUNTS, STRIPOFFSETS

from drethtr.documents import read_page
from drethtr.documents.page_file import PageFile


@pytest.fixture
def scan(tmp_path):
    (tmp_path / "scans").mkdir()
    path = tmp_path / "scans" / "letter.png"
    letter().image.save(path)
    return path


@pytest.fixture
def segment(drethtr):
    """Find lines in the way that takes the least time."""
    return lambda *arguments: drethtr("segment", "--lines", "projection", *arguments)


def test_lines_are_found_but_not_read(drethtr, scan):
    outcome = drethtr("segment", scan.parent)
    assert outcome.code == 0 and f"{len(TEXTS)} lines found in 1 file; results are beside the scans" in outcome.out
    page = read_page(scan.with_name("letter.page.xml"))
    assert len(page.lines) == len(TEXTS) and all(line.baseline and line.polygon for line in page.lines)
    assert all(line.transcription is None for line in page.lines) and [one.kind for one in page.regions] == ["text"]


def test_existing_files_are_kept_and_not_taken_for_scans(segment, scan):
    segment(scan.parent)
    path = scan.with_name("letter.page.xml")
    path.write_bytes(path.read_bytes() + b"<!-- corrected -->")
    corrected = path.read_bytes()
    outcome = segment(scan)
    assert outcome.code == 0 and "1 file kept" in outcome.out and path.read_bytes() == corrected
    assert segment(scan, "--force").code == 0 and path.read_bytes() != corrected


def test_results_are_never_lost_in_the_folder_of_an_unpacked_file(segment, scan, tmp_path):
    archive = make_archive(str(tmp_path / "box"), "zip", scan.parent)
    outcome = segment(archive)
    assert outcome.code == 2 and "box.zip: results cannot be beside its scans; give a folder" in outcome.err
    assert segment(archive, "--output", tmp_path / "out").code == 0 and (tmp_path / "out" / "letter.page.xml").exists()


@pytest.mark.parametrize("format", ["page", "alto"])
def test_corrected_lines_are_kept_though_they_have_no_text(segment, scan, format):
    segment(scan, "--format", format)
    path = scan.with_name(f"letter.{format}.xml")
    file = PageFile.parse(path.read_bytes(), path.name)
    path.write_bytes(file.without_lines([file.page.lines[0].id]).data)
    outcome = segment(scan, "--format", format, "--force")
    assert outcome.code == 2 and f"{path.name}: is not replaced, because it was edited" in outcome.err
    assert len(read_page(path).lines) == len(TEXTS) - 1


def test_only_missing_files_are_written(segment, scan):
    segment(scan)
    path = scan.with_name("letter.page.xml")
    path.write_bytes(path.read_bytes() + b"<!-- corrected elsewhere -->")
    corrected = path.read_bytes()
    outcome = segment(scan, "--format", "page, alto")
    assert outcome.code == 0 and f"{len(TEXTS)} lines found in 1 file" in outcome.out
    assert path.read_bytes() == corrected
    assert len(read_page(scan.with_name("letter.alto.xml")).lines) == len(TEXTS)


def test_formats_and_a_folder(segment, scan, tmp_path):
    outcome = segment(scan, "--format", "alto,json", "--output", tmp_path / "out")
    assert outcome.code == 0 and f"results are in {tmp_path / 'out'}" in outcome.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["letter.alto.xml", "letter.json"]


def test_margins_are_marked(drethtr, tmp_path):
    page = write(blank(1000, 700), TEXTS, left=330)
    write(page, ["paid in", "full"], left=60, top=300, size=26, pitch=45).image.save(tmp_path / "a.png")
    assert drethtr("segment", tmp_path / "a.png").code == 0
    assert [region.kind for region in read_page(tmp_path / "a.page.xml").regions] == ["text", "margin"]


def test_what_cannot_be_segmented_is_told(segment, scan):
    (scan.parent / "broken.png").write_bytes(b"no image")
    outcome = segment(scan.parent)
    assert outcome.code == 1 and "broken.png" in outcome.err
    outcome = segment(scan.with_name("broken.png"))
    assert outcome.code == 2 and outcome.out == "0 lines found in 0 files\n"
    outcome = segment(scan, "--format", "pdf")
    assert outcome.code == 2 and "unknown format 'pdf'" in outcome.err


def test_a_page_that_cannot_be_used_costs_no_other_of_its_book(drethtr, tmp_path):
    """Neither one that is damaged, nor one with the work of a person."""
    page, book = letter().image, tmp_path / "book.tif"
    page.save(book, compression="tiff_lzw", save_all=True, append_images=[page, page])
    with Image.open(book) as image:
        image.seek(1)
        strips = list(zip(image.tag_v2[STRIPOFFSETS], image.tag_v2[STRIPBYTECOUNTS], strict=True))
    content = bytearray(book.read_bytes())
    for start, size in strips:
        content[start : start + size] = b"\xff" * size
    book.write_bytes(content)
    outcome = drethtr("segment", book)
    assert outcome.code == 1 and "book.tif page 2: cannot be read" in outcome.err
    assert f"{2 * len(TEXTS)} lines found in 1 file" in outcome.out
    outcome = drethtr("segment", book)
    assert outcome.code == 1 and "page 2: cannot be read" in outcome.err and "1 file kept" in outcome.out
    first, third = (tmp_path / f"book_000{number}.page.xml" for number in (1, 3))
    reviewed = first.read_bytes().replace(b'l1" custom="', b'l1" custom="drethtr {review:confirmed;} ')
    first.write_bytes(reviewed)
    before = third.read_bytes()
    outcome = drethtr("segment", book, "--force", "--lines", "projection")
    assert outcome.code == 1 and "book_0001.page.xml: is not replaced" in outcome.err
    assert first.read_bytes() == reviewed and third.read_bytes() != before


def test_pages_that_were_not_asked_for_are_not_counted(segment, scan):
    letter().image.save(scan.with_name("next.png"))
    outcome = segment(scan.parent, "--pages", "1")
    assert outcome.code == 0 and "1 file; results are beside the scans\n" in outcome.out
    outcome = segment(scan.parent, "--pages", "9")
    assert outcome.code == 2 and "none of the files has a page in the given ranges" in outcome.err


def test_two_scans_do_not_share_a_result(segment, scan):
    """The second was counted as kept, and had no lines."""
    letter().image.save(scan.with_suffix(".jpg"))
    outcome = segment(scan.parent)
    assert outcome.code == 2 and "would both be written to" in outcome.err
    assert "if they show the same page, give one kind of file, as in '*.png'" in outcome.err
    assert not scan.with_name("letter.page.xml").exists()
    assert segment(scan.parent / "*.png").code == 0


def test_files_of_other_programs_are_not_replaced(segment, scan):
    segment(scan)
    path = scan.with_name("letter.page.xml")
    theirs = path.read_text("utf-8").replace("<Creator>drethtr", "<Creator>Transkribus")
    path.write_text(theirs, "utf-8")
    for inputs in (scan.parent, path):
        outcome = segment(inputs, "--force")
        assert outcome.code == 2 and "another program wrote or changed it; write elsewhere with --output" in outcome.err
        assert path.read_text("utf-8") == theirs
    assert segment(scan.parent, "--lines", "rapid", "--output", scan.parent / "out").code == 0


@pytest.mark.parametrize("name", ["page", "alto", "json"])
def test_files_of_other_programs_elsewhere_are_not_replaced_and_ours_are(segment, scan, tmp_path, name):
    command = (scan, "--format", name, "--output", tmp_path, "--force")
    assert segment(*command).code == segment(*command).code == 0
    [path] = tmp_path.glob("letter.*")
    theirs = path.read_text("utf-8").replace("drethtr", "scribe")
    path.write_text(theirs, "utf-8")
    outcome = segment(*command)
    assert outcome.code == 2 and "another program wrote or changed it; write elsewhere with --output" in outcome.err
    assert path.read_text("utf-8") == theirs


def test_a_page_in_json_replaces_itself_if_drethtr_wrote_it(drethtr, scan):
    drethtr("segment", scan, "--format", "json")
    path = scan.with_name("letter.json")
    assert drethtr("segment", path, "--lines", "projection", "--format", "json", "--force").code == 0
