"""Reading in the background, and what it leaves alone. The model is too small to read anything right."""

import os
import sys
from dataclasses import replace
from threading import Event
from time import time

import pytest
from edited_folders import put_page, scan
from made_pages import blank
from waiting import ended, until

from drethtr import Recognizer
from drethtr.documents.transcription import Review
from drethtr.editing import Session, Workspace
from drethtr.editing.changes import LineEdit
from drethtr.editing.executor import PriorityExecutor
from drethtr.editing.folder_pages import find_pages
from drethtr.editing.jobs import State
from drethtr.editing.layout import Delete
from drethtr.editing.overview import Summary
from drethtr.editing.page_files import Missing
from drethtr.layout.projection import Projection
from drethtr.pages.results import work_in
from drethtr.pages.segmentation import Segmentation, segmentation_named


@pytest.fixture
def opened(tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a")
    scan(2).image.save(tmp_path / "scans" / "b.png")
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, Recognizer.load(tiny_path), segmentation_named("projection")) as session,
    ):
        yield session


def id_of(session, name):
    [page] = [page for page in session.workspace.folder_pages.values() if page.name == name]
    return page.id


def lines_of(session, page):
    return session.workspace.opened(page).lines


def row_of(session, name):
    [row] = [row for row in session.workspace.pages() if row["name"] == name]
    return row


def texts(session, name="a.png"):
    return [(line.text, line.status) for line in lines_of(session, id_of(session, name))]


def test_pages_without_a_file_are_read_and_others_are_not(opened):
    before = texts(opened)
    job = ended(opened.reader.read_pages())
    assert (job.state, job.done, job.total) == (State.DONE, 1, 1)
    page = row_of(opened, "b.png")
    assert page["status"] == "read" and page["lines"] == 2 and texts(opened) == before
    assert (opened.workspace.folder / "b.page.xml").exists()


def test_a_page_is_recorded_with_the_model_that_read_it(opened, monkeypatch):
    """A model that is adopted meanwhile reads the next page."""
    first = opened.reader.recognizer
    weights = {name: weight * 1.01 for name, weight in first.model.weights.items()}
    second = Recognizer(replace(first.model, weights=weights))
    scan(3).image.save(opened.workspace.folder / "c.png")
    opened.workspace.folder_pages = {page.id: page for page in find_pages(opened.workspace.folder)}

    class Adopting(Segmentation):
        def finder(self, original):
            opened.reader.use(second)
            return Projection()

    monkeypatch.setattr(opened.reader, "segmentation", Adopting())
    pages = [id_of(opened, name) for name in ("b.png", "c.png")]
    assert ended(opened.reader.read_pages(pages)).state is State.DONE
    used = []
    for name in ("b.png", "c.png"):
        page = id_of(opened, name)
        lines = [opened.workspace.history(page, line.id) for line in lines_of(opened, page)]
        used.append({change.model for line in lines for change in line})
    assert used == [{first.model.identity}, {second.model.identity}]


def test_what_a_person_has_touched_is_never_read_again(opened):
    page = id_of(opened, "a.png")
    first, second, *others = lines_of(opened, page)
    for line, change in ((first, LineEdit(text="mine")), (second, LineEdit(status=Review.CONFIRMED))):
        opened.workspace.edit_line(page, line.id, line.revision, change)
    assert ended(opened.reader.read_pages([page], again=True)).state is State.DONE
    found = texts(opened)
    assert found[:2] == [("mine", "corrected"), (second.text, "confirmed")]
    assert all(status == "read" for _, status in found[2:])
    assert [text for text, _ in found[2:]] != [line.text for line in others]


def test_reading_is_no_work_of_a_person_and_moving_lines_is(opened):
    """`transcribe --force` replaces results on which nobody has worked."""
    page = id_of(opened, "a.png")
    path = opened.workspace.folder_page(page).xml_path
    before = path.read_bytes()
    ended(opened.reader.read_pages([page], again=True))
    assert path.read_bytes() != before and work_in(path) == ""
    opened.workspace.act(page, Delete(("l1",)))
    ended(opened.reader.read_pages([page], again=True))
    assert work_in(path) == "it was edited in drethtr edit"


def test_the_file_of_a_page_on_which_no_line_is_found_stays_as_it_is(opened):
    page = id_of(opened, "b.png")
    blank(700, 200).image.save(opened.workspace.folder / "b.png")
    ended(opened.reader.read_pages([page]))
    path = opened.workspace.folder_page(page).xml_path
    before = path.read_bytes()
    ended(opened.reader.read_pages([page], again=True))
    assert path.read_bytes() == before


