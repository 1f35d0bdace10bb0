"""Links in folders that somebody sent: nothing outside such a folder is written, removed or created through them.

In an archive, a clone or a shared folder, any name may be a link to any file of this user. Names that only drethtr
gives, such as locks and its own folders, are never links. Names of results may be, if they stay in their folder. A
path given in a file may lead to the folder of that file, or to the one above.
"""

import os
import sys
from contextlib import suppress
from errno import EISDIR, ELOOP, ESPIPE
from pathlib import Path
from shutil import rmtree
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

from drethtr.base.errors import DataError

MARK = ".made-by-drethtr"
"""An empty file in folders that we may remove with everything in them."""


def open_own(path: Path) -> BinaryIO:
    """Open a file with a name that only drethtr uses, for reading and appending; it is created if missing.

    Raises:
        OSError: if it is a link or not an ordinary file, or cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags, 0o666), "a+b")
    found = os.fstat(file.fileno())
    if not S_ISREG(found.st_mode) or found.st_nlink > 1:
        file.close()
        raise OSError(ELOOP, "it is a link, or not an ordinary file", str(path))
    return file


def open_ordinary(path: Path) -> BinaryIO:
    """Open a file for reading; refuse anything else, since a pipe, which may have any name, would never answer.

    Raises:
        OSError: if it is not an ordinary file, or cannot be opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    raise OSError(ESPIPE, "it is a pipe or a device; save its content to a file", str(path))


def is_foreign(file: Path) -> bool:
    """Whether a file is a link, or has other names too, so that writing it would change something elsewhere."""
    found = file.lstat()
    return not S_ISREG(found.st_mode) or found.st_nlink > 1


def refuse_foreign(file: Path) -> None:
    """Refuse a file with a name that only drethtr uses, if writing it would change another file, or reading it block.

    Raises:
        DataError: if it is a link, has other names, or is not an ordinary file.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        if is_foreign(file):
            raise DataError("is a link, or not an ordinary file; remove it: it holds no texts", file)


def text_of_own(path: Path, most: int) -> str:
    """The first `most` characters of a text file of our own; "" if it is missing, a link, or not text."""
    with suppress(OSError, ValueError):
        if not is_foreign(path):
            with path.open(encoding="utf-8") as file:
                return file.read(most)
    return ""


def is_own(folder: Path) -> bool:
    """Whether this is a folder of this user, not a link: in a shared folder, others could plant anything."""
    found = folder.lstat()
    return S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())


def refuse_link(folder: Path) -> None:
    """Refuse a link where only a folder of our own can be.

    Raises:
        DataError: if it is a link.
    """
    if folder.is_symlink():
        raise DataError("is a link; remove it: it holds no texts", folder)


def refuse_outside(folder: Path, output: Path) -> None:
    """Refuse a folder below that of a user's results if links lead out of it; `output` itself may be a link.

    Raises:
        DataError: if so.
    """
    place = folder.resolve()
    if not place.is_relative_to(output.resolve()):
        raise DataError(f"a link leads out of {output}, to {place}; remove it, or write to another folder", folder)


def followed(path: Path) -> Path:
    """The file that is written for a path: a link leads to a place in its own folder.

    Raises:
        OSError: if it leads elsewhere, or to itself.
    """
    try:
        target = path.resolve()
    except RuntimeError as error:  # Python before 3.13, for a link that leads to itself
        raise OSError(ELOOP, os.strerror(ELOOP), str(path)) from error
    if path.is_symlink() and not target.is_relative_to(path.parent.resolve()):
        raise OSError(
            ELOOP, f"it is a link out of its folder, to {target}; name that file, or remove the link", str(path)
        )
    return target


def make_marked(folder: Path) -> None:
    """Create a folder that `remove_marked` may remove; an earlier marked one of this name is removed with its content.

    Raises:
        DataError: if its parent is a link.
        OSError: if it cannot be created.
    """
    refuse_link(folder.parent)
    remove_marked(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def remove_marked(folder: Path) -> None:
    """Remove a folder and everything in it if it has our mark; leave any other."""
    with suppress(OSError):
        if is_own(folder.parent) and is_own(folder) and not (folder / MARK).is_symlink() and (folder / MARK).exists():
            rmtree(folder, ignore_errors=True)


def is_near(place: Path, folder: Path) -> bool:
    """Whether a place that a file in `folder` names is in it, or in the folder above, as OCR-D names files."""
    return Path(os.path.abspath(place)).is_relative_to(Path(os.path.abspath(folder)).parent)  # noqa: PTH100 - links stay
