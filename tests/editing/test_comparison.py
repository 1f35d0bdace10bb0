"""Somebody else's text beside a page, as the shipped model judges it."""

from pathlib import Path
from shutil import copyfile

import pytest

from drethtr import Recognizer
from drethtr.documents.transcription import Review
from drethtr.editing import Session, Workspace
from drethtr.editing.changes import LineEdit
from drethtr.editing.comparison import compare
from drethtr.pages.segmentation import segmentation_named
from drethtr.proofreading.rules import conventions_named

SAMPLE = Path(__file__).parents[2] / "samples" / "page"
TEXT = (SAMPLE / "transcription.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("letters")
    copyfile(SAMPLE / "letter.jpg", folder / "letter.jpg")
    lines = segmentation_named("auto")
    with Workspace.open(folder) as workspace, Session(workspace, Recognizer.load(), lines) as session:
        [folder_page] = workspace.folder_pages.values()
        reader = session.reader
        reader.executor.submit(reader.read_page, folder_page, session.jobs.new("read")).result()
        yield session


def theirs(session, text=TEXT, allowed=()):
    [page] = session.workspace.folder_pages
    return {line["line"]: line for line in compare(session.reader, page, text, "transcription.txt", allowed)["lines"]}


def doubted(line):
    return [(word["text"], word["instead"]) for word in line["words"] if word["kind"] != "supported"]


def test_words_that_the_ink_does_not_support_are_told(session):
    found = theirs(session)
    assert ("Tuesday,", "Thursday,") in doubted(found["r1l3"]) and ("1906", "1905") in doubted(found["r1l1"])
    assert not found["r1l5"]["words"] and found["r1l5"]["theirs"] == found["r1l5"]["ours"]


def test_what_a_convention_allows_is_no_error(session):
    text = TEXT.replace("parcel", "Parcell")
    assert "Parcell" in dict(doubted(theirs(session, text)["r1l3"]))
    allowed = theirs(session, text, conventions_named("spelling"))["r1l3"]
    assert doubted(allowed) == [("Tuesday,", "Thursday,")] and ("Parcell", "parcel") in allowed["alike"]


def test_what_a_person_wrote_is_no_evidence(session):
    [page] = session.workspace.folder_pages
    line = session.workspace.opened(page).line("r1l3")
    edit = LineEdit(text=line.text.replace("Thursday", "Friday"), status=Review.CONFIRMED)
    session.workspace.edit_line(page, "r1l3", line.revision, edit)
    found = theirs(session)["r1l3"]
    assert "Friday" in found["ours"] and ("Tuesday,", "Thursday,") in doubted(found)
