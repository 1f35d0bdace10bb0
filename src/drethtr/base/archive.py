"""Unpack untrusted ZIP files: into a folder of this process, in a child process with limits.

    folder = unpacked(Path("export.zip"))

Nothing is written beside the ZIP file; the folder is removed when this process ends.
"""

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PureWindowsPath
from shutil import copyfileobj, disk_usage
from stat import S_IFMT, S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from drethtr.base.errors import DataError, first_line
from drethtr.base.limited import Answer, limited

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

ENDING = ".zip"

MOST_FILES = 100_000
MOST_BYTES = 64 << 30
"""Bytes of all files together."""

MOST_BYTES_OF_FILE = 2 << 30

MOST_GROWTH = 100
"""How many times larger than the ZIP file its content may be; scans hardly shrink, and XML shrinks to a tenth."""

SMALL = 64 << 20
"""Bytes of content below which growth does not matter."""

SECONDS, BYTES_PER_SECOND = 60.0, 10e6
"""Processor time to unpack a ZIP file, and bytes of it for which there is another second."""

unpacked_from: dict[Path, Path] = {}
"""The folders of this process, each with the ZIP file that it comes from."""


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP file by its name; documents of Word are ZIP files, too, but not folders of scans."""
    return path.suffix.lower() == ENDING


def unpacked(path: Path) -> Path:
    """The folder with the files of a ZIP file, or the one folder that holds them all; unpacked once in a process.

    Raises:
        DataError: if it is missing, damaged, encrypted, too large, or has names that lead elsewhere.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return unpacked_once(path.absolute(), path, state.st_size, state.st_mtime_ns)


@cache
def unpacked_once(place: Path, name: Path, size: int, changed: int) -> Path:
    """What `unpacked` returns, for a file of this size, changed at this time."""
    from tempfile import TemporaryDirectory

    kept = TemporaryDirectory(prefix="drethtr-", ignore_cleanup_errors=True)
    folder = Path(kept.name).resolve() / name.stem
    try:
        folder.mkdir()
        limited(str(name), unpack, place, folder, str(name), seconds=SECONDS + size / BYTES_PER_SECOND)
    except BaseException:
        kept.cleanup()
        raise
    atexit.register(kept.cleanup)
    unpacked_from[folder] = name
    while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
        folder = inside[0]
    return folder


def archive_of(path: Path) -> Path | None:
    """The ZIP file that a file was unpacked from; None if it was not."""
    return next((unpacked_from[parent] for parent in path.parents if parent in unpacked_from), None)


def as_unpacked_beside(path: Path) -> Path:
    """Where a file would be if its ZIP file were unpacked beside itself; a file that comes from none stays."""
    for folder, name in unpacked_from.items():
        if path.is_relative_to(folder):
            return name.with_suffix("") / path.relative_to(folder)
    return path


def as_given(text: str) -> str:
    """A message with the names of ZIP files in place of the folders that they are unpacked to."""
    for folder, name in unpacked_from.items():
        text = text.replace(str(folder), str(name))
    return text


def unpack(path: Path, folder: Path, name: str) -> Answer:
    """Write the files of a ZIP file into a folder, without hidden ones; returns how many.

    Raises:
        DataError: as `unpacked` does.
    """
    from zipfile import ZipFile

    try:
        with refusing_damage("a ZIP file that can be unpacked", name), ZipFile(path) as archive:
            files = files_of(archive, path.stat().st_size, folder, name)
            for parts, entry in files.items():
                write(archive, entry, folder.joinpath(*parts))
    except OSError as error:
        raise DataError(f"cannot be unpacked into {folder}: {first_line(error)}", name) from error
    return len(files), b""


@contextmanager
def refusing_damage(what: str, name: str | Path) -> Iterator[None]:
    """Turn errors of `zipfile` and of the system into one that names the file.

    Raises:
        DataError: saying that it is not `what`.
    """
    import zlib
    from lzma import LZMAError
    from zipfile import BadZipFile

    try:
        yield
    except (BadZipFile, zlib.error, LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise DataError(f"not {what}: {first_line(error)}", name) from error


def files_of(archive: "ZipFile", size: int, folder: Path, name: str) -> dict[tuple[str, ...], "ZipInfo"]:
    """The files to unpack from a ZIP file of so many bytes, by the parts of their names.

    Raises:
        DataError: if they are too many or too large, or one of them cannot be written safely.
    """
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise DataError(f"has more than {MOST_FILES:,} files; split it", name)
    files: dict[tuple[str, ...], ZipInfo] = {}
    for entry in entries:
        parts = safe_parts(entry, name)
        if entry.is_dir() or any(part.startswith((".", "__MACOSX")) for part in parts):
            continue
        if parts in files:
            raise DataError(f"has two files named {entry.filename!r}; it is damaged", name)
        files[parts] = entry
    content = sum(entry.file_size for entry in files.values())
    largest = max(files.values(), key=lambda entry: entry.file_size, default=None)
    if largest is not None and largest.file_size > MOST_BYTES_OF_FILE:
        raise DataError(f"{largest.filename!r} in it is larger than {MOST_BYTES_OF_FILE >> 30} GB", name)
    if content > MOST_BYTES:
        raise DataError(f"its files are larger than {MOST_BYTES >> 30} GB in total; split it", name)
    if content > max(SMALL, MOST_GROWTH * size):
        raise DataError(
            f"its files are more than {MOST_GROWTH} times larger than itself, as a bomb's are; "
            "if you trust it, unpack it and give the folder",
            name,
        )
    if content > (free := disk_usage(folder).free):
        raise DataError(
            f"needs {content / 1e9:.1f} GB in {folder.parent.parent}, where {free / 1e9:.1f} GB are free; "
            "set TMPDIR to a folder with more space",
            name,
        )
    return files


def safe_parts(entry: "ZipInfo", name: str) -> tuple[str, ...]:
    """The parts of the name of a file.

    Raises:
        DataError: if it leads out of the folder or nowhere, or the file is a link, a device or encrypted.
    """
    mode = entry.external_attr >> 16
    if S_IFMT(mode) and not (S_ISREG(mode) or S_ISDIR(mode)):
        raise DataError(f"has a link or device, {entry.filename!r}; unpack it yourself and give the folder", name)
    if entry.flag_bits & 1:
        raise DataError("is encrypted; save it without a password", name)
    place = PureWindowsPath(entry.filename)  # with either kind of slash, as some programs write the wrong one
    if place.anchor or ".." in place.parts:
        raise DataError(f"has a file that is to be written elsewhere, {entry.filename!r}; it is not unpacked", name)
    if not place.parts and not entry.filename.endswith("/"):
        raise DataError(f"has a file without a name, {entry.filename!r}; it is damaged", name)
    return place.parts


def write(archive: "ZipFile", entry: "ZipInfo", place: Path) -> None:
    """Write a file with the time that it had, so that pages that were read of it are known again."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, place.open("xb") as file:
        copyfileobj(packed, file, 1 << 20)
    with suppress(ValueError, OverflowError):
        seconds = time.mktime((*entry.date_time, 0, 0, -1))
        os.utime(place, (seconds, seconds))
