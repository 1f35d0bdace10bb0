"""A folder that is worked in: what is saved, what is refused, what other programs may do meanwhile."""

import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from threading import Thread

import printed_pages
import pytest
from edited_folders import approve, foreign, put_page
from made_pages import TEXTS
from PIL import Image

from drethtr.base import files
from drethtr.base.errors import DataError
from drethtr.documents.document import About
from drethtr.documents.page import Region, TextLine
from drethtr.documents.read import parse_page, read_page
from drethtr.documents.transcription import Review, Tag
from drethtr.editing.changes import LineEdit
from drethtr.editing.export import EDITION, about_of, export, keep_about
from drethtr.editing.folder_pages import file_mark
from drethtr.editing.journal import FOLDER
from drethtr.editing.layout import Join, Split
from drethtr.editing.overview import Overview
from drethtr.editing.page_files import Missing, Stale
from drethtr.editing.repairs import Replace
from drethtr.editing.workspace import Workspace
from drethtr.layout.given import Outlines

FORMATS = ("page", "alto")


@pytest.fixture(params=FORMATS)
def file(request, tmp_path):
    return put_page(tmp_path / "scans", "a", request.param)


@pytest.fixture
def folder(file):
    with Workspace.open(file.parent) as folder:
        yield folder


def lines_of(folder):
    [page] = folder.folder_pages
    return folder.opened(page).lines


def history(folder):
    [page] = folder.folder_pages
    return folder.history(page, "l1")


def edit(folder, number=1, **values):
    return edit_line(folder, lines_of(folder)[number], **values)


def edit_line(folder, line, who="ada", **values):
    """Change a line that was seen, as it was then."""
    return folder.edit_line(line.opened.page.id, line.id, line.revision, LineEdit(**values), who)


def test_a_saved_line_is_in_the_overview_and_its_file_is_not_read_again(folder, monkeypatch):
    folder.pages()
    rows = []
    folder.listen(lambda event: rows.append(event[1]["row"]) if event[0] == "page" else None)
    monkeypatch.setattr(Overview, "summarize", None)
    edit(folder, text="your letters of the fourth")
    [row] = rows
    assert (row["corrected"], row["lines"]) == (1, 4) and folder.pages()[0]["corrected"] == 1


def test_a_file_that_another_program_writes_right_after_a_change_is_noticed(folder, file, monkeypatch):
    folder.notice_changes()
    flush = files.flush

    def other_program(written):
        flush(written)
        if written == file.parent and b"theirs" not in file.read_bytes():  # our file has just got its name
            file.write_bytes(file.read_bytes().replace(b"fourth", b"theirs"))

    with monkeypatch.context() as patch:
        patch.setattr(files, "flush", other_program)
        edit(folder, text="your letters of the fourth")
    assert folder.notice_changes()
    assert "theirs" in lines_of(folder)[1].text


def test_a_saved_text_is_in_the_file_with_the_places_of_its_words(folder, file):
    before = lines_of(folder)[1]
    line = edit(folder, text="your letters of the fourth")
    assert (line.text, line.status) == ("your letters of the fourth", "corrected")
    assert [word.box for word in line.content.words] == [word.box for word in before.content.words]
    assert [word.confidence is None for word in line.content.words] == [False, True, False, False, False]
    [_, found, *_] = read_page(file).lines
    assert found.text == line.text and found.transcription.review is Review.CORRECTED
    assert edit(folder, status=Review.CONFIRMED).status == "confirmed"


@pytest.fixture
def parsed(folder, monkeypatch):
    """The page files that are parsed from now on."""
    lines_of(folder)
    names = []
    monkeypatch.setattr(
        "drethtr.documents.page_file.parse_page",
        lambda data, name, size_of: names.append(name) or parse_page(data, name, size_of),
    )
    return names


