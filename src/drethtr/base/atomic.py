"""Atomic files: complete or absent, even if the program is killed or the machine loses power.

A file is written in a hidden, locked folder beside its destination, `.0123….unfinished`, and then moved. Folders left
behind by killed programs are recognized by their missing lock; the next program that writes there removes them.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EMLINK
from functools import cache
from pathlib import Path
from shutil import rmtree
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import BinaryIO
from uuid import uuid4

from drethtr.base.durable import flush, make_folders
from drethtr.base.lock import open_locked

UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.unfinished")
"""Names of the folders of incomplete files, and of incomplete files on remote storage."""

LOCK, FILE = "lock", "file"
"""The files in such a folder."""

WRITABLE, PRIVATE = 0o222, 0o700


def unfinished_name() -> str:
    """A unique temporary name, since another process may be writing the same file."""
    return f".{uuid4().hex}.unfinished"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` at the end of the block, or is removed after an error.

    A missing folder is created. At the end of the block the file is flushed to disk and survives a loss of power. A
    replaced file keeps its owner and mode; a new file gets the default mode, even if a library restricts it. A symbolic
    link is followed.

    Raises:
        OSError: if it cannot be written, is write-protected, or has hard links.
    """
    path = path.resolve()
    check_replaceable(path)
    make_folders(path.parent)
    tidied(path.parent)
    with own_folder(path.parent) as folder:
        unfinished = folder / FILE
        unfinished.touch()
        before = (path if path.exists() else unfinished).stat()
        yield unfinished
        unfinished.chmod(S_IMODE(before.st_mode))
        keep_owner(unfinished, before)
        flush(unfinished)
        unfinished.replace(path)
        if sys.platform != "win32":  # where folders cannot be opened
            flush(path.parent)


def check_replaceable(path: Path) -> None:
    """Refuse to replace a write-protected file, or one with hard links, which would keep the old content.

    Raises:
        PermissionError: if it is write-protected, even if this user could replace it.
        OSError: if it has hard links.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    if not S_ISREG(found.st_mode):
        return
    if not found.st_mode & WRITABLE or not os.access(path, os.W_OK):
        raise PermissionError(EACCES, "it is write-protected", str(path))
    if found.st_nlink > 1:
        others = f"it has {found.st_nlink} names (hard links), and the others would keep the old content"
        raise OSError(EMLINK, f"{others}; copy it to a file of its own", str(path))


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Create a hidden folder, private and locked, that is removed at the end."""
    lock: BinaryIO | None = None
    while lock is None:  # before it is locked, another program may remove it as abandoned
        folder = parent / unfinished_name()
        folder.mkdir(PRIVATE)
        try:
            lock = open_locked(folder / LOCK)
        except FileNotFoundError:
            continue
        except OSError:
            break  # no locks here, so abandoned folders cannot be recognized
    try:
        yield folder
    finally:
        if lock is not None and sys.platform == "win32":
            lock.close()
        rmtree(folder, ignore_errors=True)
        if lock is not None:
            lock.close()


def remove_unfinished(parent: Path) -> None:
    """Remove files that killed programs of this user left in a folder."""
    for folder in parent.glob(".*.unfinished"):
        with suppress(OSError):
            if not (UNFINISHED.fullmatch(folder.name) and is_own(folder)):
                continue
            lock = open_locked(folder / LOCK)
            if lock is None:
                continue
            if sys.platform == "win32":
                lock.close()
            rmtree(folder, ignore_errors=True)
            lock.close()


def is_own(folder: Path) -> bool:
    """Whether this is a folder of this user, not a link: in a shared folder, others could plant anything."""
    found = folder.lstat()
    return S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())


tidied = cache(remove_unfinished)
"""Remove unfinished files, once per folder."""


def keep_owner(path: Path, owner: os.stat_result) -> None:
    """Give a file the owner and group of another, if permitted."""
    own = path.stat()
    if sys.platform != "win32" and (own.st_uid, own.st_gid) != (owner.st_uid, owner.st_gid):
        with suppress(PermissionError):
            os.chown(path, owner.st_uid, owner.st_gid)
