"""What a link in a received folder can do to the files of whoever opens it: nothing."""

import os
import sys
from pathlib import Path

import pytest

from drethtr.base.errors import DataError
from drethtr.base.files import refuse_protected, write_bytes, write_own
from drethtr.base.links import MARK, is_near, make_marked, open_ordinary, refuse_outside, remove_marked, text_of_own
from drethtr.base.locks import change_bytes, claimed, remove_note, turn_to_change

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")


@pytest.fixture
def mine(tmp_path):
    """A file and a folder of this user, outside the folder that was received."""
    (tmp_path / "mine" / "learn").mkdir(parents=True)
    (tmp_path / "mine" / "learn" / "thesis.txt").write_text("years")
    (tmp_path / "received").mkdir()
    return tmp_path / "mine"


def claim(path):
    with claimed(path):
        pass


def take_turn(path):
    with turn_to_change(path):
        pass


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


WRITERS = [
    lambda path: write_bytes(path, b"new"),
    lambda path: change_bytes(path, lambda found: b"new", 100),
    refuse_protected,
    claim,
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["thesis", "autostart/new.desktop"])
def test_a_result_is_not_written_through_a_link_out_of_its_folder(mine, tmp_path, write, name):
    (mine / "thesis").write_text("years")
    link = tmp_path / "received" / "a.page.xml"
    link.symlink_to(mine / name)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match=r"it is a link out of its folder, to .*; name that file, or remove the link"):
        write(link)
    assert sorted(tmp_path.rglob("*")) == before and (mine / "thesis").read_text() == "years"


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_that_leads_to_itself_is_refused(tmp_path, write):
    link = tmp_path / "a.page.xml"
    link.symlink_to("a.page.xml")
    with pytest.raises(DataError, match=r"a\.page\.xml: cannot be written: Too many levels of symbolic links"):
        write(link)
    remove_note(link)
    assert link.is_symlink() and list(tmp_path.iterdir()) == [link]


def test_results_stay_in_the_folder_of_a_user(mine, tmp_path):
    """It may be a link itself, and links in it may lead to places in it; folders that are missing are no links."""
    received = tmp_path / "received"
    (received / "1").mkdir()
    (received / "same").symlink_to("1")
    (received / "out").symlink_to(mine)
    (tmp_path / "link").symlink_to(received)
    for output in (received, tmp_path / "link"):
        for name in ("", "1", "same", "2/3"):
            refuse_outside(output / name, output)
        for name in ("out", "out/new"):
            with pytest.raises(DataError, match=r"a link leads out of .*, to .*; remove it, or write to another"):
                refuse_outside(output / name, output)


def test_a_turn_locks_nothing_elsewhere(mine, tmp_path):
    (tmp_path / "received" / "a.xml").symlink_to(mine / "a.xml")
    with pytest.raises(OSError, match="it is a link out of its folder"):
        take_turn(tmp_path / "received" / "a.xml")
    assert names_in(mine) == ["learn"]


def test_only_marked_folders_are_removed(mine, tmp_path):
    received = tmp_path / "received"
    make_marked(received / "learn" / "1")
    (received / "learn" / "1" / "model").touch()
    make_marked(received / "learn" / "1")
    assert names_in(received / "learn" / "1") == [MARK]
    remove_marked(received / "learn" / "1")
    assert names_in(received / "learn") == []
    (received / "learn" / "2").mkdir()
    (received / "learn" / "3").symlink_to(mine / "learn")
    (mine / "learn" / MARK).touch()
    for name in ("2", "3", "4"):
        remove_marked(received / "learn" / name)
    assert len(names_in(received / "learn")) == 2 and (mine / "learn" / "thesis.txt").exists()


def test_nothing_is_made_or_removed_below_a_link(mine, tmp_path):
    (tmp_path / "received" / "learn").symlink_to(mine)
    (mine / "learn" / MARK).touch()
    remove_marked(tmp_path / "received" / "learn" / "learn")
    with pytest.raises(DataError, match="is a link; remove it"):
        make_marked(tmp_path / "received" / "learn" / "1")
    assert names_in(mine) == ["learn"] and (mine / "learn" / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("place", "near"),
    [("a.png", True), ("img/a.png", True), ("../img/a.png", True), ("../../a.png", False), ("/etc/hostname", False)],
)
def test_files_name_what_is_near(place, near):
    assert is_near(Path("/home/me/volume/page") / place, Path("/home/me/volume/page")) is near


def test_a_small_text_of_ours_is_read_in_part_and_nothing_else_is(tmp_path):
    own, link, twin, pipe = (tmp_path / name for name in ("own", "link", "twin", "pipe"))
    own.write_text("grüße", encoding="utf-8")
    assert text_of_own(own, 3) == "grü" and text_of_own(tmp_path / "missing", 9) == ""
    link.symlink_to(own)
    os.mkfifo(pipe)
    assert text_of_own(link, 9) == text_of_own(pipe, 9) == text_of_own(tmp_path, 9) == ""
    twin.hardlink_to(own)
    assert text_of_own(twin, 9) == ""
    other = tmp_path / "other"
    other.write_bytes(b"\xff\xfe")
    assert text_of_own(other, 9) == ""


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match="it is a pipe or a device; save its content to a file"):
            open_ordinary(path)
    (tmp_path / "file").write_text("text")
    with open_ordinary(tmp_path / "file") as file:
        assert file.read() == b"text"
    with pytest.raises(IsADirectoryError):
        open_ordinary(tmp_path)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_what_only_we_name_is_not_written_through_a_link_to_other_texts(tmp_path, link):
    (tmp_path / "a.page.xml").write_text("typed by a person")
    link(tmp_path / "a.page.xml", tmp_path / "drethtr.edition.json")
    with pytest.raises(DataError, match="is a link, or not an ordinary file; remove it"):
        write_own(tmp_path / "drethtr.edition.json", "{}")
    assert (tmp_path / "a.page.xml").read_text() == "typed by a person"
    write_own(tmp_path / "new.json", "{}")
    assert (tmp_path / "new.json").read_text() == "{}"