def test_a_corrected_line_is_parsed_once(folder, parsed):
    """The file that was written is not parsed again to show the line, nor for the next correction."""
    for text in ("one", "two"):
        parsed.clear()
        assert edit(folder, text=text).text == text and len(parsed) == 1


def test_all_lines_of_a_page_are_confirmed_by_one_edit_of_its_file(folder, parsed):
    [page] = folder.folder_pages
    assert len(folder.confirm(page)) == 4 and len(parsed) == 1
    assert {line.status for line in lines_of(folder)} == {"confirmed"}


def test_the_same_text_changes_nothing(folder, file):
    before = file.read_bytes()
    assert edit(folder, text=" your letter of the fourth\t").status == "read" and file.read_bytes() == before


def test_a_stale_change_is_refused_with_the_line_as_it_is_now(folder, file):
    line, other = lines_of(folder)[1:3]
    edit(folder, text="the other window")
    saved = file.read_bytes()
    with pytest.raises(Stale) as refused:
        edit_line(folder, line, text="this window")
    assert refused.value.now.text == "the other window" and file.read_bytes() == saved
    assert edit_line(folder, other, text="mine").text == "mine"


def test_what_another_program_writes_is_seen_built_upon_and_noted(folder, file):
    edit(folder, text="mine")
    [page] = folder.folder_pages
    line = lines_of(folder)[1]
    told = []
    folder.listen(told.append)
    folder.notice_changes()
    file.write_bytes(
        file.read_bytes().replace(b"and thank you for the news", b"theirs").replace(b"mine", b"also theirs")
    )
    folder.notice_changes()
    [row] = folder.pages()
    assert told == [("page", {"page": page, "why": "outside", "row": row})]
    with pytest.raises(Stale):
        edit_line(folder, line, text="lost?")
    edit(folder, text="mine again")
    assert b"also theirs" not in file.read_bytes()
    changes = [(change.action, change.old, change.new) for change in history(folder)]
    assert changes[:2] == [("text", "also theirs", "mine again"), ("outside", "mine", "also theirs")]


def test_a_change_while_files_are_looked_at_is_none_of_another_program(folder, monkeypatch):
    folder.notice_changes()
    told = []
    folder.listen(lambda event: told.append(event[1].get("why")))
    change = Thread(target=edit, args=(folder,), kwargs={"text": "mine"})

    def mark_before_a_change(path):
        mark = file_mark(path)
        change.start()
        change.join(1)
        return mark

    with monkeypatch.context() as patch:
        patch.setattr("drethtr.editing.workspace.file_mark", mark_before_a_change)
        folder.notice_changes()
    change.join()
    assert not folder.notice_changes() and "edit" in told and "outside" not in told


def test_a_tag_is_no_text_that_another_program_has_changed(tmp_path):
    with Workspace.open(put_page(tmp_path / "scans", "a").parent) as folder:
        edit(folder, tags=(Tag("person", 0, 4),))
        edit(folder, text="mine")
        assert "outside" not in [change.action for change in history(folder)]


def test_a_line_that_another_program_removed_is_refused(folder, file):
    line = lines_of(folder)[1]
    file.write_bytes(file.read_bytes().replace(b'"l1"', b'"other"'))
    with pytest.raises(Stale, match="removed") as refused:
        edit_line(folder, line, text="x")
    assert refused.value.now is None


def test_a_damaged_file_is_told_and_left_alone(folder, file):
    line = lines_of(folder)[1]
    file.write_bytes(b"<PcGts")
    assert "not well-formed" in folder.pages()[0]["error"]
    with pytest.raises(DataError, match="not well-formed"):
        edit_line(folder, line, text="x")
    assert file.read_bytes() == b"<PcGts"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pipes with names")
