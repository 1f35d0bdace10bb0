import csv
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pikepdf
import pypdfium2
import pytest
from edited_folders import approve, foreign
from made_pages import TEXTS, blank, letter, write
from PIL import Image
from printed_pages import draw_page, put_page

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.cli.main import main
from drethtr.documents.formats import FORMATS
from drethtr.documents.page_file import PageFile
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review, Tag, Transcription
from drethtr.images.page import PageSource
from drethtr.pages.inputs import find_inputs
from drethtr.pages.record import RECORD
from drethtr.pages.source import open_originals
from drethtr.pages.transcribe import PageReader
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import load_model, save_record

ALL = ",".join(name for name in FORMATS if name != "pdfa")  # its files are named as those of pdf
LINES = ("--lines", "projection")


@pytest.fixture
def scans(tmp_path):
    """A folder with two pages."""
    folder = tmp_path / "scans"
    folder.mkdir()
    for name, texts in (("one", TEXTS[:3]), ("two", TEXTS[3:5])):
        write(blank(700, 400), texts).image.save(folder / f"{name}.png")
    return folder


@pytest.fixture
def book(tmp_path):
    """A TIFF of three pages."""
    pages = [write(blank(700, 320), TEXTS[start : start + 2]).image for start in (0, 2, 4)]
    path = tmp_path / "book.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


@pytest.fixture
def transcribe(drethtr, tiny_path):
    """`drethtr transcribe` with a small model and the finder that needs no network."""
    return lambda *arguments: drethtr("transcribe", *arguments, "--model", tiny_path, *LINES)


def names(folder):
    """Of what is in a folder of results, but the record of them."""
    return sorted(path.name for path in folder.iterdir() if path.name != RECORD)


def test_pages_in_an_unknown_hand_are_named_once(drethtr, tiny_path, scans, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.recognition.confidence.error_rate.MIN_LINES", 3)
    rate = ErrorRate(Recognizer.load(tiny_path).strategy, factor=100.0, spread=0.1, noise=2.0, sets=10)
    record, model = CalibrationRecord(error_rates=(rate,)), tmp_path / "doubting.safetensors"
    save_record(tiny_path, record, model, of=load_model(tiny_path))
    arguments = ("transcribe", scans, "--model", model, *LINES, "--format", "json")
    outcome = drethtr(*arguments, "--output", tmp_path / "out")
    pages = f"1 of 2 pages ({scans / 'one.png'})"
    sentence = f"The model does not know the hand, or the language, of {pages}: confirm about 60 lines of it in"
    assert outcome.code == 0 and outcome.err.count(sentence) == 1
    [flag] = json.loads((tmp_path / "out" / "one.json").read_text(encoding="utf-8"))["flags"]
    assert flag.startswith("unknown-hand: ")
    assert json.loads((tmp_path / "out" / "two.json").read_text(encoding="utf-8"))["flags"] == []
    told = drethtr(*arguments, "--output", tmp_path / "again", "--log", "json").err.splitlines()
    events = [event for event in map(json.loads, told) if event["event"] == "page"]
    assert [event["unknown_hand"] for event in events] == [True, False]


def test_every_format_of_every_page(transcribe, scans, tmp_path):
    outcome = transcribe(scans, "--format", ALL, "--output", tmp_path / "out")
    assert outcome == (0, "", "")
    assert names(tmp_path / "out") == sorted(
        name + FORMATS[format].ending for name in ("one", "two") for format in ALL.split(",")
    )
    page = read_page(tmp_path / "out" / "one.json")
    assert (tmp_path / "out" / "one.txt").read_text(encoding="utf-8") == page.text
    assert len(page.lines) == 3
    for other in ("one.page.xml", "one.alto.xml"):
        assert [line.text for line in read_page(tmp_path / "out" / other).lines] == [line.text for line in page.lines]


def test_a_pdf_made_of_a_scan_is_not_read_beside_it(transcribe, scans, tmp_path):
    """One that others made is, and so is one whose scan is gone."""
    assert transcribe(scans, "--format", "pdf", "--output", scans).code == 0
    assert transcribe(scans, "--format", "txt", "--output", tmp_path / "out").code == 0
    assert names(tmp_path / "out") == ["one.txt", "two.txt"]
    (scans / "one.png").unlink()
    letter().image.save(scans / "two.pdf")
    assert find_inputs([str(scans)]) == ([scans / "one.pdf", scans / "two.pdf", scans / "two.png"], [])


def test_pages_are_told_from_lines_by_their_shape(drethtr, scans, tiny_path):
    """A page has lines to find; the same with --lines whole is one line, and a low image is one by itself."""
    page = drethtr("transcribe", scans / "one.png", "--model", tiny_path, "--verbose")
    assert page.out.count("\n") == 3 and "one.png: 3 lines found (rapid)" in page.err
    whole = drethtr("transcribe", scans / "one.png", "--model", tiny_path, "--lines", "whole")
    assert whole.out.count("\n") == 1
    write(blank(700, 90), TEXTS[:1], top=20).image.save(scans / "line.png")
    line = drethtr("transcribe", scans / "line.png", "--model", tiny_path, "--format", "tsv")
    assert line.code == 0 and line.out.startswith("file\ttext")


def test_the_text_of_a_page_on_the_screen(transcribe, scans):
    alone = transcribe(scans / "one.png")
    assert alone.code == 0 and alone.out.count("\n") == 3 and "one.png" not in alone.out
    rows = transcribe(scans).out.splitlines()
    assert [row.split("\t")[0] for row in rows] == [str(scans / "one.png")] * 3 + [str(scans / "two.png")] * 2


def test_the_help_names_every_format(drethtr):
    words = re.findall(r"\w+", drethtr("transcribe", "--help").out)
    assert set(FORMATS) <= set(words)


@pytest.mark.parametrize("formats", ["pdf", "pdfa", "txt,page", "html"])
def test_what_a_screen_cannot_show_needs_a_folder(transcribe, scans, formats):
    outcome = transcribe(scans, "--format", formats)
    assert outcome.code == 2 and "--output" in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.parametrize("format", ["csv", "hocr", "alto", "page", "json"])
def test_files_of_several_pages_are_not_joined_on_the_screen(transcribe, scans, format):
    """Nothing could read them."""
    outcome = transcribe(scans, "--format", format)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"--format {format} can print only one file, not 2; give a folder as --output" in outcome.err
    assert transcribe(scans / "one.png", "--format", format).code == 0


def test_hidden_files_are_no_images(transcribe, scans):
    """As macOS leaves them on disks of others."""
    (scans / "._one.png").write_bytes(b"Mac OS X")
    outcome = transcribe(scans)
    assert outcome.code == 0 and "._one" not in outcome.err + outcome.out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_named():
    command = [sys.executable, "-m", "drethtr", "info"]
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=buffered)
    assert ended.returncode == 2 and ended.stderr == "drethtr: cannot write the output: No space left on device\n"


