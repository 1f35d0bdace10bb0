"""Jobs as Python programs run them; tests/cli/test_transcribe_pages.py has their other laws."""

import csv
import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from made_pages import TEXTS, blank, write
from printed_pages import draw_page, put_page

from drethtr import Recognizer
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.read import read_page
from drethtr.images.page import PageSource
from drethtr.pages import FileRead, PageRead, Planned, Skipped, open_job
from drethtr.pages.record import RECORD, Record


@pytest.fixture
def scans(tmp_path):
    """A folder with a page, a page of two, and a broken file."""
    folder = tmp_path / "scans"
    folder.mkdir()
    write(blank(700, 400), TEXTS[:3]).image.save(folder / "one.png")
    pages = [write(blank(700, 320), TEXTS[start : start + 2]).image for start in (0, 2)]
    pages[0].save(folder / "two.tif", save_all=True, append_images=pages[1:])
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def test_a_folder_is_transcribed_once(scans, tiny_path, tmp_path):
    """A second run finds all there."""
    events = []
    job = open_job([scans], tmp_path / "out", ["txt", "alto"], segmentation="projection")
    assert [error.source for error in job.unreadable] == [str(scans / "broken.png")] and len(job.tasks) == 2
    summary = job.run(lambda: Recognizer.load(tiny_path), events.append)
    assert (summary.done, summary.failed) == (2, 1) and summary.doubts.lines == 7
    assert [type(event) for event in events] == [Planned, PageRead, FileRead, PageRead, PageRead, FileRead]
    one, two = scans / "one.png", scans / "two.tif"
    assert list(map(str, events)) == [
        "2 files to read, 0 files done before",
        f"{one}: read, 3 lines",
        f"{one}: done",
        f"{two} page 1: read, 2 lines",
        f"{two} page 2: read, 2 lines",
        f"{two}: done",
    ]
    assert repr(job) == "<PageJob: 2 files to read, 1 unreadable>"
    names = {RECORD, "one.txt", "one.alto.xml", "two.txt", "two_0001.alto.xml", "two_0002.alto.xml"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert (tmp_path / "out" / "one.txt").read_text(encoding="utf-8") == events[2].document.pages[0].text
    again = open_job([scans], tmp_path / "out", ["txt", "alto"], segmentation="projection")
    events.clear()
    assert again.run(lambda: Recognizer.load(tiny_path), events.append)[:2] == (2, 1)
    [(plan,)] = events
    assert len(plan.done) == 2 and not (plan.waiting or plan.unrecorded or plan.refused)


def test_a_text_that_a_format_cannot_hold_is_told_with_its_file(tmp_path, tiny_path):
    xml, events = tmp_path / "a.xml", []
    put_page(tmp_path / "a.png", xml, ["LONG"])
    approved = '<Metadata><TranskribusMetadata status="GT"/>'
    xml.write_text(xml.read_text().replace("LONG", "a" * 33_000).replace("<Metadata>", approved))
    open_job([xml], tmp_path / "out", ["xlsx"]).run(lambda: Recognizer.load(tiny_path), events.append)
    [told] = [str(event) for event in events if isinstance(event, Skipped)]
    assert told == f"{xml}: the text of a line or cell is longer than Excel allows; use --format csv or tables"


def test_pages_that_are_looked_at_ahead_are_read_alike_and_in_order(scans, tiny_path, tmp_path):
    """With given lines, pages in a file, and scans that disappear between planning and reading."""
    put_page(scans / "zed.png", scans / "zed.xml", TEXTS[:2])
    for name in ("lost.png", "lost2.png"):
        write(blank(700, 400), TEXTS[:2]).image.save(scans / name)

    def told(threads):
        out, events, lines = tmp_path / str(threads), [], []
        job = open_job([scans], out, ["json"], segmentation="auto")
        for name in ("lost.png", "lost2.png"):
            (scans / name).rename(tmp_path / name)
        load = partial(Recognizer.load, tiny_path, threads=threads)
        job.run(load, events.append, lambda id, strip, reading: lines.append((id, reading.text)))
        for name in ("lost.png", "lost2.png"):
            (tmp_path / name).rename(scans / name)
        texts = {path.name: read_page(path).text for path in sorted(out.glob("*.json"))}
        return [(type(event), str(getattr(event, "original", ""))) for event in events], lines, texts

    alone = told(1)
    assert told(2) == told(9) == alone and len(alone[2]) == 4 and Skipped in [kind for kind, _ in alone[0]]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_book_that_disappears_between_planning_and_reading_costs_no_other(scans, tiny_path, tmp_path, threads):
    job = open_job([scans], tmp_path / "out", ["txt"], segmentation="projection")
    (scans / "two.tif").unlink()
    events = []
    summary = job.run(lambda: Recognizer.load(tiny_path, threads=threads), events.append)
    assert (tmp_path / "out" / "one.txt").exists() and summary.done == 1
    assert sum(isinstance(event, Skipped) and "two.tif" in str(event) for event in events) == 2


def test_a_pdf_is_not_taken_for_a_pdfa(scans, tiny_path, tmp_path):
    events = []
    for format in ("pdf", "pdfa"):
        job = open_job([scans / "one.png"], tmp_path / "out", [format], segmentation="projection")
        job.run(lambda: Recognizer.load(tiny_path), events.append)
    _, plan = [event.plan for event in events if isinstance(event, Planned)]
    assert plan.refused and not plan.done
    assert b"pdfaid" not in (tmp_path / "out" / "one.pdf").read_bytes()


def test_one_result_of_another_scan_is_enough_to_report(scans, tiny_path, tmp_path):
    """A scan is replaced after its txt, and before its md."""
    events = []

    def run(*formats):
        job = open_job([scans / "one.png"], tmp_path / "out", formats, segmentation="projection")
        job.run(lambda: Recognizer.load(tiny_path), events.append)
        return [event.plan for event in events if isinstance(event, Planned)][-1]

    assert run("txt").waiting
    write(blank(700, 400), TEXTS[1:4]).image.save(scans / "one.png")
    assert run("md").waiting
    plan = run("txt", "md")
    assert plan.refused and not plan.done and not plan.waiting
    assert run("md").done and not run("md").refused


def test_documents_are_reported_without_files(scans, tiny_path):
    before = sorted(scans.iterdir())
    events = []
    job = open_job([scans / "one.png"], None, [], segmentation="projection")
    assert job.run(lambda: Recognizer.load(tiny_path), events.append).done == 1
    assert len(events[-1].document.pages[0].lines) == 3 and sorted(scans.iterdir()) == before


def test_reviewed_lines_are_counted_apart(tmp_path, tiny_path):
    path = tmp_path / "a.xml"
    put_page(tmp_path / "a.png", path, ["abc", "def", ""])
    draw_page(tmp_path / "a.png", ["abc", "def", "ghi"])
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace('id="l0"', 'id="l0" custom="drethtr {review:confirmed;}"'), encoding="utf-8")
    for update, read, kept in ((True, 1, 1), (False, 2, 0)):
        job = open_job([path], None if update else tmp_path / "out", [] if update else ["txt"], update=update)
        doubts = job.run(lambda: Recognizer.load(tiny_path)).doubts
        assert (doubts.lines, doubts.kept, doubts.reviewed) == (read, kept, 1)