def test_pipes_in_the_folder_are_not_waited_for(folder, file):
    Image.new("L", (90, 90), 255).save(file.parent / "b.png")
    for name in ("b.page.xml", "c.png", "c.xml", EDITION):
        os.mkfifo(file.parent / name)
    folder.folder_pages = folder.pages_now()
    [_, page] = folder.pages()
    assert page["name"] == "b.png" and "it is a pipe or a device" in page["error"]
    with pytest.raises(DataError, match="cannot be written: it is a pipe or a device"):
        folder.create(folder.folder_pages[page["id"]], b"<new/>", [], model="m")
    with pytest.raises(DataError, match="cannot be read: it is a pipe or a device"):
        about_of(folder)


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        ('{"title": "Letters",\n"author": "An', "Unterminated string .* line 2"),
        ('["Letters"]', "expected a table of About"),
        ('{"editors": ["Ada", "Mary"]}', "editors: expected str, got "),
        ('{"publisher": "City Archive"}', "publisher: unknown setting of About; known: title"),
    ],
)
def test_what_persons_typed_of_an_edition_is_not_saved_over_when_it_is_damaged(folder, file, damaged, why):
    (file.parent / EDITION).write_text(damaged, encoding="utf-8")
    for work in (about_of, lambda folder: keep_about(folder, About("New")), exported_as_tei):
        with pytest.raises(DataError, match=f"{EDITION}: damaged: .*{why}.*; correct it, or remove it"):
            work(folder)
    assert (file.parent / EDITION).read_text(encoding="utf-8") == damaged


def exported_as_tei(folder):
    return export(folder, folder.folder_pages, "tei", "m")


def test_texts_and_reviews_are_not_in_the_hidden_folder(folder, file):
    edit(folder, text="saved")
    edit(folder, number=2, status=Review.CONFIRMED)
    folder.close()
    shutil.rmtree(file.parent / FOLDER)
    with Workspace.open(file.parent) as again:
        lines = lines_of(again)
    assert [(line.text, line.status) for line in lines[1:3]] == [
        ("saved", "corrected"),
        ("and thank you for the news", "confirmed"),
    ]


def test_a_damaged_history_is_put_aside(folder, file):
    edit(folder, text="saved")
    folder.close()
    (file.parent / FOLDER / "edit.sqlite").write_bytes(b"no database" * 1000)
    with Workspace.open(file.parent) as again:
        assert lines_of(again)[1].text == "saved"
    assert (file.parent / FOLDER / "edit.damaged").exists()


def test_the_overview_says_that_a_scan_was_replaced_by_one_of_another_shape(tmp_path):
    """As by one that was cropped or turned: it had the numbers from before, also after a restart."""
    scan = put_page(tmp_path, "a").with_name("a.png")
    before = scan.read_bytes()
    with Workspace.open(tmp_path) as workspace:
        [row] = workspace.pages()
        assert (row["error"], row["lines"]) == (None, 4)
        Image.open(scan).crop((0, 0, 700, 200)).save(scan)
        [row] = workspace.pages()
        assert "describes an image of 700 x 340 pixels, but" in row["error"] and row["lines"] == 0
    with Workspace.open(tmp_path) as workspace:
        assert workspace.pages()[0]["error"] == row["error"]
        scan.write_bytes(before)
        assert (workspace.pages()[0]["error"], workspace.pages()[0]["lines"]) == (None, 4)


def test_the_history_of_a_renamed_scan_waits_for_its_old_name(folder, file):
    edit(folder, text="saved")
    folder.close()
    found = []
    for before, now in (("a", "z"), ("z", "a")):
        scan, described = file.with_name(f"{before}.png"), file.with_name(file.name.replace("a", before, 1))
        described.write_bytes(described.read_bytes().replace(scan.name.encode(), f"{now}.png".encode()))
        described.rename(file.with_name(file.name.replace("a", now, 1)))
        scan.rename(file.with_name(f"{now}.png"))
        with Workspace.open(file.parent) as again:
            [page] = again.folder_pages
            found.append((lines_of(again)[1].text, [change.new for change in again.history(page, "l1")]))
    assert found == [("saved", []), ("saved", ["saved"])]


