"""Take turns with other programs that write the same files.

`claimed` is for jobs of hours, and refuses at once. `change_bytes` is for short changes, as when a person corrects a
page, and waits: each change sees what any program wrote before.
"""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from errno import EINVAL, ELOOP, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import BinaryIO

from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError
from drethtr.base.files import MAX_NAME_BYTES, atomic_write, make_folders, open_locked
from drethtr.base.links import followed, open_ordinary

MAX_NOTE = 1000  # bytes of a lock file to read and show in an error; anybody may have written it

TURN_SECONDS = 10.0
"""How long to wait for a program that is changing the same file; a change takes a fraction of a second.

Long enough for many windows that save at once; short enough to report a hung program before a person gives up.
"""

TRIES = 100
"""How often a change begins again because another program has written the file in the meantime.

Only programs that do not take the lock, such as a sync client, cause this; one that never stops writing must not keep
us busy forever.
"""

NO_LOCKS = frozenset({EINVAL, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP})
"""Errors of drives without locks."""


class FileChangedError(Exception):
    """Another program has written a file since it was read."""


@contextmanager
def claimed(path: Path, *, replace: bool = True) -> Iterator[None]:
    """Lock a file against other programs that claim it; `.NAME.lock` beside it names the holder.

    On a file system without locks, nothing is locked; nor if somebody has put a link in place of the lock file.

    Args:
        replace: Whether the file may exist already; checked again under the lock, since another program may have
            written it.

    Raises:
        DataError: if another program holds it, naming that program; if it exists and may not be replaced; or if it is a
            link out of its folder.
        OSError: if nothing can be written there.
    """
    try:
        path = followed(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path) from error
    made = not path.parent.exists()
    make_folders(path.parent)
    note = note_on(path)
    try:
        lock = open_locked(note)
    except OSError as error:
        go_on_unlocked(note, error)
        refuse_finished(path, replace=replace)
        yield
        return
    if lock is None:
        raise DataError(f"being written by {holder(note)}; wait for it to end, or choose another output", path)
    try:
        with held(lock, note):
            refuse_finished(path, replace=replace)
            lock.truncate(0)
            lock.write(about_this_program().encode("utf-8", "replace"))
            lock.flush()
            yield
    finally:
        if made and sys.platform != "win32":
            with suppress(OSError):
                path.parent.rmdir()  # if nothing was written


def go_on_unlocked(note: Path, error: OSError) -> None:
    """Go on without a lock on a drive that has none: remove the lock file, but leave a link put in its place.

    Raises:
        OSError: the error, if it is another one.
    """
    if error.errno in NO_LOCKS:
        note.unlink(missing_ok=True)  # nobody holds it
    elif error.errno != ELOOP:
        raise error


def refuse_finished(path: Path, *, replace: bool) -> None:
    """Refuse a result that exists and may not be replaced.

    Raises:
        DataError: saying so.
    """
    if not replace and path.exists():
        raise DataError("exists; choose another output or use --force", path)


def note_on(path: Path, ending: str = ".lock") -> Path:
    """The lock file of a file."""
    name = path.name
    while len(os.fsencode(name)) > MAX_NAME_BYTES:
        name = name[:-1]
    return path.with_name(f".{name}{ending}")


def remove_note(path: Path) -> None:
    """Remove the lock file that a killed program left; that of a running program stays."""
    with suppress(OSError, DataError):
        if note_on(followed(path)).exists():
            with claimed(path):
                pass


def refuse_no_locks(folder: Path) -> None:
    """Refuse a folder on a drive without locks, such as some network drives, as SQLite needs them.

    SQLite itself cannot tell: it takes the failure to lock for a lock held by another process.

    Raises:
        DataError: naming the folder and the cure.
    """
    if sys.platform == "win32":
        return
    import fcntl

    try:
        with TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in NO_LOCKS:
            raise DataError("its drive has no file locks; use a copy on a local drive", folder) from error


def holder(note: Path) -> str:
    """The program that has locked a file, from the lock file."""
    with suppress(OSError), note.open("rb") as file:
        if text := file.read(MAX_NOTE).decode("utf-8", "replace").strip():
            return text
    return "another program"


def about_this_program() -> str:
    """A description of this process for its lock files, which other programs show in messages."""
    since = datetime.now().astimezone().isoformat(" ", "minutes")
    command = without_credentials(" ".join(sys.argv))
    return f"process {os.getpid()} on {platform.node()}, since {since}: {command}"[:MAX_NOTE]


@contextmanager
def turn_to_change(path: Path) -> Iterator[None]:
    """Wait until no other drethtr process is changing a file, then lock `.NAME.turn` beside it for the block.

    On a file system without locks, nobody waits; nor if somebody has put a link in place of the lock file.

    Raises:
        DataError: if another program does not end its turn.
        OSError: if nothing can be written there.
    """
    path = followed(path)
    note = note_on(path, ".turn")
    end = monotonic() + TURN_SECONDS
    try:
        # Polled, since no system can wait for a lock with a timeout.
        while (lock := open_locked(note)) is None:
            if monotonic() > end:
                raise DataError(
                    "another program has been changing it for too long; stop that program, or try again later", path
                )
            sleep(0.01)
    except OSError as error:
        go_on_unlocked(note, error)
        yield
        return
    with held(lock, note):
        yield


@contextmanager
def held(lock: BinaryIO, note: Path) -> Iterator[None]:
    """Close and remove a locked file at the end."""
    with lock:
        try:
            yield
        finally:
            if sys.platform != "win32":
                # While still locked: a moment later it could be the lock of another program.
                note.unlink(missing_ok=True)
    if sys.platform == "win32":  # which removes no open file
        with suppress(OSError):
            note.unlink()


def change_bytes(path: Path, change: Callable[[bytes | None], bytes | None], most: int) -> os.stat_result | None:
    """Change a file that other programs may write at any time.

    If another program writes it before it is replaced, the change is made again on that content. Returns the `stat` of
    the written file; None if nothing was written, or another program has written it since.

    Args:
        change: Takes the content, or None if there is no file, and returns the new content; the same content, or None,
            changes nothing. It may be called several times.
        most: Maximum bytes of a content; one more byte is read, to notice longer ones.

    Raises:
        DataError: if it cannot be written, and was not changed.
        NotFlushedError: if it was changed, but a loss of power might undo that.
    """

    def content() -> bytes | None:
        try:
            with open_ordinary(path) as file:
                return file.read(most + 1)
        except FileNotFoundError:
            return None

    written: os.stat_result | None = None

    def replaced() -> bool:
        nonlocal written
        before = content()
        # `change` may run again: it must depend on nothing but what it is given.
        after = change(before)
        if after is None or (after == before and len(after) <= most):
            return True

        def check() -> None:
            nonlocal written
            # Opened once more: on a network drive, an open file does not show what others write.
            if content() != before:
                raise FileChangedError
            written = unfinished.stat()

        with suppress(FileChangedError):
            with atomic_write(path, check) as unfinished:
                unfinished.write_bytes(after)
            return True
        return False

    try:
        with turn_to_change(path):
            if not any(replaced() for _ in range(TRIES)):
                raise DataError("other programs keep changing it; stop them, or try again later", path)
            return None if written is None else same_file(written, path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}; nothing was changed", path) from error


def same_file(written: os.stat_result, path: Path) -> os.stat_result | None:
    """The `stat` of a file that was written and moved to `path`; None if another program has written there since."""
    with suppress(FileNotFoundError):
        now = path.stat()
        if (now.st_ino, now.st_size, now.st_mtime_ns) == (written.st_ino, written.st_size, written.st_mtime_ns):
            return now
    return None
