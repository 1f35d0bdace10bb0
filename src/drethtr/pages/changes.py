"""Detect changed files: by size and time, which is fast, and by content, which is certain."""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.pages.source import Original

CHUNK = 1 << 20


def files_of(original: Original) -> tuple[Path, ...]:
    """The scan of a page, and the file that describes it."""
    scan = original.source.path
    return (scan,) if original.description is None else (scan, original.description)


def state_of(files: Iterable[Path]) -> str:
    """Size and time of files; if these are unchanged, so is the content.

    Raises:
        DataError: naming a file that cannot be accessed.
    """
    try:
        found = [path.stat() for path in files]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", error.filename) from error
    return " ".join(f"{file.st_size}:{file.st_mtime_ns}" for file in found)


def digest_of(files: Iterable[Path]) -> bytes:
    """A digest of the contents of files, 16 bytes.

    Raises:
        DataError: naming a file that cannot be read.
    """
    digest = blake2b(digest_size=16)
    for path in files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from error
        digest.update(b"\0")
    return digest.digest()
