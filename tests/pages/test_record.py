"""No result passes for one of another model, decoder or scan."""

import os
import sys

import pytest
from made_pages import TEXTS, blank, write
from PIL import Image

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.pages import Planned, open_job
from drethtr.pages.record import MAX_BYTES, RECORD, Entry, Record


@pytest.fixture
def scan(tmp_path):
    path = tmp_path / "scans" / "one.png"
    path.parent.mkdir()
    write(blank(700, 300), TEXTS[:1]).image.save(path)
    return path


@pytest.fixture
def run(scan, tiny_path, tmp_path):
    """Read the scan; what there was to do, and how many files are done and failed."""

    def read(decoder="ctc", formats=("txt",), **choices):
        events = []
        job = open_job([scan], tmp_path / "out", formats, segmentation="projection", **choices)
        summary = job.run(lambda: Recognizer.load(tiny_path, decoder=decoder), events.append)
        [plan] = [event.plan for event in events if isinstance(event, Planned)]
        return plan, (summary.done, summary.failed)

    return read


def test_a_result_of_another_decoder_is_kept_and_refused(run, tmp_path):
    run()
    before = (tmp_path / "out" / "one.txt").read_bytes()
    plan, counts = run("greedy")
    assert list(plan.refused) == ["made with decoder ctc, not greedy"] and counts == (0, 1)
    assert (tmp_path / "out" / "one.txt").read_bytes() == before
    assert run("greedy", formats=("txt", "page"))[1] == (0, 1) and not (tmp_path / "out" / "one.page.xml").exists()
    assert run("greedy", force=True)[1] == (1, 0)
    assert run("greedy")[0].done and run()[0].refused


def test_a_result_of_another_scan_is_kept_and_refused(run, scan):
    run()
    os.utime(scan, (1, 1))
    assert run()[0].done  # it holds what it held
    write(blank(700, 300), TEXTS[1:2]).image.save(scan)
    plan, counts = run()
    assert list(plan.refused) == ["made from different files with these names"] and counts == (0, 1)
    assert run(force=True)[1] == (1, 0) and run()[0].done


def test_a_result_that_nothing_is_known_of_is_kept_and_named(run, tmp_path):
    run()
    (tmp_path / "out" / RECORD).unlink()
    plan, counts = run()
    assert [task.path.name for task in plan.unrecorded] == ["one.png"] and counts == (1, 0)


def test_lines_are_held_against_the_record_too(scan, tiny_path, tmp_path):
    Image.open(scan).resize((700, 60)).save(scan)

    def read(decoder):
        job = open_job([scan], tmp_path / "out", segmentation="whole")
        return job.run(lambda: Recognizer.load(tiny_path, decoder=decoder))[:2]

    assert [read("ctc"), read("greedy"), read("ctc")] == [(1, 0), (0, 1), (1, 0)]


def test_a_record_outlives_a_torn_row(tmp_path):
    entry = Entry("1:2", "ab", {"decoder": "joint"})
    Record(tmp_path).add(tmp_path / "a.txt", entry)
    with (tmp_path / RECORD).open("a") as file:
        file.write('[1]\n{"result": "b.txt", "sta')
    Record(tmp_path).add(tmp_path / "c.txt", entry)
    assert Record(tmp_path).results == {"a.txt": entry, "c.txt": entry}


def test_a_record_that_is_too_large_is_refused_instead_of_cut(tmp_path):
    with (tmp_path / RECORD).open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(DataError, match=r"\.drethtr\.jsonl: has more than 256 MiB; choose another --output"):
        Record(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_record_that_leads_elsewhere_is_refused(run, tmp_path, link):
    """What is added to it has the names of files, which a shell might run in its settings."""
    (tmp_path / "out").mkdir()
    (tmp_path / "profile").write_text("export A=b\n")
    link(tmp_path / "profile", tmp_path / "out" / RECORD)
    with pytest.raises(DataError, match="is a link, or not an ordinary file; remove it"):
        run()
    assert (tmp_path / "profile").read_text() == "export A=b\n"