def test_a_text_that_is_typed_while_the_line_is_read_stays(opened, monkeypatch):
    page = id_of(opened, "a.png")
    line = lines_of(opened, page)[0]
    read = opened.reader.readings

    def slowly(*arguments):
        found = read(*arguments)
        opened.workspace.edit_line(page, line.id, line.revision, LineEdit(text="typed meanwhile"))
        return found

    monkeypatch.setattr(opened.reader, "readings", slowly)
    ended(opened.reader.read_pages([page], again=True))
    assert texts(opened)[0] == ("typed meanwhile", "corrected")


def test_a_drawn_line_is_read_at_once(opened):
    page = id_of(opened, "a.png")
    line = lines_of(opened, page)[0]
    moved = tuple((x, y - 2) for x, y in line.content.baseline)
    opened.workspace.edit_line(page, line.id, line.revision, LineEdit(baseline=moved))
    opened.reader.new_lines.read_soon(page, [line.id])
    opened.reader.new_lines.finish(page, line.id)
    assert texts(opened)[0][1] == "read"


def test_back_to_the_machines(opened):
    page = id_of(opened, "a.png")
    line = lines_of(opened, page)[0]
    mine = opened.workspace.edit_line(page, line.id, line.revision, LineEdit(text="mine"))
    read = opened.reader.read_again(page, line.id, mine.revision)
    assert read.status == "read" and read.text != "mine"
    newest, *_ = opened.workspace.history(page, line.id)
    assert (newest.action, newest.old, newest.who) == ("read", "mine", None) and newest.model


def test_a_word_has_at_most_four_other_texts_whatever_else_was_typed(opened):
    page = id_of(opened, "a.png")
    line = lines_of(opened, page)[0].id
    found = opened.alternatives.of_word(page, line, "Entirely typed wodr", 15, 19)
    assert 0 < len(found) <= 4 and "wodr" not in [one["text"] for one in found]
    assert [one["probability"] for one in found] == sorted((one["probability"] for one in found), reverse=True)
    with pytest.raises(Missing, match="no line"):
        opened.alternatives.of_word(page, "gone", "wodr", 0, 4)


def test_a_word_is_looked_up_on_the_scan_as_it_is_now(opened):
    page = id_of(opened, "a.png")
    asked = page, lines_of(opened, page)[0].id, "Dear Sir", 0, 4
    before = opened.alternatives.of_word(*asked)
    assert opened.alternatives.of_word(*asked) == before
    blank(700, 340).image.save(opened.workspace.folder / "a.png")
    assert opened.alternatives.of_word(*asked) != before


def test_a_cancelled_job_keeps_what_it_has_read(opened):
    job = opened.jobs.new("read", 1)
    job.cancelled.set()
    opened.reader.executor.submit_background(
        lambda: opened.reader.run_job(job, list(opened.workspace.folder_pages))
    ).result(60)
    assert job.state is State.CANCELLED and len(texts(opened)) == 4


def test_pages_that_were_not_read_again_when_the_editor_ended_are_at_the_next_start(opened, tiny_path):
    ended(opened.reader.read_pages())
    pages = [id_of(opened, name) for name in ("b.png", "a.png")]
    before, read_lines, begun = texts(opened), opened.reader.readings, Event()

    def slowly(*arguments):
        begun.set()
        assert opened.jobs.running("read").cancelled.wait(60)
        return read_lines(*arguments)

    opened.reader.readings = slowly
    job = opened.reader.read_pages(pages, again=True)
    assert begun.wait(60) and not opened.jobs.cancel(job)
    assert ended(job).state is State.CANCELLED and opened.status()["again"] == 2
    recognizer = Recognizer.load(tiny_path)
    with Session(opened.workspace, recognizer, segmentation_named("projection")) as later:
        job = ended(later.reader.read_pages())
        assert (job.done, job.total) == (2, 2) and later.status()["again"] == 0 and texts(later) != before
    with Session(opened.workspace, recognizer, segmentation_named("projection")) as last:
        assert ended(last.reader.read_pages()).total == 0


def test_a_page_that_cannot_be_read_does_not_stop_the_others(opened):
    (opened.workspace.folder / "b.png").write_bytes(b"no image")
    pages = [id_of(opened, name) for name in ("b.png", "a.png")]
    job = ended(opened.reader.read_pages(pages, again=True))
    assert job.state is State.DONE and job.message.startswith("1 page read; b.png: ")
    why = {row["name"]: row["error"] for row in opened.workspace.pages()}
    assert why["a.png"] is None and why["b.png"].startswith("not an image")
    put_page(opened.workspace.folder, "b")
    ended(opened.reader.read_pages(pages[:1], again=True))
    assert not any(row["error"] for row in opened.workspace.pages())


