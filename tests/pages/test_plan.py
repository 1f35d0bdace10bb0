"""Two programs that write to one folder."""

import sys

import pytest
from made_pages import TEXTS, blank, write

from drethtr import Recognizer
from drethtr.base.files import tidied, unfinished_name
from drethtr.base.locks import claimed
from drethtr.pages import PageRead, Skipped, open_job
from drethtr.pages.plan import Claims
from drethtr.pages.record import Entry, Record


@pytest.fixture
def lines(tmp_path):
    """A folder of two line images."""
    (tmp_path / "lines").mkdir()
    for name, text in zip(("one", "two"), TEXTS, strict=False):
        write(blank(700, 90), [text], top=20).image.save(tmp_path / "lines" / f"{name}.png")
    return tmp_path / "lines"


def test_a_file_that_another_program_reads_is_left_to_it(lines, tiny_path, tmp_path):
    out, events = tmp_path / "out", []
    recognizer = Recognizer.load(tiny_path, decoder="ctc")
    job = open_job([lines], out)
    with claimed(out / "one.txt"):
        summary = job.run(lambda: recognizer, events.append)
    assert summary[:2] == (1, 1) and sum(isinstance(event, PageRead) for event in events) == 1
    assert isinstance(events[-1], Skipped) and "being written by process" in str(events[-1].error)
    assert job.run(lambda: recognizer)[:2] == (2, 0) and not list(out.glob("*.lock"))


def test_what_another_program_has_finished_meanwhile_is_not_read_again(lines, tmp_path):
    job = open_job([lines], tmp_path / "out")
    one, two = job.tasks
    with Claims(job.selection.records, force=False) as claims, claimed(two.wanted[0]):
        assert not claims.acquire(two)  # it is being read
        for task in (one, two):
            task.wanted[0].parent.mkdir(exist_ok=True)
            task.wanted[0].touch()
        assert not claims.acquire(one) and claims.settle() == [] and claims.done == 2
    with Claims(job.selection.records, force=True) as claims:
        assert claims.acquire(one)


@pytest.mark.skipif(sys.platform == "win32", reason="no path can be that long there")
def test_a_result_with_too_long_a_name_is_told_before_reading(lines, tmp_path):
    name = "x" * 248
    (lines / "one.png").rename(lines / f"{name}.png")
    job = open_job([lines], tmp_path / "out", ["txt", "alto"])
    with Claims(job.selection.records, force=False) as claims:
        assert [claims.acquire(task) for task in job.tasks] == [True, False]
        [error] = claims.settle()
    assert f"{name}.alto.xml: cannot be written: " in str(error)
    assert not list((tmp_path / "out").glob(".x*"))


def test_files_of_a_killed_process_are_removed(lines, tiny_path, tmp_path):
    """Not even if it was killed when all results were there."""
    job = open_job([lines], tmp_path / "out")
    note, unfinished = (tmp_path / "out" / name for name in (".one.txt.lock", unfinished_name()))
    for _ in range(2):
        job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"))
        note.touch()
        unfinished.mkdir()
        tidied.cache_clear()  # as in a new program
    job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".drethtr.jsonl", "one.txt", "two.txt"]


def test_what_another_program_has_written_without_a_page_is_read_again(tmp_path):
    """Its record was read before."""
    image = blank(700, 200)
    write(image, TEXTS[:1]).image.save(tmp_path / "book.tif", save_all=True, append_images=[image.image])
    out = tmp_path / "out"
    job = open_job([tmp_path / "book.tif"], out)
    [task], records = job.tasks, job.selection.records
    assert not records.of(out).results
    out.mkdir()
    (out / "book.txt").touch()
    for lacks in ({2}, ()):
        Record(out).add(out / "book.txt", Entry("", "", {}, frozenset(lacks)))
        with Claims(records, force=False) as claims:
            assert claims.acquire(task) is bool(lacks)
