"""Each description is opened once to plan and once to read; a later run opens nothing that has not changed."""

import json
import os
import sys
from collections import Counter
from contextlib import contextmanager

import pytest
from printed_pages import draw_page, put_page

from drethtr import Recognizer
from drethtr.pages import Planned, open_job
from drethtr.pages.catalog import Catalog, Facts, Kind
from drethtr.pages.record import RECORD, Record

OPENED: list[Counter[str]] = []


def hear(event, arguments):
    """Count opened files while a test asks for it; a hook stays for the rest of the process."""
    if OPENED and event == "open" and isinstance(arguments[0], str | os.PathLike):
        OPENED[-1][os.fspath(arguments[0])] += 1


sys.addaudithook(hear)


@contextmanager
def opened():
    """The files that this process opens, with how often."""
    OPENED.append(Counter())
    try:
        yield OPENED[-1]
    finally:
        OPENED.pop()


@pytest.fixture
def scans(tmp_path):
    """Two pages with PAGE files, and one without."""
    folder = tmp_path / "scans"
    for name in ("a", "b"):
        put_page(folder / f"{name}.png", folder / f"{name}.xml", ["abc", "def"])
    draw_page(folder / "c.png", ["ghi"])
    return folder


@pytest.fixture
def run(scans, tiny_path, tmp_path):
    """Transcribe the folder; the plan."""
    recognizer = Recognizer.load(tiny_path, decoder="ctc")

    def transcribe():
        events = []
        job = open_job([scans], tmp_path / "out", ["page", "alto", "txt"])
        job.run(lambda: recognizer, events.append)
        [plan] = [event.plan for event in events if isinstance(event, Planned)]
        return plan

    return transcribe


def inside(opens, folder):
    return {name: number for name, number in opens.items() if name.startswith(f"{folder}{os.sep}")}


def test_a_description_is_opened_twice_and_then_never_again(run, scans):
    with opened() as opens:
        assert len(run().waiting) == 3
    assert [inside(opens, scans)[str(scans / name)] for name in ("a.xml", "b.xml")] == [2, 2]
    with opened() as opens:
        assert len(run().done) == 3
    assert not inside(opens, scans)


def test_only_a_changed_description_is_opened_again(run, scans):
    run()
    os.utime(scans / "a.xml", (1, 1))
    with opened() as opens:
        assert len(run().done) == 3  # it holds what it held
    assert {name.removeprefix(f"{scans}{os.sep}") for name in inside(opens, scans)} == {"a.xml", "a.png"}


def test_a_record_without_inputs_as_of_version_0_2_is_completed(run, tmp_path):
    run()
    record = tmp_path / "out" / RECORD
    rows = [row for row in record.read_text(encoding="utf-8").splitlines() if "result" in json.loads(row)]
    record.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    plan = run()
    assert len(plan.done) == 3 and not plan.unrecorded
    assert {os.path.basename(name) for name in Record(tmp_path / "out").inputs} == {  # noqa: PTH119 - names
        *("a.xml", "a.png", "b.xml", "b.png", "c.png")
    }


def test_the_output_may_be_the_folder_of_the_scans(scans, tiny_path):
    for done in (0, 3):
        events = []
        job = open_job([scans], scans, ["txt"])
        job.run(lambda: Recognizer.load(tiny_path, decoder="ctc"), events.append)
        assert len(events[0].plan.done) == done


@pytest.mark.parametrize(
    "facts",
    [
        Facts(Kind.IMAGE, (0, 2)),
        Facts(Kind.IMAGE, is_line=True),
        Facts(Kind.DESCRIPTION, image="a.png", has_lines=True, made_here=False),
        Facts(Kind.METS),
    ],
)
def test_facts_are_read_as_written(facts):
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "letter"},
        {"kind": "image", "frames": ["0"]},
        {"kind": "image", "frames": 1},
        {"kind": "image", "is_line": 1},
        {"kind": "description", "image": None},
        {"kind": "description", "made_here": "no"},
        {},
    ],
)
def test_what_is_no_fact_is_passed_over(tmp_path, row):
    (tmp_path / RECORD).write_text(json.dumps({"input": "a", "state": "1:2", **row}) + "\n", encoding="utf-8")
    assert Record(tmp_path).inputs == {}


def test_a_file_is_what_it_was_until_it_changes(scans):
    catalog = Catalog()
    facts = catalog.facts(scans / "a.xml")
    assert facts == Facts(Kind.DESCRIPTION, image="a.png", has_lines=True, made_here=False)
    with opened() as opens:
        assert Catalog(catalog.new).facts(scans / "a.xml") == facts
    assert not inside(opens, scans)
    (scans / "a.xml").write_text("<a/>", encoding="utf-8")
    assert Catalog(catalog.new).facts(scans / "a.xml").kind is Kind.OTHER


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_a_link_that_leads_in_circles_is_listed_to_be_named_but_no_file(scans):
    (scans / "loop.png").symlink_to("loop.png")
    folders = Catalog().folders
    assert {scans / "loop.png", scans / "a.xml"} <= set(folders.files(scans))
    assert not folders.is_file(scans / "loop.png")
