"""A folder is made searchable in the background, and stays so."""

import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic

import pytest
from edited_folders import LINES, put_page, scan
from waiting import ended, until

from drethtr import Recognizer
from drethtr.base.database import Database
from drethtr.base.errors import DataError
from drethtr.editing import Session, Workspace, indexer
from drethtr.editing.changes import LineEdit
from drethtr.editing.index import FolderIndex, index_of
from drethtr.editing.indexer import RETRY
from drethtr.editing.jobs import State
from drethtr.editing.search import judge, search
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.search.build import open_builder
from drethtr.search.index import open_index

TIME = re.compile(rb"<(Created|LastChange)>[^<]*<")


@pytest.fixture
def opened(tmp_path, tiny_path):
    """A folder with a page that was read, and one of two lines that was not."""
    put_page(tmp_path / "scans", "a")
    scan(2).image.save(tmp_path / "scans" / "b.png")
    recognizer = Recognizer.load(tiny_path, decoder="ctc")
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, recognizer, segmentation_named("projection")) as session,
    ):
        yield session


@pytest.fixture
def read(monkeypatch):
    """The images of lines that are read, also upside down, by any recognizer."""
    read, read_lines = [], Recognizer.read_lines

    def reading(self, lines):
        read.extend(line.tobytes() for line in lines)
        return read_lines(self, lines)

    monkeypatch.setattr(Recognizer, "read_lines", reading)
    return read


def wait(job):
    """Wait until a job is done."""
    assert ended(job).state is State.DONE, job.error


def file_of(page):
    """The file of a page without its times."""
    return TIME.sub(b"", Path(page).read_bytes())


def correct(session, name):
    """Correct the first line of a page; returns its lines before that."""
    page = next(row["id"] for row in session.workspace.pages() if row["name"] == name)
    lines = session.workspace.opened(page).lines
    session.workspace.edit_line(page, lines[0].id, lines[0].revision, LineEdit(text="corrected"))
    return lines


def searchable(session):
    """The numbers of pages and lines in the index."""
    with open_index(index_of(session.workspace)) as index:
        return index.store.size()


def test_a_page_that_becomes_searchable_is_read_once_and_as_in_the_editor(opened, read):
    folder = opened.workspace.folder
    wait(opened.indexer.start())
    assert searchable(opened) == (2, LINES + 2) and len(set(read)) == len(read) >= LINES + 2
    by_index = file_of(folder / "b.page.xml")
    (folder / "b.page.xml").unlink()
    index_of(opened.workspace).unlink()
    wait(opened.reader.read_pages())
    assert file_of(folder / "b.page.xml") == by_index


def test_a_page_that_is_read_in_a_searchable_folder_is_not_read_for_the_index(opened, read):
    wait(opened.indexer.start())
    scan(3, ink=60).image.save(opened.workspace.folder / "c.png")
    opened.watcher.update_pages()
    [job, *_] = opened.jobs.newest_first()
    wait(job)
    assert searchable(opened) == (3, LINES + 5)
    wait(opened.indexer.start())
    assert searchable(opened) == (3, LINES + 5) and len(set(read)) == len(read)


def test_only_pages_that_are_read_for_the_index_are_said_to_be_made_searchable(opened):
    said = []
    opened.workspace.listen(lambda event: said.append(event[1].get("message", "")))

    def made():
        said.clear()
        wait(opened.indexer.start())
        return {one for one in said if one.startswith("making")}

    assert made() == {"making a.png searchable", "making b.png searchable"} and made() == set()
    correct(opened, "a.png")
    assert made() == {"making a.png searchable"}


def test_an_unexpected_error_ends_the_job_and_another_one_can_begin(opened, monkeypatch):
    def fail(self, lines):
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(Recognizer, "read_lines", fail)
        job = ended(opened.indexer.start())
    assert job.state is State.FAILED and job.error == "a bug"
    wait(opened.indexer.start())


