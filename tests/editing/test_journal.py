"""The history is somebody else's file: it may cost itself, never a text or the program."""

import os
import sqlite3
import sys
from shutil import rmtree

import pytest
from drives import needs_compiler, run_without_locks
from edited_folders import put_page
from hostile_files import journal_of_several

from drethtr.base.errors import DataError
from drethtr.editing.changes import LineEdit
from drethtr.editing.journal import ADDRESS, FOLDER, NAME, TABLES, Change, Journal
from drethtr.editing.workspace import Workspace

LONG = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000000) SELECT count(*) FROM n)"


@pytest.fixture
def scans(tmp_path):
    """A folder that was worked in: a correction, and a summary that is up to date."""
    put_page(tmp_path / "scans", "a")
    with Workspace.open(tmp_path / "scans") as workspace:
        correct(workspace, "before")
        workspace.pages()
    return tmp_path / "scans"


def correct(workspace, text):
    [page] = workspace.folder_pages
    line = workspace.opened(page).line("l1")
    return workspace.edit_line(page, "l1", line.revision, LineEdit(text=text), "ada")


def tampered(folder, *statements):
    with sqlite3.connect(folder / FOLDER / NAME) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def works(folder):
    """Everything that reads the history, and a correction; returns the history of the line."""
    with Workspace.open(folder) as workspace:
        [page] = workspace.folder_pages
        [row] = workspace.pages()
        assert (row["lines"], row["corrected"]) == (4, 1)
        history = workspace.history(page, "l1")
        workspace.journal.earlier_texts(page)
        assert correct(workspace, "after").text == "after"
        assert workspace.history(page, "l1")[0].new == "after"
    return history


@pytest.mark.parametrize(
    "statement",
    [
        f"CREATE TRIGGER t AFTER INSERT ON change BEGIN SELECT {LONG}; END",
        "CREATE VIEW other AS SELECT * FROM change",
        "CREATE TABLE other (a)",
        "ALTER TABLE change ADD COLUMN other",
        "DROP TABLE summary",
        "DROP INDEX change_of_line",
    ],
)
def test_a_file_with_other_tables_is_put_aside(scans, statement):
    tampered(scans, statement)
    assert works(scans) == [] and (scans / FOLDER / "edit.damaged").exists()


@pytest.mark.parametrize(
    "content",
    [
        "''",
        "'[[['",
        "'[1, 2]'",
        "'{}'",
        "'{\"texts\": 5}'",
        '\'{"texts": [["l1", "invented", "sure"]]}\'',
        '\'{"texts": [], "words": "many"}\'',
        '\'{"texts": [], "words": -1}\'',
        '\'{"texts": [], "doubt": Infinity}\'',
        '\'{"texts": [], "more": 1}\'',
        "x'ff00'",
        "5e300",
        f"'{'[' * 100_000}'",
        f'\'{{"texts": [], "words": {"9" * 5000}}}\'',
    ],
)
def test_a_summary_that_is_none_is_counted_again(scans, content):
    tampered(scans, f"UPDATE summary SET content = {content}")
    [change] = works(scans)
    assert change.new == "before"


@pytest.mark.parametrize("column", ["who", "old", "new", "time", "action"])
@pytest.mark.parametrize("value", ["x'ff'", "CAST(x'ff' AS TEXT)", f"zeroblob({20 << 20})"])
def test_a_change_that_is_none_costs_itself(scans, column, value):
    page = "(SELECT page FROM change)"
    tampered(
        scans,
        f"INSERT INTO change (page, line, time, action) VALUES ({page}, 'l1', 't', 'text')",
        f"UPDATE change SET {column} = {value} WHERE number = 2",
    )
    with Workspace.open(scans) as workspace:
        [page] = workspace.folder_pages
        found = workspace.history(page, "l1")
        assert all(isinstance(one.action, str) for one in found)
        assert correct(workspace, "after").text == "after"


def test_a_long_history_is_shown_from_its_end(tmp_path):
    journal = Journal.open(tmp_path)
    journal.add("p", [Change("l", "text", None, f"text {number}") for number in range(1500)])
    found = journal.of_line("p", "l")
    assert len(found) == 1000 and found[0].new == "text 1499"
    journal.close()


def test_a_history_that_is_removed_while_it_is_open_begins_again(tmp_path):
    """As anybody may do; what is written into a removed file nobody would find again."""
    journal = Journal.open(tmp_path)
    journal.add("p", [Change("l", "text", None, "before")])
    rmtree(tmp_path / FOLDER)
    journal.add("p", [Change("l", "text", "before", "after")])
    journal.close()
    journal = Journal.open(tmp_path)
    assert [change.new for change in journal.of_line("p", "l")] == ["after"] and journal.error is None
    journal.close()


def test_no_folder_is_made_for_the_history_of_one_that_is_gone(tmp_path):
    (tmp_path / "scans").mkdir()
    journal = Journal.open(tmp_path / "scans")
    (tmp_path / "scans").rename(tmp_path / "moved")
    journal.add("p", [Change("l", "text", None, "before")])
    assert [change.new for change in journal.of_line("p", "l")] == ["before"]
    assert not (tmp_path / "scans").exists()
    journal.close()