def test_one_process_at_a_time(folder, file):
    """A lock that ends with the process that holds it, however that ends."""
    code = f"from drethtr.editing import Workspace; Workspace.open({str(file.parent)!r})"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is open in another drethtr edit" in other.stderr
    folder.close()
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_full_history_takes_back_no_text_and_hides_no_page(folder, file):
    [page] = folder.folder_pages
    folder.journal.database.execute("PRAGMA max_page_count = 1")  # no more pages than there are
    text = "a" * 20_000
    assert edit(folder, text=text).text == text and text in file.read_text()
    assert history(folder) == [] and "full" in folder.journal.error
    assert folder.pages()[0]["corrected"] == 1 and text not in str(folder.journal.summary(page))


def test_a_full_disk_changes_nothing(folder, file, monkeypatch):
    line, before = lines_of(folder)[1], file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataError, match="No space left on device; nothing was changed"):
        edit_line(folder, line, text="x")
    assert (
        file.read_bytes() == before and [path.name for path in file.parent.iterdir() if "unfinished" in path.name] == []
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("confidence", "status"), [(0.9, "read"), (None, "corrected")])
def test_a_text_without_confidence_of_another_program_counts_as_a_persons(tmp_path, format, confidence, status):
    foreign(put_page(tmp_path, "a", format, confidence))
    with Workspace.open(tmp_path) as folder:
        assert {line.status for line in lines_of(folder)} == {status}


def test_the_overview_counts_and_remembers(tmp_path):
    put_page(tmp_path, "a", confidence=0.4)
    with Workspace.open(tmp_path) as folder:
        [row] = folder.pages()
        edit(folder, status=Review.CONFIRMED)
        [after] = folder.pages()
    assert (row["status"], row["lines"], row["wrong"]) == (
        "read",
        4,
        pytest.approx(0.6 * len(" ".join(TEXTS[:4]).split())),
    )
    assert (after["status"], after["confirmed"]) == ("corrected", 1)
    assert row["gain"] == pytest.approx(0.6 * 102, abs=2) and after["gain"] < row["gain"]
    with Workspace.open(tmp_path) as folder:
        assert folder.pages() == [after]


@pytest.mark.parametrize(("status", "confirmed"), [("GT", 4), ("FINAL", 4), ("DONE", 4), ("IN_PROGRESS", 0)])
def test_a_page_that_is_done_in_transkribus_is_confirmed(tmp_path, status, confirmed):
    approve(foreign(put_page(tmp_path, "a", confidence=None)), status)
    with Workspace.open(tmp_path) as folder:
        [row] = folder.pages()
        assert (row["confirmed"], row["corrected"]) == (confirmed, 4 - confirmed)
        edit(folder, text="Corrected again")
        [row] = folder.pages()
        assert row["corrected"] == (1 if confirmed else 4)


def test_what_was_read_here_and_approved_in_transkribus_outlasts_changes_of_the_layout(tmp_path):
    approve(put_page(tmp_path, "a", confidence=0.9), "GT")
    with Workspace.open(tmp_path) as folder:
        [page] = folder.folder_pages
        _, y = lines_of(folder)[2].content.baseline[0]
        folder.act(page, Replace((Region("r", (TextLine("new", baseline=((40, 330), (300, 330))),)),)))
        folder.act(page, Join(("l0", "l1")))
        folder.act(page, Split("l2", (200, y)))
        edit(folder, -2, baseline=((40, 300), (600, 300)))
        assert " ".join(line.text for line in lines_of(folder)).split() == " ".join(TEXTS[:4]).split()


def test_unknown_pages_and_lines_are_missing(folder):
    with pytest.raises(Missing):
        folder.opened("nothing")
    with pytest.raises(Missing):
        lines_of(folder)[0].opened.line("nothing")


@pytest.mark.parametrize(
    ("name", "error"), [("gone", "no such folder"), ("file", "give the folder"), ("empty", "no images")]
)
def test_what_cannot_be_opened_is_explained(tmp_path, name, error):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=error):
        Workspace.open(tmp_path / name)


