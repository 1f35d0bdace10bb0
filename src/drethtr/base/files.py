"""Write files that survive: flushed to disk, complete or absent.

A file is written in a hidden, locked folder beside its destination, `.0123….unfinished`, and then moved, so that it is
complete or absent even if the program is killed or the machine loses power. Folders left behind by killed programs are
recognized by their missing lock; the next program that writes there removes them. The system releases locks when their
holder exits or is killed.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EBADF, EINVAL, EMLINK, ENOSPC, ENOTSUP, ESPIPE
from functools import cache
from pathlib import Path
from shutil import rmtree
from stat import S_IMODE, S_ISDIR, S_ISREG
from time import monotonic, sleep
from typing import BinaryIO
from uuid import uuid4

from drethtr.base.errors import DataError
from drethtr.base.links import followed, is_own, open_own, refuse_foreign

UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.unfinished")
"""Names of the folders of incomplete files, and of incomplete files on remote storage."""

LOCK, FILE = "lock", "file"
"""The files in such a folder."""

WRITABLE, PRIVATE = 0o222, 0o700

NO_FLUSH = frozenset({EINVAL, EBADF, ENOTSUP})
"""Errors of drives that flush files, but not folders."""

MAX_NAME_BYTES = 200
"""Maximum bytes of a file name that comes from outside: file systems allow 255, with what we add to it."""

OF_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]")
"""The beginning of an address in a path: `s3:/scans` would be a folder `s3:`. `C:/scans` is not an address."""

CURE = "change the permissions, or choose another folder"
"""What helps if nothing can be written to a folder."""

FAR = 1 << 30
"""Offset of the byte locked on Windows: beyond the content, since no other process can read a locked byte."""


HELD_SECONDS = 2.0
"""How long to wait on Windows, which replaces no open file, for a virus scanner or a reader; never varied."""


class NotFlushedError(DataError):
    """A file was replaced, but its folder could not be flushed: a loss of power might bring the old file back."""


def is_file(path: "Path | os.DirEntry[str]") -> bool:
    """Whether a file exists; False for a circular or inaccessible link, or a name that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False


def leads_nowhere(path: "Path | os.DirEntry[str]") -> bool:
    """Whether a path is a link whose file cannot be reached, such as one that was not fetched: opening it says so."""
    return path.is_symlink() and not is_there(Path(path))


def is_folder(path: Path) -> bool:
    """Whether a folder exists; False for one that cannot be accessed, or a name that is too long."""
    try:
        return path.is_dir()
    except OSError:
        return False


def state_of(found: os.stat_result) -> str:
    """Size and modification time of a file, for records that outlive a run: copying a folder with its times keeps both.

    If both are unchanged, so is the content, unless somebody reset the time.
    """
    return f"{found.st_size}:{found.st_mtime_ns}"


def mark_of(found: os.stat_result) -> str:
    """A value that changes whenever a file is written, for a process that caches a file while others may write it.

    `state_of` is not enough there: a synchronized or copied file may keep it, and clocks are set back. Records cannot
    use the mark, since no copy of a file keeps it.
    """
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def file_mark(path: Path) -> str:
    """The mark of a file; "" if there is none."""
    try:
        return mark_of(path.stat())
    except OSError:
        return ""


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, and flush them to disk.

    Raises:
        OSError: if one cannot be created.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        flush_entries(made.parent)


def flush_entries(folder: Path) -> None:
    """Wait until the entries of a folder are on disk, where folders can be flushed: not on Windows or some drives."""
    if sys.platform == "win32":
        return
    try:
        flush(folder)
    except OSError as error:
        if error.errno not in NO_FLUSH:
            raise


def flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        if sys.platform == "darwin":
            import fcntl

            with suppress(OSError):  # network drives, NTFS and FUSE know only fsync, which stops at the drive's cache
                fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
                return
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_locked(path: Path) -> BinaryIO | None:
    """Open and lock a file, created if missing; None if another process has locked it. Closing the file unlocks it.

    Raises:
        OSError: if it cannot be opened, or the file system has no locks.
    """
    while True:
        file = open_own(path)
        try:
            if not lock(file):
                file.close()
                return None
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            file.close()
            raise
        file.close()  # the previous holder has removed it meanwhile


def lock(file: BinaryIO) -> bool:
    """Lock an open file; returns False if another process has locked it.

    Raises:
        OSError: if the file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unfinished_name() -> str:
    """A unique temporary name, since another process may be writing the same file."""
    return f".{uuid4().hex}.unfinished"


@contextmanager
def atomic_write(path: Path, check: Callable[[], object] = lambda: None) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` at the end of the block, or is removed after an error.

    A missing folder is created. At the end of the block the file is flushed to disk and survives a loss of power. A
    replaced file keeps its owner and mode; a new file gets the default mode, even if a library restricts it. A symbolic
    link is followed within its folder. `check` is called just before `path` is replaced, maybe several times, and may
    raise.

    Raises:
        OSError: if it cannot be written, or `check_replaceable` refuses it.
        NotFlushedError: if it was written, but a loss of power might undo that.
    """
    check_replaceable(path)
    path = followed(path)
    make_folders(path.parent)
    tidied(path.parent)
    with own_folder(path.parent) as folder:
        unfinished = folder / FILE
        unfinished.touch()
        before = (path if path.exists() else unfinished).stat()
        yield unfinished
        if unfinished.stat().st_mode != before.st_mode:  # some drives have only one mode, and refuse to set it
            unfinished.chmod(S_IMODE(before.st_mode))
        keep_owner(unfinished, before)
        # Before the move: after a loss of power a name must never lead to an empty file.
        flush(unfinished)
        end = monotonic() + HELD_SECONDS
        while not moved(unfinished, path, check, is_last=monotonic() > end):
            sleep(0.01)
        try:
            flush_entries(path.parent)
        except OSError as error:
            raise NotFlushedError(f"was written, but the disk does not confirm it: {error.strerror}", path) from error