def test_a_scan_that_was_still_being_copied_is_read_when_it_is_complete(opened):
    path = opened.workspace.folder / "b.png"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    ended(opened.reader.read_pages())
    assert row_of(opened, "b.png")["error"]
    told = []
    opened.workspace.listen(lambda event: told.append(event[1]["row"]) if event[0] == "page" else None)
    path.write_bytes(whole[:-1])
    os.utime(path, (time() + 60, time() + 60))
    opened.reader.read_changed()
    assert len(opened.jobs.newest_first()) == 1  # not again while it grows
    path.write_bytes(whole)
    until(lambda: any(row["status"] == "read" for row in told))
    assert told[-1]["error"] is None


def test_a_tiff_that_was_still_being_copied_is_read_when_it_is_complete(opened):
    path = opened.workspace.folder / "c.tif"
    scan(1).image.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4])
    opened.watcher.update_pages()
    assert row_of(opened, "c.tif")["error"]
    path.write_bytes(whole)
    opened.watcher.update_pages()
    until(lambda: row_of(opened, "c.tif")["status"] == "read")


def test_an_error_that_is_gone_is_told_although_there_is_nothing_to_read(opened):
    path = opened.workspace.folder / "a.png"
    whole = path.read_bytes()
    path.write_bytes(b"broken")
    page = id_of(opened, "a.png")
    ended(opened.reader.read_pages([page]))
    told = []
    opened.workspace.listen(lambda event: told.append(event[1]["row"]) if event[0] == "page" else None)
    path.write_bytes(whole)
    ended(opened.reader.read_pages([page]))
    assert [row["error"] for row in told] == [None]


def test_new_scans_are_taken_in(opened):
    told = []
    opened.workspace.listen(lambda event: told.append(event[0]))
    scan(1).image.save(opened.workspace.folder / "c.png")
    (opened.workspace.folder / "b.png").unlink()
    opened.watcher.update_pages()
    assert [row["name"] for row in opened.workspace.pages()] == ["a.png", "c.png"] and "pages" in told


def test_pages_are_counted_in_the_background(opened, monkeypatch):
    """Until a page is counted the overview says so, and does not wait; then what is unread is read."""
    of_page, go_on = Summary.of, Event()
    monkeypatch.setattr(Summary, "of", lambda *given, **more: go_on.wait(60) and of_page(*given, **more))
    done = Event()
    opened.workspace.listen(lambda event: event[0] == "job" and event[1]["state"] == "done" and done.set())
    opened.begin()
    assert [row["counted"] for row in opened.workspace.pages()] == [False, False]
    assert opened.status()["uncounted"] == 2
    go_on.set()
    assert done.wait(60) and opened.status()["uncounted"] == 0
    assert [(row["counted"], row["status"]) for row in opened.workspace.pages()] == [(True, "read"), (True, "read")]


def test_a_page_without_writing_is_read_once(opened):
    blank(700, 400).image.save(opened.workspace.folder / "b.png")
    [page] = [row["id"] for row in opened.workspace.pages() if row["name"] == "b.png"]
    assert list(opened.reader.unread()) == [page]
    ended(opened.reader.read_pages())
    assert row_of(opened, "b.png")["status"] == "read" and not lines_of(opened, page)
    assert not list(opened.reader.unread())


@pytest.mark.parametrize("name", ["book.tif", "book.pdf"])
def test_each_page_of_a_book_is_read_into_its_file(opened, name):
    image = scan(2).image.convert("RGB")
    image.save(opened.workspace.folder / name, save_all=True, append_images=[scan(3).image.convert("RGB")])
    opened.watcher.update_pages()
    ended(opened.jobs.newest_first()[0])
    assert [len(texts(opened, f"{name} page {number}")) for number in (1, 2)] == [2, 3]
    opened.watcher.update_pages()
    assert row_of(opened, f"{name} page 2")["status"] == "read"
    assert opened.workspace.strip(id_of(opened, f"{name} page 1"), "r1l2").startswith(b"\xff\xd8")


def test_learning_says_what_it_lacks(opened, monkeypatch):
    assert "confirm 25 more" in opened.learner.why_not_learnable(0)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "a frozen program" in opened.learner.why_not_learnable(25)


def test_urgent_work_passes_patient_work():
    executor, done, begun, go_on = PriorityExecutor(), [], Event(), Event()

    def patient():
        begun.set()
        go_on.wait()
        done.append("first half")
        executor.run_urgent()
        done.append("second half")

    first, second = executor.submit_background(patient), executor.submit_background(lambda: done.append("later"))
    begun.wait()
    executor.submit(done.append, "urgent")
    go_on.set()
    first.result(10), second.result(10)
    executor.shutdown()
    assert done == ["first half", "urgent", "second half", "later"]