def test_finished_pages_are_skipped_and_missing_formats_added(transcribe, scans, tmp_path):
    out = tmp_path / "out"
    transcribe(scans / "one.png", "--format", "txt", "--output", out)
    (out / "one.txt").write_text("corrected by hand")
    outcome = transcribe(scans, "--format", "txt", "--output", out)
    assert outcome.code == 0 and "1 of 2 files already have results" in outcome.err
    assert (out / "one.txt").read_text() == "corrected by hand" and (out / "two.txt").exists()
    transcribe(scans / "one.png", "--format", "txt,page", "--output", out)
    assert (out / "one.txt").read_text() == "corrected by hand" and (out / "one.page.xml").exists()
    transcribe(scans, "--format", "txt", "--output", out, "--force")
    assert (out / "one.txt").read_text() != "corrected by hand"


def test_a_book_is_one_document_or_a_file_for_each_page(transcribe, book, tmp_path):
    out = tmp_path / "out"
    assert transcribe(book, "--format", "txt,alto,pdf", "--output", out).code == 0
    assert names(out) == ["book.pdf", "book.txt", *(f"book_000{number}.alto.xml" for number in (1, 2, 3))]
    assert (out / "book.txt").read_text(encoding="utf-8").count("\n") == 8  # six lines, two breaks between pages
    with pypdfium2.PdfDocument(out / "book.pdf") as pdf:
        assert len(pdf) == 3


@pytest.mark.parametrize("ending", ["tif", "pdf"])
def test_a_page_of_a_book_is_read_again_where_its_lines_were_found(drethtr, transcribe, book, tiny_path, ending):
    """Which page it is stands in the name of the file."""
    other = book.with_name(f"other.{ending}")
    with Image.open(book) as image:
        image.save(other, save_all=True)
    assert transcribe(other, "--format", "alto", "--output", other.parent).code == 0
    for number in (1, 3):
        path = other.with_name(f"other_000{number}.alto.xml")
        [original] = open_originals(path)
        assert original.source.number == number
        outcome = drethtr("transcribe", path, "--model", tiny_path, "--lines", "given")
        assert outcome.code == 0 and outcome.out.count("\n") == 2
    path = path.rename(other.with_suffix(".alto.xml"))
    outcome = drethtr("transcribe", path, "--model", tiny_path)
    assert outcome.code == 2 and "such as other_0001.xml" in outcome.err


def test_a_pdf_stays_as_it_is_and_gets_a_text(transcribe, tmp_path):
    page = write(blank(700, 400), TEXTS[:2]).image
    page.save(tmp_path / "letter.pdf", resolution=150)
    assert transcribe(tmp_path / "letter.pdf", "--format", "pdf,txt", "--output", tmp_path / "out").code == 0
    text = (tmp_path / "out" / "letter.txt").read_text(encoding="utf-8")
    pictures = []
    for path in (tmp_path / "letter.pdf", tmp_path / "out" / "letter.pdf"):
        with pypdfium2.PdfDocument(path) as pdf:
            pictures.append(np.asarray(pdf[0].render().to_pil()))
            found = pdf[0].get_textpage().get_text_range()
    assert text.count("\n") == 2 and len(found.split()) == len(text.split()) > 0
    assert np.array_equal(*pictures)


