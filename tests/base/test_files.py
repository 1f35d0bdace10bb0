"""A file is whole or as it was, and of two programs one has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from drives import needs_compiler, run_without_locks
from programs import source_first

from drethtr.base import files
from drethtr.base.errors import DataError
from drethtr.base.files import (
    NotFlushedError,
    atomic_write,
    change_bytes,
    claimed,
    is_there,
    make_folder,
    remove_unfinished,
    tidied,
    turn_to_change,
    write_bytes,
    write_text,
)


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
    assert path.read_text() == "whole"


def test_after_an_error_the_old_file_is_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def breaks_off():
        with atomic_write(path) as unfinished:
            unfinished.write_text("half")
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        breaks_off()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_who_write_one_file_both_write_it_whole(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as one:
        one.write_text("one")
        with atomic_write(path) as other:
            other.write_text("other")
        assert path.read_text() == "other"
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o640)
    with atomic_write(path) as unfinished:
        unfinished.unlink()
        unfinished.touch(0o600)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_written(there, tmp_path):
    (tmp_path / "files").mkdir()
    link, file = tmp_path / "link", tmp_path / "files" / "file"
    link.symlink_to("files/file")
    if there:
        file.write_text("old")
    with atomic_write(link) as unfinished:
        unfinished.write_text("new")
    assert link.is_symlink() and file.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == [file.parent, file, link]


HALF_WAY = """
import os, sys, time
from pathlib import Path
from drethtr.base.files import atomic_write
with atomic_write(Path(sys.argv[1])) as unfinished:
    unfinished.write_text("half")
    unfinished.with_name(".tmpAbCdEf").write_text("as a library calls its own")
    print("half", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def half_way(tmp_path):
    """A program that is writing a file."""
    command = [sys.executable, "-c", HALF_WAY, tmp_path / "file"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **source_first()}) as program:
        assert program.stdout.readline()
        yield program
        program.kill()


def test_the_next_program_removes_what_a_killed_one_left_and_nothing_else(half_way, tmp_path):
    own = [tmp_path / name for name in (".notes.unfinished", "file", "thesis.unfinished")]
    for path in own:
        path.touch()
    remove_unfinished(tmp_path)  # the program still lives
    assert len(list(tmp_path.iterdir())) == 4
    half_way.kill()
    half_way.wait()
    assert len(list(tmp_path.iterdir())) == 4
    tidied.cache_clear()  # as in a new program
    with atomic_write(tmp_path / "file") as unfinished:
        unfinished.write_text("whole")
    assert sorted(tmp_path.iterdir()) == own and own[1].read_text() == "whole"
    remove_unfinished(tmp_path / "missing")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_what_others_put_there_is_not_followed(tmp_path):
    """In a folder for all, such as that of temporary files."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").touch()
    (tmp_path / f".{'0' * 32}.unfinished").symlink_to(tmp_path / "mine")
    remove_unfinished(tmp_path)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are looked up in /proc")
def test_a_loss_of_power_leaves_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    """What was not flushed is lost: bytes of a file, and names in a folder. Any of it may be written all the same."""
    path = tmp_path / "file"
    path.write_text("old")
    on_disk, renamed, seen = {path.stat().st_ino: "old"}, [path.stat().st_ino], []

    def look():
        seen.extend(on_disk.get(file, "lost") for file in renamed)

    def fsync(descriptor):
        place = Path(f"/proc/self/fd/{descriptor}").resolve()
        look()
        if place.is_file():
            on_disk[place.stat().st_ino] = place.read_text()
        else:
            del renamed[:-1]
        look()

    replace = os.replace

    def replaced(source, target):
        renamed.append(Path(source).stat().st_ino)  # the disk has one of these names
        replace(source, target)
        look()

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaced)
    with atomic_write(path) as unfinished:
        unfinished.write_text("new")
        look()
    assert set(seen) == {"old", "new"} and [on_disk[file] for file in renamed] == ["new"]


def test_a_write_protected_file_is_left_alone(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="it is write-protected"), atomic_write(path):
        pass
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_with_other_names_is_left_alone(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    (tmp_path / "other").hardlink_to(path)
    with pytest.raises(OSError, match="2 names"), atomic_write(path):
        pass
    assert path.read_text() == (tmp_path / "other").read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only the superuser writes files of others")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 1234)
    with atomic_write(path) as unfinished:
        unfinished.write_text("new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


HOLDING = """
import sys, time
from pathlib import Path
from drethtr.base.files import claimed
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


def test_what_a_killed_program_had_is_free(holding, tmp_path):
    holding.kill()
    holding.wait()
    with claimed(tmp_path / "model"):
        pass
    with claimed(tmp_path / "model"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_is_free_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="no more"), claimed(tmp_path / "new" / "model"):
        raise ValueError("no more")
    with claimed(tmp_path / "new" / "model"):
        pass


def test_what_utf_8_lacks_is_replaced(tmp_path):
    write_text(tmp_path / "a.txt", "caf\udce9\n")
    assert (tmp_path / "a.txt").read_bytes() == b"caf?\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        write_bytes(tmp_path / "a", b"")


def test_a_file_is_no_folder(tmp_path):
    make_folder(tmp_path / "new" / "folder")
    (tmp_path / "file").touch()
    for place, message in ((tmp_path / "file", "is a file"), (tmp_path / "file" / "out", "cannot be created")):
        with pytest.raises(DataError, match=message):
            make_folder(place)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may write")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="not writable"):
        make_folder(tmp_path)
    tmp_path.chmod(0o700)


def test_a_name_that_is_too_long_is_not_there(tmp_path):
    assert not is_there(tmp_path / ("n" * 300))


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
    monkeypatch.setattr(files, "TURN_SECONDS", 0.05)
    path = tmp_path / "file"
    with turn_to_change(path), pytest.raises(DataError, match="does not end"):
        change_bytes(path, lambda content: b"new", 100)
    change_bytes(path, lambda content: b"new", 100)
    assert list(tmp_path.iterdir()) == [path]


def test_who_was_written_but_not_flushed_is_told_so(tmp_path, monkeypatch):
    flush = files.flush

    def flush_files(path):
        if path.is_dir():
            raise OSError(5, "Input/output error")
        flush(path)

    path = tmp_path / "file"
    monkeypatch.setattr(files, "flush", flush_files)
    for write in (write_bytes, lambda path, content: change_bytes(path, lambda found: content, 100)):
        with pytest.raises(NotFlushedError, match="was written, but the disk does not confirm it: Input/output error"):
            write(path, os.urandom(8))


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


@needs_compiler
def test_on_a_drive_without_locks_nothing_is_claimed_and_no_note_stays(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    program = "import sys; from pathlib import Path; from drethtr.base.files import claimed"
    assert (
        run_without_locks(tmp_path, f"{program}\nwith claimed(Path({str(place / 'a')!r})): print('done')") == "done\n"
    )
    assert list(place.iterdir()) == []
