"""Locks between programs. The system releases them when the holder exits or is killed."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from drethtr.base.durable import make_folders
from drethtr.base.errors import DataError

FAR = 1 << 30
"""Offset of the byte locked on Windows: beyond the content, since nobody can read a locked byte."""

LONGEST_NOTE = 1000


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Lock a file or folder against other programs that claim it; `.NAME.lock` beside it names the holder.

    On a file system without locks, nothing is locked.

    Raises:
        DataError: if another program holds it, naming that program.
        OSError: if nothing can be written there.
    """
    path = path.resolve()
    made = not path.parent.exists()
    make_folders(path.parent)
    note = note_on(path)
    try:
        lock = open_locked(note)
    except OSError as error:
        if isinstance(error, PermissionError | FileNotFoundError):
            raise
        yield
        return
    if lock is None:
        raise DataError(f"being written by {holder(note)}; wait for it to end, or choose another output", path)
    with lock:
        lock.truncate(0)
        lock.write(about_this_program().encode("utf-8", "replace"))
        lock.flush()
        try:
            yield
        finally:
            if sys.platform != "win32":
                note.unlink(missing_ok=True)  # while still locked, so that it cannot belong to another program
                if made:
                    with suppress(OSError):
                        path.parent.rmdir()  # if nothing was written
    if sys.platform == "win32":
        with suppress(OSError):
            note.unlink()


def note_on(path: Path) -> Path:
    """The lock file of a file or folder."""
    return path.with_name(f".{path.name[:200]}.lock")


def remove_note(path: Path) -> None:
    """Remove the lock file that a killed program left; that of a running program stays."""
    with suppress(OSError, DataError):
        if note_on(path.resolve()).exists():
            with claimed(path):
                pass


def open_locked(path: Path) -> BinaryIO | None:
    """Open and lock a file, created if missing; None if another process has locked it. Closing the file unlocks it.

    Raises:
        OSError: if it cannot be opened, or the file system has no locks.
    """
    while True:
        file = path.open("a+b")
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


def holder(note: Path) -> str:
    """Who has locked a file, from the lock file."""
    with suppress(OSError), note.open("rb") as file:
        if text := file.read(LONGEST_NOTE).decode("utf-8", "replace").strip():
            return text
    return "another program"


def about_this_program() -> str:
    """How messages of other programs name this one."""
    since = datetime.now().astimezone().isoformat(" ", "minutes")
    return f"process {os.getpid()} on {platform.node()}, since {since}: {' '.join(sys.argv)}"[:LONGEST_NOTE]