def test_a_pdf_is_no_line_whatever_is_said(drethtr, tiny_path, tmp_path):
    """Each of its pages may be one."""
    write(blank(700, 90), TEXTS[:1], top=20).image.save(tmp_path / "line.pdf")
    outcome = drethtr("transcribe", tmp_path / "line.pdf", "--model", tiny_path, "--lines", "whole")
    assert outcome.code == 0 and outcome.out.count("\n") == 1


def test_pages_of_a_book_that_was_written_do_not_stay(transcribe, book, tmp_path):
    """Its program was killed while it removed them."""
    out = tmp_path / "out"
    transcribe(book, "--format", "txt", "--output", out)
    (out / ".book.pages").mkdir()
    (out / ".book.pages" / "0003.0123456789abcdef.json").touch()
    assert transcribe(book, "--format", "txt", "--output", out).code == 0
    assert not (out / ".book.pages").exists()


@pytest.fixture
def read(monkeypatch):
    """A list that grows by each page that is read, until it has as many as its function allows."""
    real = PageReader.page

    class Read(list):
        def stop_at(self, number):
            def page(*arguments):
                if len(self) == number:
                    raise KeyboardInterrupt
                self.append(arguments)
                return real(*arguments)

            monkeypatch.setattr(PageReader, "page", page)

    found = Read()
    found.stop_at(None)
    return found


def test_a_stopped_book_goes_on_where_it_was(transcribe, book, tmp_path, read):
    """Ctrl-C leaves nothing half written; what was read is not read again."""
    out = tmp_path / "out"
    read.stop_at(2)
    assert transcribe(book, "--format", "txt", "--output", out).code != 0
    assert [name for name in names(out) if not name.startswith(".")] == []
    assert not list(out.rglob("*.unfinished"))
    read.stop_at(None)
    assert transcribe(book, "--format", "txt", "--output", out).code == 0
    assert len(read) == 3 and names(out) == ["book.txt"]
    assert (out / "book.txt").read_text(encoding="utf-8").count("\n") == 8


@pytest.mark.parametrize("change", [("--force",), ("--decoder", "greedy"), None], ids=["force", "decoder", "file"])
def test_a_stopped_book_starts_again_if_it_must(transcribe, book, tmp_path, read, change):
    """Where a person says so, where pages would be read in another way, and where the book is another one."""
    out = tmp_path / "out"
    read.stop_at(2)
    transcribe(book, "--format", "txt", "--output", out)
    read.stop_at(None)
    if change is None:
        pages = [write(blank(700, 300), TEXTS[start : start + 2]).image for start in (1, 3, 5)]
        pages[0].save(book, save_all=True, append_images=pages[1:])
    transcribe(book, "--format", "txt", "--output", out, *(change or ()))
    assert len(read) == 5 and names(out) == ["book.txt"]


def test_stopped_while_writing(transcribe, scans, tmp_path, monkeypatch):
    real = Path.write_bytes

    def stopped(path, content):
        real(path, content[:10])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", stopped)
    assert transcribe(scans / "one.png", "--output", tmp_path / "out").code != 0
    assert names(tmp_path / "out") == []