def test_after_a_failure_an_index_is_updated_without_another_change(opened, monkeypatch):
    def refuse(self, recognizer):
        raise DataError("being written by another process")

    opened.watcher.close()
    wait(opened.indexer.start())
    correct(opened, "b.png")
    with monkeypatch.context() as patch:
        patch.setattr(FolderIndex, "open", refuse)
        opened.indexer.update()
        [failed, _] = opened.jobs.newest_first()
        until(lambda: failed.state is State.FAILED)
    opened.indexer.update()
    assert opened.jobs.newest_first()[0] is failed, "not at once, and again and again"
    monkeypatch.setattr(indexer, "monotonic", lambda: monotonic() + RETRY)
    opened.indexer.update()
    wait(opened.jobs.newest_first()[0])
    assert search(opened.workspace, "corrected", 1)["hits"]


def test_making_searchable_that_is_stopped_while_it_waits_ends_at_once_and_leaves_nothing(opened):
    go_on, states = Event(), []
    opened.workspace.listen(lambda event: states.append(event[1]["state"]) if event[0] == "job" else None)
    opened.reader.executor.submit_background(go_on.wait)
    job = opened.indexer.start()
    opened.jobs.cancel(job)
    assert job.state is State.CANCELLED and opened.jobs.running("index") is None
    go_on.set()
    opened.reader.executor.submit_background(lambda: None).result(60)
    assert set(states) == {"waiting", "cancelled"} and index_of(opened.workspace) is None


