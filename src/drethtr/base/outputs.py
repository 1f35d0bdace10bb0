"""Write result files, atomically, and create their folders."""

from os import W_OK, X_OK, access
from pathlib import Path

from drethtr.base.atomic import atomic_write, check_replaceable
from drethtr.base.durable import make_folders
from drethtr.base.errors import DataError


def is_there(path: Path) -> bool:
    """Whether a path exists. Inaccessible paths count as missing; writing to them fails later."""
    try:
        return path.exists()
    except OSError:
        return False


def refuse_file(folder: Path) -> None:
    """Refuse a file where a folder for results is expected."""
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
        raise DataError(f"the folder cannot be created: {error.strerror}", folder) from error
    if not access(folder, W_OK | X_OK):
        raise DataError("the folder is not writable; change its permissions or choose another folder", folder)


def refuse_protected(path: Path) -> None:
    """Refuse a file that may not be replaced, before any work is done.

    Raises:
        DataError: if it is write-protected or has hard links.
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