def moved(unfinished: Path, path: Path, check: Callable[[], object], *, is_last: bool) -> bool:
    """Move a file to its place, after a check; False if that may succeed later, unless it is the last try."""
    check()
    try:
        unfinished.replace(path)
    except PermissionError as error:
        if sys.platform != "win32":
            raise
        if is_last:
            raise PermissionError(EACCES, "another program has it open, or it is protected", str(path)) from error
        return False
    return True


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file that is protected, linked with another place, or not a regular file.

    Raises:
        PermissionError: if it is write-protected, even if this user could replace it.
        OSError: if it has hard links, which would keep the old content, is a link out of its folder, or is not a
            regular file.
    """
    try:
        found = followed(path).stat()
    except FileNotFoundError:
        return
    if S_ISDIR(found.st_mode):
        return
    if not S_ISREG(found.st_mode):
        raise OSError(ESPIPE, "it is a pipe or a device; name a file", str(path))
    if not found.st_mode & WRITABLE or not os.access(path, os.W_OK):
        raise PermissionError(EACCES, "it is write-protected", str(path))
    if found.st_nlink > 1:
        others = f"it has {found.st_nlink} names (hard links), and the others would keep the old content"
        raise OSError(EMLINK, f"{others}; copy it to a file of its own", str(path))


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Create a hidden folder, private and locked, that is removed at the end."""
    held: BinaryIO | None = None
    while held is None:  # before it is locked, another program may remove it as abandoned
        folder = parent / unfinished_name()
        folder.mkdir(PRIVATE)
        try:
            held = open_locked(folder / LOCK)
        except FileNotFoundError:
            continue
        except OSError:
            break  # no locks here, so abandoned folders cannot be recognized
    try:
        yield folder
    finally:
        if held is not None and sys.platform == "win32":
            held.close()
        rmtree(folder, ignore_errors=True)
        if held is not None:
            held.close()


def remove_unfinished(parent: Path) -> None:
    """Remove files that killed programs of this user left in a folder."""
    for folder in parent.glob(".*.unfinished"):
        with suppress(OSError):
            if not (UNFINISHED.fullmatch(folder.name) and is_own(folder)):
                continue
            held = open_locked(folder / LOCK)
            if held is None:
                continue
            if sys.platform == "win32":
                held.close()
            rmtree(folder, ignore_errors=True)
            held.close()


tidied = cache(remove_unfinished)
"""Remove unfinished files, once per folder."""


def keep_owner(path: Path, owner: os.stat_result) -> None:
    """Give a file the owner and group of another, if permitted."""
    own = path.stat()
    if sys.platform != "win32" and (own.st_uid, own.st_gid) != (owner.st_uid, owner.st_gid):
        with suppress(PermissionError):
            os.chown(path, owner.st_uid, owner.st_gid)


def is_there(path: Path) -> bool:
    """Whether a path exists. Inaccessible paths count as missing; writing to them fails later."""
    try:
        return path.exists()
    except OSError:
        return False


def refuse_file(folder: Path) -> None:
    """Refuse a file, or an address, where a folder for results is expected.

    Raises:
        DataError: saying what it is.
    """
    if OF_ADDRESS.match(str(folder)):
        raise DataError(f"{folder} is an address; give a local folder, and copy the results from there")
    if is_there(folder) and not folder.is_dir():
        raise DataError(f"{folder} is a file; give a folder to write to")


def make_folder(folder: Path) -> None:
    """Create a folder for results if it is missing, and check that it is writable.

    Raises:
        DataError: if it cannot be created, is not writable, or is a file.
    """
    refuse_file(folder)
    try:
        make_folders(folder)
    except OSError as error:
        cure = "make room on the disk" if error.errno == ENOSPC else CURE
        raise DataError(f"the folder cannot be created: {error.strerror}; {cure}", folder) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"the folder is not writable; {CURE}", folder)


def refuse_protected(path: Path) -> None:
    """Refuse a file that may not be replaced, before any work is done.

    Raises:
        DataError: if `check_replaceable` refuses it.
    """
    try:
        check_replaceable(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; a replaced file keeps its mode.

    Raises:
        DataError: if it cannot be written.
    """
    try:
        with atomic_write(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path) from error


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file atomically; characters that UTF-8 cannot encode, as in odd file names, become `?`.

    Raises:
        DataError: if it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def write_own(path: Path, text: str) -> None:
    """Write a text to a file with a name that only drethtr uses, as `write_text` does.

    Raises:
        DataError: if it cannot be written, or is a link: even within its folder, that could lead to a person's texts.
    """
    refuse_foreign(path)
    write_text(path, text)
