"""A file is whole or as it was, and of two programs one has it."""

import os
import subprocess
import sys
from contextlib import nullcontext
from errno import EACCES, EBADF, EINVAL, EIO, ENOSPC, ENOTSUP, ENOTTY
from pathlib import Path
from stat import S_ISDIR
from types import SimpleNamespace

import pytest
from programs import source_first

from drethtr.base import files
from drethtr.base.errors import DataError
from drethtr.base.files import (
    NotFlushedError,
    atomic_write,
    is_there,
    make_folder,
    remove_unfinished,
    tidied,
    write_bytes,
    write_text,
)
from drethtr.base.locks import change_bytes


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


@pytest.mark.parametrize("tries", [3, None])
def test_on_windows_whoever_has_the_file_open_is_awaited_for_a_while(tries, tmp_path, monkeypatch):
    really, checked = Path.replace, []
    monkeypatch.setattr(files, "HELD_SECONDS", 60.0 if tries else 0.0)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=lambda *_: None))

    def replace(self, target):
        if len(checked) != tries:
            raise PermissionError(EACCES, "Access is denied")
        return really(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with nullcontext() if tries else pytest.raises(PermissionError, match="another program has it open"):
        with atomic_write(tmp_path / "file", lambda: checked.append(1)) as unfinished:
            unfinished.write_text("whole")
        assert len(checked) == tries and (tmp_path / "file").read_text() == "whole"


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


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are looked up in /proc")
def test_new_folders_are_on_the_disk_under_their_names(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(Path(f"/proc/self/fd/{descriptor}").resolve()))
    with atomic_write(tmp_path / "a" / "b" / "file"):
        assert flushed == [tmp_path, tmp_path / "a"]


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_is_no_file(tmp_path):
    """Who reads from it would wait forever; as the superuser, /dev/null would be a file for everybody."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DataError, match="pipe: cannot be written: it is a pipe or a device"):
        write_bytes(path, b"content")
    assert path.is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="it imports fcntl")
@pytest.mark.parametrize("error", [ENOTSUP, EINVAL, ENOTTY])
def test_on_macos_a_network_drive_is_flushed_as_far_as_it_can(error, tmp_path, monkeypatch):
    import fcntl

    def refuses(descriptor, command):
        raise OSError(error, os.strerror(error))

    flushed = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", refuses)
    monkeypatch.setattr(os, "fsync", flushed.append)
    write_bytes(tmp_path / "new" / "file", b"content")
    assert (tmp_path / "new" / "file").read_bytes() == b"content" and len(flushed) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not flushed there")
@pytest.mark.parametrize("error", [EINVAL, EBADF, ENOTSUP, EIO])
def test_a_drive_need_not_flush_folders(error, tmp_path, monkeypatch):
    """But one that can and fails is reported."""
    fsync = os.fsync

    def flush_files(descriptor):
        if S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(error, os.strerror(error))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flush_files)
    with pytest.raises(NotFlushedError) if error == EIO else nullcontext():
        write_bytes(tmp_path / "file", b"content")
    with pytest.raises(DataError, match="cannot be written") if error == EIO else nullcontext():
        write_bytes(tmp_path / "new" / "file", b"content")


def test_a_drive_need_not_have_modes(tmp_path, monkeypatch):
    def refuses(path, mode, **options):
        raise OSError(ENOTSUP, os.strerror(ENOTSUP))

    monkeypatch.setattr(os, "chmod", refuses)
    for content in (b"new", b"newer"):
        write_bytes(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == b"newer"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only the superuser writes files of others")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 1234)
    with atomic_write(path) as unfinished:
        unfinished.write_text("new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


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
    for place, message in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "file" / "out", "cannot be created.*choose another"),
    ):
        with pytest.raises(DataError, match=message):
            make_folder(place)


def test_a_full_disk_is_no_matter_of_permissions(tmp_path, monkeypatch):
    def fails(folder):
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr("drethtr.base.files.make_folders", fails)
    with pytest.raises(DataError, match="No space left on device; make room on the disk"):
        make_folder(tmp_path / "out")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may write")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="not writable"):
        make_folder(tmp_path)
    tmp_path.chmod(0o700)


def test_a_name_that_is_too_long_is_not_there(tmp_path):
    assert not is_there(tmp_path / ("n" * 300))


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
