"""Test turns with other programs that write the same files."""

import os
import subprocess
import sys
from errno import EINVAL, EMFILE, ENOLCK, ENOSPC, ENOTSUP, EROFS

import pytest
from drives import needs_compiler, run_without_locks
from programs import source_first

from drethtr.base import files, locks
from drethtr.base.errors import DataError
from drethtr.base.locks import change_bytes, claimed, turn_to_change

HOLDING = """
import sys, time
from pathlib import Path
from drethtr.base.locks import claimed
with claimed(Path(sys.argv[1])):
    print("has it", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holding(tmp_path):
    """Another program, which has claimed a file."""
    command = [sys.executable, "-c", HOLDING, tmp_path / "model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **source_first()}) as program:
        assert program.stdout.readline()
        yield program
        program.kill()


def test_who_has_a_file_is_told(holding, tmp_path):
    expected = rf"model: being written by process {holding.pid} on .*, since .*: -c .*; wait for it to end"
    with pytest.raises(DataError, match=expected), claimed(tmp_path / "model"):
        pass
    with claimed(tmp_path / "other"):
        assert holding.poll() is None


def test_a_lock_tells_no_password(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["drethtr", "index", "scans", "--to", "postgresql://me:secret@host/archive"])
    with claimed(tmp_path / "index"):
        note = (tmp_path / ".index.lock").read_text()
    assert note.endswith("drethtr index scans --to postgresql://host/archive")


@pytest.mark.parametrize("name", ["x" * 255, "書" * 85, "é" * 127])
def test_a_name_as_long_as_they_may_be_can_be_claimed(name, tmp_path):
    with claimed(tmp_path / name), pytest.raises(DataError, match="being written by process"), claimed(tmp_path / name):
        pass


def test_what_a_killed_program_had_is_free(holding, tmp_path):
    holding.kill()
    holding.wait()
    with claimed(tmp_path / "model"):
        pass
    with claimed(tmp_path / "model"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_result_that_has_come_in_the_meantime_is_kept(tmp_path):
    (tmp_path / "model").write_text("of another program")
    with pytest.raises(DataError, match="exists; choose another output"), claimed(tmp_path / "model", replace=False):
        pass
    with claimed(tmp_path / "model"), claimed(tmp_path / "other", replace=False):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_file_is_free_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="no more"), claimed(tmp_path / "new" / "model"):
        raise ValueError("no more")
    with claimed(tmp_path / "new" / "model"):
        pass


def test_a_change_begins_again_from_what_another_program_has_written(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"a")
    found, flush = [], files.flush

    def other_program(written):
        if len(found) < 3 and written.is_file():
            path.write_bytes(b"b" * len(found))
        flush(written)

    monkeypatch.setattr(files, "flush", other_program)
    change_bytes(path, lambda content: found.append(content) or content + b"!", 100)
    assert found == [b"a", b"b", b"bb"] and path.read_bytes() == b"bb!" and list(tmp_path.iterdir()) == [path]


def test_a_change_says_what_was_written_unless_another_program_writes_at_once(tmp_path, monkeypatch):
    path, flush = tmp_path / "file", files.flush
    assert change_bytes(path, lambda content: b"a", 100) == path.stat()
    assert change_bytes(path, lambda content: b"a", 100) is None

    def other_program(written):
        flush(written)
        if written.is_dir():  # after the file was replaced
            path.write_bytes(b"theirs")

    monkeypatch.setattr(files, "flush", other_program)
    assert change_bytes(path, lambda content: b"b", 100) is None and path.read_bytes() == b"theirs"


def test_a_change_of_a_file_that_never_rests_is_given_up(tmp_path, monkeypatch):
    path, flush = tmp_path / "file", files.flush

    def other_program(written):
        if written.is_file():
            path.write_bytes(os.urandom(8))
        flush(written)

    monkeypatch.setattr(files, "flush", other_program)
    with pytest.raises(DataError, match="keep changing it"):
        change_bytes(path, lambda content: b"mine", 100)
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize(("there", "after"), [(None, None), (None, b"new"), (b"old", None), (b"old", b"old")])
def test_a_change_may_create_a_file_or_leave_it(tmp_path, there, after):
    path = tmp_path / "file"
    if there is not None:
        path.write_bytes(there)
    found = []
    change_bytes(path, lambda content: found.append(content) or after, 100)
    assert found == [there]
    assert (path.read_bytes() if path.exists() else None) == (there if after is None else after)


def test_a_turn_that_does_not_end_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "TURN_SECONDS", 0.05)
    path = tmp_path / "file"
    with turn_to_change(path), pytest.raises(DataError, match="for too long"):
        change_bytes(path, lambda content: b"new", 100)
    change_bytes(path, lambda content: b"new", 100)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_in_a_received_folder_leads_to_no_file_of_this_user(tmp_path, link):
    mine = tmp_path / "mine"
    mine.write_text("precious")
    path = tmp_path / "received" / "model"
    path.parent.mkdir()
    for name in (".model.lock", ".model.turn"):
        link(mine, path.with_name(name))
    with claimed(path):
        pass
    change_bytes(path, lambda found: b"new", 100)
    assert mine.read_text() == "precious" and path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [EROFS, ENOSPC, EMFILE])
def test_a_lock_that_fails_is_not_a_drive_without_locks(error, tmp_path, monkeypatch):
    """A program that goes on would write what another one holds."""

    def fails(note):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(locks, "open_locked", fails)
    with pytest.raises(OSError, match=os.strerror(error)), claimed(tmp_path / "model"):
        pass
    with pytest.raises(DataError, match=f"{os.strerror(error)}; nothing was changed"):
        change_bytes(tmp_path / "file", lambda content: b"new", 100)


@pytest.mark.parametrize("error", [ENOLCK, EINVAL, ENOTSUP])
def test_a_drive_need_not_have_locks(error, tmp_path, monkeypatch):
    def fails(file):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(files, "lock", fails)
    with claimed(tmp_path / "model"):
        change_bytes(tmp_path / "file", lambda content: b"new", 100)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@needs_compiler
def test_on_a_drive_without_locks_nothing_is_claimed_and_no_note_stays(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    program = "import sys; from pathlib import Path; from drethtr.base.locks import claimed"
    assert (
        run_without_locks(tmp_path, f"{program}\nwith claimed(Path({str(place / 'a')!r})): print('done')") == "done\n"
    )
    assert list(place.iterdir()) == []