def test_a_text_that_the_disk_has_not_confirmed_is_saved_and_told(folder, file, monkeypatch):
    """The file is replaced, but its folder cannot be flushed: nobody may be told that nothing was changed."""
    flush = files.flush

    def flush_files(path):
        if path.is_dir():
            raise OSError(5, "Input/output error")
        flush(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "flush", flush_files)
        assert edit(folder, text="new").text == "new"
    assert "a.png was written, but" in folder.page_files.error and "Input/output error" in folder.page_files.error
    [change] = history(folder)
    assert change.new == "new"
    edit(folder, text="newer")
    assert folder.page_files.error is None


@pytest.mark.parametrize("who", ["\udc80x", "\x00\x1b[31m", "a\nb"])
def test_an_odd_name_of_a_person_fails_no_save(folder, file, who):
    [page] = folder.folder_pages
    line = lines_of(folder)[1]
    told = []
    folder.listen(told.append)
    saved = edit_line(folder, line, who, text="typed")
    assert saved.text == "typed" and ("line", {"page": page, "line": "l1"}) in told
    [change] = history(folder)
    assert change.new == "typed" and change.who.encode()


def test_a_history_that_fails_fails_no_save(folder, file):
    folder.journal.database.close()
    assert edit(folder, text="typed").text == "typed" and "closed" in folder.journal.error
    assert history(folder) == []


def test_a_file_that_was_replaced_within_its_time_and_size_is_read_again(folder, file):
    known = file.stat()
    folder.pages()
    edited = file.read_bytes().replace(b"thank", b"THANK")
    file.write_bytes(edited)
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert file.stat().st_size == known.st_size and file.stat().st_mtime_ns == known.st_mtime_ns
    [(_, summary)] = folder.page_summaries()
    assert "and THANK you for the news" in [text for _, text, _ in summary.texts]


@pytest.mark.parametrize("outlines", Outlines)
def test_lines_are_shown_as_they_are_read(tmp_path, outlines):
    """Bands of a fixed height, which nobody drew, cut the letters off."""
    texts = ["eins zwei drei", "vier sechs", "sieben"]
    xml = tmp_path / "a.xml"
    printed_pages.put_page(tmp_path / "a.png", xml, texts)
    low = re.sub(r'(Coords points="30,\d+ 390,\d+ 390,)(\d+) 30,\d+"', band, xml.read_text(encoding="utf-8"))
    xml.write_text(low, encoding="utf-8")
    with Workspace.open(tmp_path, outlines) as workspace:
        [page] = workspace.folder_pages
        heights = [Image.open(BytesIO(workspace.strip(page, f"l{n}"))).height for n in range(len(texts))]
    assert (max(heights) < 14) is (outlines is Outlines.GIVEN), heights


def band(found):
    """The lowest pixels of a line, as the outline."""
    top, bottom = int(found[2]) - 20, int(found[2]) - 10
    return f'Coords points="30,{top} 390,{top} 390,{bottom} 30,{bottom}"'


def test_where_a_missing_scan_belongs_is_said_without_the_place_on_the_machine(tmp_path):
    put_page(tmp_path / "scans", "a")
    put_page(tmp_path / "scans", "b")
    (tmp_path / "scans" / "a.png").unlink()
    with Workspace.open(tmp_path / "scans") as folder:
        [told] = [row["error"] for row in folder.pages() if row["error"]]
    assert "put it into scans or the folder above" in told and str(tmp_path) not in told


def test_a_folder_that_is_gone_is_said_to_be(tmp_path):
    put_page(tmp_path / "scans", "a")
    with Workspace.open(tmp_path / "scans") as folder:
        (tmp_path / "scans").rename(tmp_path / "elsewhere")
        with pytest.raises(DataError, match="moved, renamed or deleted"):
            folder.pages()