def test_a_history_is_not_begun_again_through_a_link(tmp_path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "other").mkdir()
    journal = Journal.open(tmp_path / "scans")
    rmtree(tmp_path / "scans" / FOLDER)
    (tmp_path / "scans" / FOLDER).symlink_to(tmp_path / "other")
    journal.add("p", [Change("l", "text", None, "before")])
    assert "link" in journal.error and not list((tmp_path / "other").iterdir())
    journal.close()


def test_a_step_of_a_foreign_history_ends_with_its_last_change(tmp_path):
    journal = Journal.open(tmp_path)
    journal.add("p", [Change("l", "text", None, "before")], b"")
    journal.add("p", [Change("l", "undo", "before")], b"", of=1)
    journal.database.execute("UPDATE step SET last = 1000000000000")
    steps = journal.steps("p")
    assert journal.changed_by_persons("p", steps[0], steps) == set()
    journal.close()


def test_a_statement_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.base.database.STEPS", 50_000)
    journal = Journal.open(tmp_path)
    assert journal.texts(f"SELECT CAST({LONG} AS TEXT)", ()) == [] and "interrupted" in journal.error
    journal.close()


def test_the_tables_are_those_of_earlier_versions(tmp_path):
    """Histories of earlier versions stay readable: their statements had these words."""
    (tmp_path / FOLDER).mkdir()
    with sqlite3.connect(tmp_path / FOLDER / NAME) as database:
        for statement in TABLES:
            database.execute(statement.replace("TABLE", "TABLE IF NOT EXISTS").replace("INDEX", "INDEX IF NOT EXISTS"))
    database.close()
    Journal.open(tmp_path).close()
    assert not (tmp_path / FOLDER / "edit.damaged").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", [NAME, f"{NAME}-wal", f"{NAME}-journal"])
def test_a_file_that_leads_elsewhere_is_refused(tmp_path, link, name):
    mine = tmp_path / "mine"
    mine.write_bytes(b"")
    put_page(tmp_path / "scans", "a")
    (tmp_path / "scans" / FOLDER).mkdir()
    link(mine, tmp_path / "scans" / FOLDER / name)
    with pytest.raises(DataError, match="is a link, or not an ordinary file; remove it"):
        Workspace.open(tmp_path / "scans")
    assert mine.read_bytes() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_a_folder_that_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "mine" / "learn").mkdir(parents=True)
    put_page(tmp_path / "scans", "a")
    (tmp_path / "scans" / FOLDER).symlink_to(tmp_path / "mine")
    with pytest.raises(DataError, match="is a link; remove it"):
        Workspace.open(tmp_path / "scans")
    assert (tmp_path / "mine" / "learn").is_dir() and len(list((tmp_path / "mine").iterdir())) == 1


def test_a_journal_that_names_another_file_is_refused(scans, tmp_path):
    """SQLite would remove that file."""
    (tmp_path / "thesis").write_text("years")
    path = scans / FOLDER / NAME
    path.with_name(f"{NAME}-journal").write_bytes(journal_of_several(path, tmp_path / "thesis"))
    with pytest.raises(DataError, match="would make SQLite delete another file; drethtr did not write"):
        Workspace.open(scans)
    assert (tmp_path / "thesis").exists()


def test_a_damaged_history_that_cannot_be_put_aside_is_named(scans):
    (scans / FOLDER / NAME).write_bytes(b"no database" * 1000)
    (scans / FOLDER / "edit.damaged").mkdir()
    with pytest.raises(DataError, match=r"edit\.sqlite: damaged \(.*\); remove it, it holds no texts"):
        Workspace.open(scans)


def test_a_write_protected_history_is_named(scans):
    (scans / FOLDER / NAME).chmod(0o444)
    with pytest.raises(DataError, match=r"edit\.sqlite: cannot be written: it is write-protected"):
        Workspace.open(scans)


@needs_compiler
def test_a_drive_without_locks_is_named_as_such(tmp_path):
    program = (
        f"from pathlib import Path; from drethtr.editing.journal import Journal\nJournal.open(Path({str(tmp_path)!r}))"
    )
    told = run_without_locks(tmp_path, program)
    assert "its drive has no file locks; use a copy on a local drive" in told.splitlines()[-1]


def test_the_last_person_to_work_on_the_text_of_a_line_answers_for_it(scans):
    with Workspace.open(scans) as workspace:
        [page] = workspace.folder_pages
        assert workspace.journal.people(page) == {"l1": "ada"}
        workspace.confirm(page, who="bob")
        line = workspace.opened(page).line("l0")
        place = LineEdit(baseline=((60, 90), (400, 90)))
        workspace.edit_line(page, "l0", line.revision, place, "eve")
        assert set(workspace.journal.people(page).values()) == {"bob"} and "l0" in workspace.journal.people(page)


@pytest.mark.parametrize(
    ("told", "said"), [("http://127.0.0.1:8010", "edit at http://127.0.0.1:8010; use"), ("x\n", "edit; use")]
)
def test_whoever_comes_second_is_told_where_the_first_is(scans, told, said):
    with Workspace.open(scans):
        (scans / FOLDER / ADDRESS).write_text(told, encoding="ascii")
        with pytest.raises(DataError, match=said):
            Workspace.open(scans)