def test_two_formats_whose_files_have_the_same_names_are_refused(scans, tmp_path):
    with pytest.raises(ConfigError, match=r"pdf and pdfa are both written to files ending in \.pdf; choose one"):
        open_job([scans], tmp_path / "out", ["pdf", "pdfa"])


@pytest.mark.parametrize(
    "given", [{"inputs": "scans"}, {"inputs": Path("scans")}, {"inputs": ["scans"], "formats": "alto"}], ids=str
)
def test_a_string_is_no_list(given, tmp_path):
    with pytest.raises(ConfigError, match=r"must be a list; for a single one: \['(scans|alto)'\]"):
        open_job(**given, output=tmp_path)


@pytest.fixture
def damaged(monkeypatch):
    """A function that damages the second page of every file, or mends it."""
    gray = PageSource.gray

    def damage(is_damaged=True):
        def read(source):
            if is_damaged and source.number == 2:
                raise DataError(f"{source.name}: is damaged")
            return gray(source)

        monkeypatch.setattr(PageSource, "gray", read)

    damage()
    return damage


def read_book(book, out, model, formats=("txt",)):
    """Read a book; the numbers of the pages that are read now."""
    events = []
    job = open_job([book], out, formats, segmentation="projection")
    job.run(lambda: Recognizer.load(model, decoder="ctc"), events.append)
    return [event.original.source.number for event in events if isinstance(event, PageRead) and event.page is not None]


