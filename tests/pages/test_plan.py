"""Two programs that write to one folder."""

import pytest
from made_pages import TEXTS, blank, write

from drethtr import Recognizer
from drethtr.base.files import tidied, unfinished_name
from drethtr.base.locks import claimed
from drethtr.pages import PageRead, Skipped, open_job
from drethtr.pages.plan import Claims


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
    one, two = open_job([lines], tmp_path / "out").tasks
    with Claims(force=False) as claims, claimed(two.wanted[0]):
        assert not claims.win(two)  # it is being read
        for task in (one, two):
            task.wanted[0].parent.mkdir(exist_ok=True)
            task.wanted[0].touch()
        assert not claims.win(one) and claims.settle() == [] and claims.done == 2
    with Claims(force=True) as claims:
        assert claims.win(one)


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