BAD = {
    "broken.png": b"\x89PNG\r\n\x1a\n",
    "broken.pdf": b"%PDF-1.4 nothing",
    "broken.xml": b"<PcGts",
    "mets.xml": b"<mets/>",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_and_the_rest_is_read(transcribe, scans, name):
    (scans / name).write_bytes(BAD[name])
    outcome = transcribe(scans / name, scans / "one.png")
    assert outcome.code == 1 and outcome.out.count("\n") == 3
    assert name in outcome.err and outcome.err.count("\n") == 1
    assert transcribe(scans / name).code == 2


def test_a_book_with_a_bad_page_is_not_done(transcribe, book, tmp_path, monkeypatch, read):
    """Pages keep their numbers; the bad one is tried again, and the others are not; then what lacks it is written."""
    out, gray = tmp_path / "out", PageSource.gray

    def damaged(source):
        if source.number == 2:
            raise DataError(f"{source.name}: is damaged")
        return gray(source)

    def pages():
        with (out / "book.csv").open(encoding="utf-8-sig", newline="") as file:
            return sorted({row["page"] for row in csv.DictReader(file)})

    run = (book, "--format", "csv,txt,hocr", "--output", out)
    monkeypatch.setattr(PageSource, "gray", damaged)
    assert transcribe(*run, "--format", "csv,txt,hocr,page").code == 1
    assert [path.name for path in sorted(out.glob("*.xml"))] == ["book_0001.page.xml", "book_0003.page.xml"]
    assert pages() == ["1", "3"] and "ppageno 2" in (out / "book.hocr").read_text(encoding="utf-8")
    (out / "book.txt").write_text("corrected by hand")
    again = transcribe(*run)
    assert again.code == 1 and "book.tif page 2: is damaged" in again.err and "done before" not in again.err
    assert len(read) == 2 and (out / "book.txt").read_text() == "corrected by hand"
    monkeypatch.setattr(PageSource, "gray", gray)
    assert transcribe(book, "--format", "csv", "--output", out).code == 0
    assert len(read) == 3 and pages() == ["1", "2", "3"]
    assert transcribe(*run).code == 0
    assert (out / "book.txt").read_text(encoding="utf-8").count("\n") == 8 and len(read) == 3
    assert not list(out.glob(".book.*"))
    assert "1 of 1 files already have results" in transcribe(*run).err
    monkeypatch.setattr(PageSource, "gray", damaged)
    assert transcribe(book, "--format", "csv,page", "--output", out).code == 1
    assert pages() == ["1", "2", "3"]  # what is whole stays so


def test_nothing_that_is_read_is_overwritten(transcribe, tmp_path):
    letter().image.save(tmp_path / "letter.pdf")
    before = (tmp_path / "letter.pdf").read_bytes()
    outcome = transcribe(tmp_path / "letter.pdf", "--format", "pdf", "--output", tmp_path, "--force")
    assert outcome.code == 2 and "would be overwritten" in outcome.err
    assert (tmp_path / "letter.pdf").read_bytes() == before


@pytest.mark.parametrize("formats", ["alto", "page,pdf,txt"])
def test_results_beside_the_scans_are_no_scans(transcribe, scans, book, formats):
    """The same command goes on there; a book among them has a file for each page."""
    with Image.open(book) as image:
        image.save(scans / "pages.tif", save_all=True)
    run = (scans, "--format", formats, "--output", scans)
    assert transcribe(*run).code == 0
    written = names(scans)
    for path in set(scans.glob("two.*")) - {scans / "two.png"}:
        path.unlink()
    outcome = transcribe(*run)
    assert (outcome.code, outcome.err) == (0, "2 of 3 files already have results; --force reads them again\n")
    assert names(scans) == written


def test_a_result_without_its_scan_is_an_input(transcribe, scans):
    transcribe(scans, "--format", "pdf", "--output", scans)
    (scans / "one.png").unlink()
    outcome = transcribe(scans, "--format", "pdf", "--output", scans)
    assert outcome.code == 2 and "one.pdf is an input and would be overwritten; choose another --output" in outcome.err


@pytest.fixture
def export(tmp_path):
    """A folder as Transkribus exports it: images, and PAGE in a folder beside them."""
    folder = tmp_path / "export"
    put_page(folder / "a.png", folder / "page" / "a.xml", ["abc", ""])
    draw_page(folder / "a.png", ["abc", "def"])
    return folder


def test_given_lines(drethtr, export, tiny_path):
    outcome = drethtr("transcribe", export / "page" / "a.xml", "--model", tiny_path, "--verbose", "--format", "json")
    assert outcome.code == 0 and "2 lines given" in outcome.err
    assert len(json.loads(outcome.out)["regions"][0]["lines"]) == 2


@pytest.mark.parametrize("options", [(), ("--update",)], ids=["read", "updated"])
def test_a_text_of_somebody_is_read_over_only_with_a_word_about_it(drethtr, export, tiny_path, tmp_path, options):
    """The other line has none; the texts of programs have confidences."""
    run = ("transcribe", export / "page" / "a.xml", "--model", tiny_path, "--format", "txt,alto", "--output")
    outcome = drethtr(*run, tmp_path / "out", *options)
    kept = (tmp_path / "out" / "a.txt").read_text(encoding="utf-8").startswith("abc\n")
    assert outcome.code == 0 and kept == bool(options)
    assert outcome.err.startswith("1 line already had text, apparently a person's") != kept
    again = drethtr("transcribe", tmp_path / "out" / "a.alto.xml", "--images", export, "--model", tiny_path)
    assert again.code == 0 and ("already had text" in again.err) == kept


def lose_place(path, *ids):
    """Take the polygons and baselines of some lines out of a PAGE file."""
    data = path.read_text(encoding="utf-8")
    for id in ids:
        data = re.sub(rf'(id="{id}">)<Coords[^>]*><Baseline[^>]*>', r"\1", data)
    path.write_text(data, encoding="utf-8")


def test_given_lines_that_cannot_be_read_are_named(drethtr, export, tiny_path):
    path = export / "page" / "a.xml"
    lose_place(path, "l0")
    outcome = drethtr("transcribe", path, "--model", tiny_path)
    assert outcome.code == 0 and outcome.out.count("\n") == 1 and "abc" not in outcome.out
    assert outcome.err.startswith(f"{path}: 1 of 2 given lines could not be read: l0\n1 line already had text")


def test_a_coordinate_that_is_none_costs_its_place_only(drethtr, export, tiny_path):
    path = export / "page" / "a.xml"
    data = path.read_text(encoding="utf-8")
    path.write_text(data.replace('points="30,45', 'points="30,4x', 1), encoding="utf-8")
    outcome = drethtr("transcribe", path, "--model", tiny_path)
    assert outcome.code == 0 and outcome.out.count("\n") == 2
    assert f"{path}: line 'l0': '4x' is not a number" in outcome.err and "this is left out" in outcome.err


def test_an_image_with_its_description_in_one_folder_is_read_once(drethtr, tmp_path, tiny_path):
    folder = tmp_path / "pages"
    put_page(folder / "a.png", folder / "a.xml", ["abc"])
    put_page(folder / "b.png", folder / "other" / "b.xml", ["abc"])
    (folder / "mets.xml").write_text("<mets/>")
    drethtr("transcribe", folder, "--model", tiny_path, "--output", tmp_path / "out", "--format", "txt")
    assert names(tmp_path / "out") == ["a.txt", "b.txt"]


def test_a_folder_passes_over_no_description(drethtr, tmp_path, tiny_path):
    """One whose image is missing and one that is damaged are named; the image of the latter is not read by itself."""
    folder = tmp_path / "pages"
    for name in "abc":
        put_page(folder / f"{name}.png", folder / f"{name}.xml", ["abc"])
    (folder / "b.png").unlink()
    whole = (folder / "c.xml").read_text(encoding="utf-8")
    (folder / "c.xml").write_text(whole[: len(whole) // 2], encoding="utf-16")
    (folder / "mets.xml").write_text("<mets/>")
    outcome = drethtr("transcribe", folder, "--model", tiny_path, "--output", tmp_path / "out")
    assert outcome.code == 1 and names(tmp_path / "out") == ["a.txt"]
    assert "b.xml: its image 'b.png' is missing" in outcome.err and "c.xml: not well-formed" in outcome.err
    assert "mets" not in outcome.err


def test_what_cannot_be_opened_has_its_own_reason(drethtr, tmp_path):
    """Where nothing else is given too; no model is loaded for it."""
    put_page(tmp_path / "gone.png", tmp_path / "page" / "a.xml", ["abc"])
    (tmp_path / "gone.png").unlink()
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save(tmp_path / "secret.pdf", encryption=pikepdf.Encryption(user="word", owner="word"))
    outcome = drethtr("transcribe", tmp_path / "page" / "a.xml", tmp_path / "secret.pdf", "--model", "nowhere")
    assert outcome.code == 2 and outcome.err.count("\n") == 2
    assert "its image 'gone.png' is missing" in outcome.err and "the PDF is encrypted" in outcome.err


def test_lines_that_are_not_given(drethtr, scans, tiny_path):
    outcome = drethtr("transcribe", scans, "--model", tiny_path, "--lines", "given")
    assert outcome.code == 2 and outcome.err.count("no lines given: put a PAGE or ALTO file") == 2


def test_update_writes_into_the_file_and_keeps_what_is_there(drethtr, export, tiny_path):
    """Only the line without text gets one; with --force both are read anew."""
    path = export / "page" / "a.xml"
    before = path.read_text(encoding="utf-8")
    assert drethtr("transcribe", path, "--model", tiny_path, "--update") == (0, "", "")
    kept, added = read_page(path).lines
    assert kept.text == "abc" and added.text
    assert path.read_text(encoding="utf-8") != before
    assert drethtr("transcribe", path, "--model", tiny_path, "--update", "--force").code == 0
    assert read_page(path).lines[0].text != "abc"


@pytest.mark.parametrize(
    "options", [("--format", "txt,page", "--output", "OUT"), ("--update",), ("--update", "--force")], ids=str
)
@pytest.mark.parametrize("approved", [False, True], ids=["the line", "its page"])
def test_a_line_that_a_person_reviewed_is_never_read(drethtr, export, tiny_path, tmp_path, options, approved):
    path = export / "page" / "a.xml"
    put_page(export / "a.png", path, ["abc", "mine"])
    if approved:
        approve(path)
    else:
        confirmed = path.read_text(encoding="utf-8").replace('id="l1"', 'id="l1" custom="drethtr {review:confirmed;}"')
        path.write_text(confirmed, encoding="utf-8")
    options = [str(tmp_path / "out") if option == "OUT" else option for option in options]
    outcome = drethtr("transcribe", path, "--model", tiny_path, *options)
    assert outcome.code == 0
    read = read_page(tmp_path / "out" / "a.page.xml" if "--output" in options else path).lines
    assert read[1].text == "mine" and read[1].is_reviewed
    assert (read[0].text == "abc") == (options == ["--update"] or approved)


def test_force_does_not_replace_the_work_of_a_person(transcribe, scans):
    """It is refused before the scan is read; the other one is read again."""
    write_beside = (scans, "--format", "page", "--output", scans)
    transcribe(*write_beside)
    path = scans / "one.page.xml"
    pattern, marked = '(<TextLine [^>]*custom=")', r"\1drethtr {review:corrected;} "
    reviewed = re.sub(pattern, marked, path.read_text(encoding="utf-8"), count=1)
    path.write_text(reviewed, encoding="utf-8")
    outcome = transcribe(*write_beside, "--force")
    assert outcome.code == 1
    assert "one.page.xml: is not replaced, because a person corrected or confirmed 1 line of it; --upd" in outcome.err
    assert path.read_text(encoding="utf-8") == reviewed


@pytest.fixture
def write_results(drethtr, tiny_path):
    """`drethtr transcribe` with a small model and the lines of files that describe pages, else those that it finds."""

    def run(inputs, formats, output, *more):
        return drethtr("transcribe", inputs, "--format", formats, "--output", output, "--model", tiny_path, *more)

    return run


def correct(path, text):
    """Correct the first line of a page file, as a person does in the editor; a second later, and so seen as newer."""
    file = PageFile.parse(path.read_bytes(), path.name)
    corrected = Transcription(text, review=Review.CORRECTED)
    path.write_bytes(file.with_line(replace(file.page.lines[0], transcription=corrected)).data)
    later = path.stat().st_mtime_ns + 2 * 10**9
    os.utime(path, ns=(later, later))


@pytest.fixture
def line(tmp_path):
    """A scan of one line."""
    write(blank(700, 90), TEXTS[:1], top=20).image.save(tmp_path / "one.png")
    return tmp_path / "one.png"


@pytest.mark.parametrize("folder", [".", "out"])
def test_results_from_before_a_person_corrected_another_are_named(write_results, line, folder):
    """What is advised writes them from the corrected text, after which nothing is said."""
    run = (line, "page,csv", line.parent / folder)
    path, table = (line.parent / folder / f"one.{ending}" for ending in ("page.xml", "csv"))
    write_results(*run)
    assert "a person has since" not in write_results(*run).err
    correct(path, "corrected")
    told = write_results(*run).err
    assert "one.png: a person has since corrected results in" in told
    assert "to write the others again, delete only them, and repeat the command" in told
    table.unlink()
    os.utime(path, ns=(0, 0))  # what is written after it is newer
    assert write_results(*run).code == 0
    assert "corrected" in table.read_text(encoding="utf-8")
    again = write_results(*run)
    assert again.code == 0 and "a person has since" not in again.err


def test_a_result_written_from_a_corrected_one_is_nobodys_later_work(write_results, line):
    path, alto, run = line.with_suffix(".page.xml"), line.with_suffix(".alto.xml"), (line, "page,alto", line.parent)
    write_results(*run)
    correct(path, "corrected")
    os.utime(path, ns=(0, path.stat().st_mtime_ns - 4 * 10**9))
    alto.unlink()
    write_results(path, "alto", line.parent, "--update")
    assert b"corrected" in alto.read_bytes() and "a person has since" not in write_results(*run).err
    alto.write_bytes(alto.read_bytes().replace(b"corrected", b"corrected again"))
    assert "a person has since" in write_results(*run).err


@pytest.mark.parametrize("folder", [".", "out"])
def test_a_format_that_is_added_later_has_what_was_corrected(write_results, book, folder):
    """It had the model's reading without a word, and was then newer than the correction; in a book on all its pages."""
    out = book.parent / folder
    write_results(book, "page", out)
    correct(out / "book_0002.page.xml", "corrected")
    before = (out / "book_0002.page.xml").read_bytes()
    for formats in ("page,csv,pdf", "txt"):
        outcome = write_results(book, formats, out)
        assert (outcome.code, outcome.err) == (0, "")
    assert (out / "book_0002.page.xml").read_bytes() == before
    for name in ("book.csv", "book.txt"):
        assert (out / name).read_text(encoding="utf-8").count("corrected") == 1
    os.utime(out / "book_0002.page.xml", ns=(0, 0))  # what was written after it is newer
    again = write_results(book, "page,csv", out)
    assert again.code == 0 and "1 of 1 files already" in again.err and "a person has since" not in again.err


def test_a_format_that_is_added_later_has_what_was_corrected_of_a_given_page(write_results, export, tmp_path):
    """The result is corrected, not the file that it was made from, which is in another folder."""
    given, out = export / "page" / "a.xml", tmp_path / "out"
    write_results(given, "page", out)
    correct(out / "a.page.xml", "corrected")
    outcome = write_results(given, "page,txt", out)
    assert outcome.code == 0 and (out / "a.txt").read_text(encoding="utf-8").startswith("corrected\n")
    again = write_results(given, "page,txt", out)
    assert again.code == 0 and "1 of 1 files already have results" in again.err


def test_results_with_copies_of_corrected_lines_are_written_again_and_again(write_results, scans):
    """As docs/archivist.md advises after corrections; the copies counted as a person's work on that file."""
    write_results(scans, "page,alto,csv", scans)
    for text in ("first", "second"):
        correct(scans / "one.page.xml", text)
        outcome = write_results(scans, "alto,csv", scans, "--force")
        assert (outcome.code, outcome.err) == (0, "")
        assert read_page(scans / "one.alto.xml").lines[0].text == text
        assert text in (scans / "one.csv").read_text(encoding="utf-8")
        os.utime(scans / "one.page.xml", ns=(0, 0))  # what was written after it is newer
        assert "a person has since" not in write_results(scans, "page,alto,csv", scans).err


@pytest.mark.parametrize("lost", ["its correction", "nothing, but the copy was corrected, too", "the PAGE file"])
def test_a_copy_of_corrected_lines_that_is_the_only_one_is_not_replaced(write_results, scans, lost):
    """Without the PAGE file it describes its page itself, and its other lines are read again."""
    path, copy = scans / "one.page.xml", scans / "one.alto.xml"
    write_results(scans, "page,alto", scans)
    read = path.read_bytes()
    correct(path, "corrected")
    write_results(scans, "alto", scans, "--force")
    if lost.startswith("nothing"):
        correct(copy, "better")
    elif lost == "its correction":
        path.write_bytes(read)
    else:
        path.unlink()
    kept = read_page(copy).lines[0]
    outcome = write_results(scans, "alto", scans, "--force")
    if path.exists():
        assert outcome.code == 1 and "one.alto.xml: is not replaced, because a person corrected" in outcome.err
    assert kept.is_reviewed and read_page(copy).lines[0] == kept


def test_an_alto_file_of_ours_does_not_take_the_place_of_a_scan_whose_page_file_is_a_result(write_results, scans):
    """Nothing was read then, as the results beside it "were made from different files"."""
    write_results(scans, "page,alto", scans)
    outcome = write_results(scans, "page,txt", scans)
    assert (outcome.code, outcome.err) == (0, "") and (scans / "two.txt").exists()


def test_other_results_have_the_text_of_a_file_by_another_program_that_is_named_like_a_result(write_results, scans):
    write_results(scans, "alto", scans)
    path = foreign(scans / "one.alto.xml")
    path.write_bytes(re.sub(rb' WC="[^"]*"', b"", re.sub(rb'CONTENT="[^"]*"', b'CONTENT="theirs"', path.read_bytes())))
    write_results(scans, "alto,txt", scans)
    assert {*(scans / "one.txt").read_text(encoding="utf-8").split()} == {"theirs"}


def test_a_file_that_is_newer_than_its_other_results_is_named(drethtr, export, tiny_path):
    """Whatever program corrected it, its text would be missing in what is kept."""
    path, text = export / "page" / "a.xml", export / "page" / "a.txt"
    run = ("transcribe", path, "--update", "--format", "txt", "--output", path.parent, "--model", tiny_path)
    assert "newer than" not in drethtr(*run).err + drethtr(*run).err
    path.write_bytes(path.read_bytes().replace(b"abc", b"corrected"))
    os.utime(text, ns=(0, path.stat().st_mtime_ns - 2 * 10**9))
    assert f"a.xml: newer than the other results in {path.parent}" in drethtr(*run).err
    text.unlink()
    assert "newer than" not in drethtr(*run).err and "corrected" in text.read_text(encoding="utf-8")


@pytest.mark.parametrize("beside", [True, False], ids=["in place", "a copy"])
def test_what_is_advised_for_stale_results_reads_no_text_of_a_person_over(drethtr, export, tiny_path, tmp_path, beside):
    path = export / "page" / "a.xml"
    out = path.parent if beside else tmp_path / "out"
    run = ("transcribe", path, "--update", "--format", "txt", "--output", out, "--model", tiny_path, "--decoder")
    drethtr(*run, "ctc")
    outcome = drethtr(*run, "greedy")
    assert outcome.code == 1 and "choose another --output, or delete them to write them again" in outcome.err
    for result in (out / "a.txt", *([] if beside else [out / "a.xml"])):
        result.unlink()
    assert drethtr(*run, "greedy").code == 0 and read_page(out / "a.xml").lines[0].text == "abc"


def test_tags_go_with_a_line_that_is_read_again(drethtr, export, tiny_path, tmp_path):
    path = export / "page" / "a.xml"
    file = PageFile.parse(path.read_bytes(), "a")
    path.write_bytes(file.with_tags(file.page.lines[0].id, [Tag("person", 0, 3), Tag("gap", 0, 0)]).data)
    drethtr("transcribe", path, "--format", "page,tags", "--output", tmp_path / "out", "--model", tiny_path)
    text = read_page(tmp_path / "out" / "a.page.xml").lines[0].transcription
    assert {tag.name for tag in text.tags} >= {"gap"} and all(tag.length <= len(text.text) for tag in text.tags)
    assert "gap" in (tmp_path / "out" / "a.tags.csv").read_text(encoding="utf-8")


def test_only_lines_that_were_read_are_counted(export, tiny_path, monkeypatch, capsys):
    """The first run finds one line without text, the second none."""
    arguments = ["drethtr", "transcribe", str(export / "page" / "a.xml"), "--model", str(tiny_path), "--update"]
    monkeypatch.setattr(sys, "argv", arguments)
    for said in ("of 1 line flagged", "no line was read: 2 have text, which --force would replace\n"):
        with suppress(SystemExit):
            main()
        assert said in capsys.readouterr().err


def test_update_of_a_copy(drethtr, export, tiny_path, tmp_path):
    path = export / "page" / "a.xml"
    before = path.read_bytes()
    drethtr("transcribe", path, "--model", tiny_path, "--update", "--output", tmp_path / "out", "--format", "txt")
    assert path.read_bytes() == before and names(tmp_path / "out") == ["a.txt", "a.xml"]


def test_a_copy_that_is_there_is_not_written_again(drethtr, export, tiny_path, tmp_path):
    """Somebody may have corrected it."""
    run = ("transcribe", export / "page" / "a.xml", "--model", tiny_path, "--update", "--output", tmp_path / "out")
    drethtr(*run)
    copy = tmp_path / "out" / "a.xml"
    copy.write_text(copy.read_text(encoding="utf-8").replace("abc", "by hand"), encoding="utf-8")
    for more in ((), ("--format", "txt")):
        assert drethtr(*run, *more).code == 0
        assert read_page(copy).lines[0].text == "by hand"
    drethtr(*run, "--force")
    assert read_page(copy).lines[0].text != "by hand"


def test_copies_of_equal_names_are_kept_apart(drethtr, export, tiny_path, tmp_path):
    other = tmp_path / "other" / "a.xml"
    put_page(other.with_suffix(".png"), other, ["", ""])
    paths = (export / "page" / "a.xml", other)
    outcome = drethtr("transcribe", *paths, "--model", tiny_path, "--update", "--output", tmp_path / "out")
    assert outcome.code == 0
    copies = (path.relative_to(tmp_path) for path in paths)
    assert all((tmp_path / "out" / copy).exists() for copy in copies)


def test_a_copy_and_a_format_of_one_name_are_refused(drethtr, tmp_path, tiny_path):
    """The new PAGE file would replace the one that was given, with all it holds beside text."""
    path = tmp_path / "a.page.xml"
    put_page(tmp_path / "a.png", path, ["abc", ""])
    before = path.read_bytes()
    run = ("transcribe", path, "--model", tiny_path, "--update", "--format", "page", "--force", "--output")
    for folder in (tmp_path, tmp_path / "out"):
        outcome = drethtr(*run, folder)
        assert outcome.code == 2 and "--update and --format would both write" in outcome.err
    assert path.read_bytes() == before and not (tmp_path / "out").exists()


@pytest.mark.parametrize("finder", ["rapid", "projection", "whole"])
def test_update_with_lines_that_are_found(drethtr, export, tiny_path, finder):
    """They have names like those given, and other places."""
    path = export / "page" / "a.xml"
    before = path.read_bytes()
    outcome = drethtr("transcribe", path, "--model", tiny_path, "--update", "--lines", finder)
    assert outcome.code == 2 and f"leave out the segmentation {finder!r}" in outcome.err
    assert path.read_bytes() == before


def test_update_of_a_file_without_lines(drethtr, tmp_path):
    """It is not read in vain."""
    put_page(tmp_path / "a.png", tmp_path / "a.xml", [])
    before = (tmp_path / "a.xml").read_bytes()
    outcome = drethtr("transcribe", tmp_path / "a.xml", "--model", "nowhere", "--update")
    assert outcome.code == 2 and "has no lines to write text into" in outcome.err
    assert (tmp_path / "a.xml").read_bytes() == before


@pytest.mark.parametrize("protect", ["write-protected", "2 names (hard links)"])
def test_a_file_that_is_protected_is_not_updated(protect, drethtr, export, tiny_path, tmp_path):
    path = export / "page" / "a.xml"
    before = path.read_bytes()
    if protect == "write-protected":
        path.chmod(0o444)
    else:
        (tmp_path / "backup.xml").hardlink_to(path)
    outcome = drethtr("transcribe", path, "--update", "--model", tiny_path)
    assert outcome.code == 2 and f"{path}: cannot be written: it " in outcome.err and protect in outcome.err
    assert path.read_bytes() == before


def test_doubtful_words_are_marked_in_text_alone(transcribe, scans, tmp_path):
    """A model with random weights doubts all it says."""
    rows = transcribe(scans, "--doubts").out.splitlines()
    assert len(rows) == 5 and any("?]" in row for row in rows)
    transcribe(scans, "--doubts", "--format", "txt,json", "--output", tmp_path / "out")
    text = (tmp_path / "out" / "one.txt").read_text(encoding="utf-8")
    assert [f"{scans / 'one.png'}\t{row}" for row in text.splitlines()] == rows[:3]
    assert "?]" not in (tmp_path / "out" / "one.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lines", "kraken2"), "did you mean 'kraken'"),
        (("--format", "tsv", "--lines", "projection"), "use csv otherwise"),
        (("--format", "txt,atlo"), "did you mean 'alto'"),
    ],
)
def test_misspelled_choices(drethtr, scans, tiny_path, arguments, message):
    outcome = drethtr("transcribe", scans, "--model", tiny_path, *arguments)
    assert outcome.code == 2 and message in outcome.err and outcome.err.count("\n") == 1


def test_an_empty_page_is_read_as_one(transcribe, tmp_path):
    Image.fromarray(np.full((600, 500), 220, np.uint8)).save(tmp_path / "blank.png")
    outcome = transcribe(tmp_path / "blank.png", "--format", ALL, "--output", tmp_path / "out")
    assert outcome == (0, "", f"{tmp_path / 'blank.png'}: no lines found\n")
    assert (tmp_path / "out" / "blank.txt").read_text() == ""