@pytest.mark.parametrize("recorded", [True, False])
def test_what_an_older_version_noted_about_missing_pages_is_understood(scans, damaged, tiny_path, tmp_path, recorded):
    """It wrote the numbers into files, and how the results were made into the record, unless it was killed before."""
    out = tmp_path / "out"
    assert read_book(scans / "two.tif", out, tiny_path, ["txt", "csv"]) == [1]
    rows = [json.loads(row) for row in (out / RECORD).read_text().splitlines()]
    assert [row.pop("lacks") for row in rows if "result" in row] == [[2], [2]]
    rows = [row for row in rows if recorded or "result" not in row]
    (out / RECORD).write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("two.txt", "two.csv"):
        (out / ".two.pages" / f"{name}.lacks").write_text("2")
    assert read_book(scans / "two.tif", out, tiny_path) == [] and not list(out.rglob("*.lacks"))
    damaged(False)
    assert read_book(scans / "two.tif", out, tiny_path) == [2] and (out / "two.txt").read_text().count("\n\n") == 1
    assert read_book(scans / "two.tif", out, tiny_path, ["csv", "txt"]) == [] and not (out / ".two.pages").exists()
    rows = csv.DictReader((out / "two.csv").read_text(encoding="utf-8-sig").splitlines())
    assert {row["page"] for row in rows} == {"1", "2"}


@pytest.mark.parametrize(
    ("missing", "outcome"),
    [("record.Record.add", pytest.raises(DataError, match="cannot be used now")), ("plan.digest_of", nullcontext())],
    ids=["record", "scans"],
)
def test_a_note_of_an_older_version_stays_until_it_is_recorded(
    scans, damaged, tiny_path, tmp_path, monkeypatch, missing, outcome
):
    """It was removed, and the result looked complete without its page."""
    book, out = scans / "two.tif", tmp_path / "out"
    assert read_book(book, out, tiny_path) == [1]
    (out / RECORD).unlink()
    note = out / ".two.pages" / "two.txt.lacks"
    note.write_text("2")

    def fail(*arguments):
        raise DataError("cannot be used now")

    with monkeypatch.context() as away, outcome:
        away.setattr(f"drethtr.pages.{missing}", fail)
        read_book(book, out, tiny_path)
    assert note.exists()
    damaged(False)
    assert read_book(book, out, tiny_path) == [2] and not note.parent.exists()


def test_a_result_that_lacks_a_page_never_looks_complete(scans, damaged, tiny_path, tmp_path, monkeypatch):
    """Not even if the program is killed before it has recorded what is missing."""
    with monkeypatch.context() as killed:
        killed.setattr(Record, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_book(scans / "two.tif", tmp_path / "out", tiny_path)
    damaged(False)
    assert read_book(scans / "two.tif", tmp_path / "out", tiny_path) == [2]


def interrupted(*arguments):
    raise KeyboardInterrupt
