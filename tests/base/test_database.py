"""SQLite files of others: they cost themselves, never another file, all memory or all time."""

import os
import sqlite3
import sys
from contextlib import ExitStack, closing
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hostile_files import in_circles, journal_of_several

from drethtr.base.database import BESIDE, connect, uri_of
from drethtr.base.errors import DataError


def make(path, *statements):
    """A database with a table `t`."""
    with sqlite3.connect(path) as database:
        for statement in ("CREATE TABLE t (a)", *statements):
            database.execute(statement)
    database.close()


@pytest.fixture
def opened():
    """Opens databases until the end of the test."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(connect(path, "rw", wait=0)))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PureWindowsPath(r"\\server\share\a b\c.sqlite"), "file:////server/share/a%20b/c.sqlite"),
        (PureWindowsPath(r"Z:\a\100%#.sqlite"), "file:///Z:/a/100%25%23.sqlite"),
        (PurePosixPath("/a/b?mode=memory"), "file:///a/b%3Fmode%3Dmemory"),
    ],
)
def test_sqlite_opens_network_drives(path, uri):
    """It refuses `file://server/share`, though Windows knows no other name of a drive that was mapped."""
    assert uri_of(path) == uri


@pytest.mark.parametrize("name", ["a?mode=memory", "a#b", "100%41", "caf\udce9", "C:"])
def test_a_file_may_have_any_name(name, tmp_path, opened):
    make(tmp_path / name, "INSERT INTO t VALUES (1)")
    assert opened(tmp_path / name).execute("SELECT * FROM t").fetchall() == [(1,)]
    with closing(sqlite3.connect(f"file:///{tmp_path}/b?mode=rwc", uri=True)) as database:  # four slashes
        database.execute("CREATE TABLE t (a)")
    assert (tmp_path / "b").is_file()


def test_no_file_is_removed_that_a_journal_names(tmp_path, opened):
    path, mine = tmp_path / "received.sqlite", tmp_path / "thesis.txt"
    make(path)
    mine.write_text("years")
    journal = tmp_path / "received.sqlite-journal"
    journal.write_bytes(journal_of_several(path, mine))
    with pytest.raises(DataError, match="would make SQLite delete another file; drethtr did not write"):
        opened(path)
    assert mine.exists()
    with sqlite3.connect(path) as database:
        database.execute("SELECT * FROM t")  # what it would do
    database.close()
    assert not mine.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("ending", BESIDE)
def test_files_beside_it_lead_nowhere(tmp_path, link, ending, opened):
    make(tmp_path / "a.sqlite")
    (tmp_path / "mine").write_text("years")
    link(tmp_path / "mine", tmp_path / f"a.sqlite{ending}")
    with pytest.raises(DataError, match="is a link, or not an ordinary file"):
        opened(tmp_path / "a.sqlite")
    assert (tmp_path / "mine").read_text() == "years"


@pytest.mark.parametrize(("number", "statement"), [(1, "SELECT * FROM t"), (2, "SELECT max(a) FROM t")])
def test_a_tree_that_leads_in_circles_is_left(tmp_path, number, statement, opened):
    make(tmp_path / "a.sqlite", "INSERT INTO t VALUES ('text')")
    in_circles(tmp_path / "a.sqlite", number)
    with pytest.raises(sqlite3.DatabaseError, match=r"interrupted|malformed"):
        opened(tmp_path / "a.sqlite").execute(statement).fetchall()


def test_rows_have_no_more_than_the_file_can_hold(tmp_path, monkeypatch, opened):
    monkeypatch.setattr("drethtr.base.database.MAX_VALUE", 10_000)
    path = tmp_path / "a.sqlite"
    make(path, "INSERT INTO t VALUES (printf('%.3000c', 'x'))")
    assert len(list(opened(path).rows("SELECT a FROM t"))) == 1
    in_circles(path, 2)
    with pytest.raises(ValueError, match="more rows than it can hold"):
        list(opened(path).rows("SELECT a FROM t"))


def test_a_long_statement_of_a_large_file_ends_as_usual(tmp_path, opened):
    make(tmp_path / "a.sqlite")
    with opened(tmp_path / "a.sqlite") as database:
        database.executemany("INSERT INTO t VALUES (?)", ((str(number),) for number in range(50_000)))
    assert database.execute("SELECT count(a), max(length(a)) FROM t").fetchone() == (50_000, 5)
    database.close()


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_new_database_may_take_as_much_as_was_written_since_it_was_opened(tmp_path, monkeypatch, mode):
    with closing(connect(tmp_path / "a.sqlite", "rwc", wait=0)) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("CREATE TABLE t (a)")
        database.executemany("INSERT INTO t VALUES (?)", [("x" * 1000,)] * 1000)
        database.commit()
        monkeypatch.setattr("drethtr.base.database.MAX_VALUE", 10_000)
        monkeypatch.setattr("drethtr.base.database.STEPS", 0)
        assert len(list(database.rows("SELECT a FROM t"))) == 1000
        assert database.execute("SELECT count(*) FROM t, t").fetchone() == (1_000_000,)