def test_lines_that_were_found_but_not_read_are_read_once(opened, read):
    path = put_page(opened.workspace.folder, "c", ink=60)
    bare = re.sub(r"<Word .*?</Word>|<TextEquiv.*?</TextEquiv>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    path.write_text(bare, encoding="utf-8")
    opened.workspace.folder_pages = opened.workspace.pages_now()
    wait(opened.indexer.start())
    [texts] = [row for row in opened.workspace.pages() if row["name"] == "c.png"]
    assert (texts["status"], texts["lines"], texts["unread"]) == ("read", LINES, 0)
    assert searchable(opened) == (3, 2 * LINES + 2) and len(set(read)) == len(read)


def test_after_a_correction_the_index_reads_that_line_only(opened, read):
    wait(opened.indexer.start())
    read.clear()
    line, other = correct(opened, "b.png")
    wait(opened.indexer.start())
    assert 1 <= len(read) <= 2, "once, and perhaps upside down"
    with open_index(index_of(opened.workspace)) as index:
        lines = {one.id: one for id in index.store.select([]).ids[-1:] for one in index.store.page(id)[1]}
    assert (lines[line.id].text, lines[line.id].certain) == ("corrected", True)
    assert (lines[other.id].text, lines[other.id].certain) == (other.text, False)


@pytest.fixture
def while_reading(monkeypatch):
    """Runs something before the next lines are read."""

    def run(work):
        waiting, read_lines = [work], Recognizer.read_lines

        def reading(self, lines):
            while waiting:
                waiting.pop()()
            return read_lines(self, lines)

        monkeypatch.setattr(Recognizer, "read_lines", reading)

    return run


def test_hits_are_judged_and_pages_added_while_another_one_is_read_for_the_index(opened, while_reading):
    correct(opened, "a.png")
    wait(opened.indexer.start())
    workspace, index, done = opened.workspace, opened.reader.index, []
    correct(opened, "b.png")

    def meanwhile():
        [hit] = search(workspace, "corrected", 2)["hits"][:1]
        judge(workspace, "corrected", hit["page"], hit["line"], stands=False)
        with index.open(index.with_posteriors(opened.reader.recognizer)) as builder:
            done.append(builder.remove_deleted())

    while_reading(meanwhile)
    wait(opened.indexer.start())
    with open_index(index_of(workspace)) as searched:
        assert done == [0] and [one.stands for one in searched.store.verdicts()] == [False]


def test_building_ends_when_another_process_does_it_and_keeps_what_it_has(opened, tiny_path, while_reading):
    opened.watcher.close()  # or it updates the index first
    index = opened.reader.index
    wait(opened.indexer.start())
    before = searchable(opened)
    correct(opened, "b.png")
    writers, recognizer = [], Recognizer.load(tiny_path, decoder="ctc", posteriors=True)
    while_reading(lambda: writers.append(open_builder(index_of(opened.workspace), recognizer, index.segmentation)))
    with pytest.raises(AssertionError, match="another process is writing it"):
        wait(opened.indexer.start())
    assert searchable(opened) == before
    writers[0].store.close()
    wait(opened.indexer.start())


@pytest.fixture
def indexed(tmp_path, tiny_path):
    """A folder with a scan that `drethtr index` has read."""
    folder, lines = tmp_path / "scans", segmentation_named("projection")
    folder.mkdir()
    scan(2).image.save(folder / "b.png")
    recognizer = Recognizer.load(tiny_path, decoder="ctc", posteriors=True)
    with open_builder(folder / "archive.drethtr.sqlite", recognizer, lines) as builder:
        builder.read(*open_originals(folder / "b.png"))
    return folder


@pytest.fixture
def edit(indexed, tiny_path):
    """Opens the folder with a decoder."""
    lines = segmentation_named("projection")

    @contextmanager
    def edit(decoder="ctc"):
        with (
            Workspace.open(indexed) as workspace,
            Session(workspace, Recognizer.load(tiny_path, decoder=decoder), lines) as session,
        ):
            yield session

    return edit


def test_what_the_index_has_read_is_the_text_of_a_page_that_nobody_has_read(indexed, edit, read):
    read.clear()
    with edit() as session:
        [page] = session.workspace.folder_pages.values()
        assert session.reader.fill(page) and not session.reader.fill(page)
        assert {line.status for line in session.workspace.opened(page.id).lines} == {"read"}
        wait(session.indexer.start())
        assert searchable(session) == (1, 2) and not read
        [known] = session.workspace.history(page.id, "r1l1")
        by_index = file_of(page.xml_path), known.action, known.model
        page.xml_path.unlink()
        wait(session.reader.read_pages())
        last, *_ = session.workspace.history(page.id, "r1l1")
        assert (file_of(page.xml_path), last.action, last.model) == by_index and read


@pytest.fixture
def looked_at(monkeypatch):
    """The names that are listed and the rows that are read, of all folders and indexes."""
    seen, glob, rows = [], Path.glob, Database.rows

    def listed(self, pattern):
        seen.extend(self.iterdir() if self.is_dir() else ())
        return glob(self, pattern)

    def read(self, *statement):
        for row in rows(self, *statement):
            seen.append(row)
            yield row

    monkeypatch.setattr(Path, "glob", listed)
    monkeypatch.setattr(Database, "rows", read)
    return seen


def test_to_give_a_page_what_the_index_has_read_no_list_of_all_pages_is_read(indexed, edit, tiny_path, looked_at):
    recognizer = Recognizer.load(tiny_path, decoder="ctc", posteriors=True)
    with open_builder(indexed / "archive.drethtr.sqlite", recognizer, segmentation_named("projection")) as builder:
        for name in "cdefghijklmn":
            builder.read(*open_originals(shutil.copy(indexed / "b.png", indexed / f"{name}.png")))
    with edit() as session:
        session.watcher.close()
        first, *pages = session.workspace.folder_pages.values()
        assert session.reader.fill(first)
        looked_at.clear()
        assert session.reader.fill(pages[0]) and 0 < len(looked_at) < len(pages)


def test_another_scan_or_decoder_makes_a_page_be_read(indexed, edit, read):
    with edit("greedy") as session:
        [page] = session.workspace.folder_pages.values()
        assert not session.reader.fill(page)
    scan(3, ink=60).image.save(indexed / "b.png")
    with edit() as session:
        assert not session.reader.fill(page)
        read.clear()
        wait(session.reader.read_pages())
        assert len(session.workspace.opened(page.id).lines) == 3 and read
