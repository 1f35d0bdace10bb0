"""Unpack untrusted ZIP files into a temporary folder, in a child process with limits.

    folder = unpack_once(Path("export.zip"))

Nothing is written beside the ZIP file; the folder is removed when this process exits.
"""

import atexit
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PureWindowsPath
from shutil import copyfileobj, disk_usage
from stat import S_IFMT, S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from drethtr.base.errors import DataError, first_line
from drethtr.base.sandbox import Answer, sandboxed

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

ENDING = ".zip"

MAX_FILES = 100_000  # the whole directory is held in memory before anything is unpacked
MAX_BYTES = 64 << 30
"""Total size of all files: enough for a large export, too little to fill a server's disk by mistake."""

MAX_FILE_BYTES = 2 << 30  # larger than any scan we decode: `images/decode.py` stops at 89 million pixels

MAX_GROWTH = 100
"""Highest compression ratio accepted: scans hardly compress, and XML to about a tenth."""

SMALL = 64 << 20
"""Content below this size may have any compression ratio."""

SECONDS, BYTES_PER_SECOND = 60.0, 10e6
"""Processor time allowed for unpacking: a base, plus one second for this many bytes of the ZIP file."""

NOT_EVERYWHERE = re.compile(
    r'[\\:*?"<>|\0-\x1f\x7f-\x9f]|[. ](?=/|$)|(?<![^/])(?=(?:aux|con|nul|prn|com\d|lpt\d)(?:[./]|$))', re.IGNORECASE
)
"""What names cannot have everywhere: on Windows some characters, a dot or space at the end, and names of devices."""

unpacked_from: dict[Path, Path] = {}
"""The temporary folders of this process, each with its ZIP file."""


def portable(path: str) -> str:
    """A path that means the same on every system: on Windows, a backslash in a name could lead out of its folder."""
    return NOT_EVERYWHERE.sub("_", path)


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP file by its name; Word documents are ZIP files too, but hold no scans."""
    return path.suffix.lower() == ENDING


def unpack_once(path: Path) -> Path:
    """Unpack a ZIP file, once per process, and return the folder; of nested single folders, the innermost.

    Raises:
        DataError: if it is missing, damaged, encrypted, too large, or contains unsafe paths.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return unpack_cached(path.absolute(), path, state.st_size, state.st_mtime_ns)


@cache
def unpack_cached(place: Path, name: Path, size: int, changed: int) -> Path:
    """`unpack_once` for a file with this size and modification time."""
    from tempfile import TemporaryDirectory

    try:
        kept = TemporaryDirectory(prefix="drethtr-", ignore_cleanup_errors=True)
        try:
            folder = Path(kept.name).resolve() / (name.stem if name.stem.strip(".") else "files")
            folder.mkdir()
            sandboxed(str(name), unpack, place, folder, str(name), seconds=SECONDS + size / BYTES_PER_SECOND)
        except BaseException:
            kept.cleanup()
            raise
    except OSError as error:
        raise DataError(f"cannot be unpacked into a temporary folder: {first_line(error)}", name) from error
    atexit.register(kept.cleanup)
    unpacked_from[folder] = name
    # Many programs put everything into one folder, named like the file; pages are named after what is inside it.
    while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
        folder = inside[0]
    return folder


def archive_of(path: Path) -> Path | None:
    """The ZIP file that a file was unpacked from, or None."""
    return next((unpacked_from[parent] for parent in path.parents if parent in unpacked_from), None)


def as_unpacked_beside(path: Path) -> Path:
    """Where a file would be if its ZIP file had been unpacked in place; other paths are returned unchanged."""
    for folder, name in unpacked_from.items():
        if path.is_relative_to(folder):
            return name.with_suffix("") / path.relative_to(folder)
    return path


def as_given(text: str) -> str:
    """Replace temporary folders in a message by the names of their ZIP files."""
    for folder, name in unpacked_from.items():
        text = text.replace(str(folder), str(name))
    return text


def unpack(path: Path, folder: Path, name: str) -> Answer:
    """Unpack all but hidden files into a folder; returns their number.

    Raises:
        DataError: as for `unpack_once`.
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
    """Turn errors of `zipfile` and its decompressors into one that names the file.

    Raises:
        DataError: saying that the file is not `what`.
    """
    import zlib
    from lzma import LZMAError
    from zipfile import BadZipFile

    try:
        yield
    except NotImplementedError as error:  # Zstandard needs Python 3.14
        cure = "save it with the usual compression, deflate, or unpack it yourself"
        raise DataError(f"this Python cannot unpack it: {first_line(error)}; {cure}", name) from error
    except (BadZipFile, zlib.error, LZMAError, EOFError, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the one for bzip2 has no name
            raise
        raise DataError(f"not {what}: {first_line(error)}", name) from error


def files_of(archive: "ZipFile", size: int, folder: Path, name: str) -> dict[tuple[str, ...], "ZipInfo"]:
    """The entries to unpack, by path components; `size` is that of the ZIP file.

    Raises:
        DataError: if they are too many or too large, or one of them is unsafe.
    """
    entries = archive.infolist()
    if len(entries) > MAX_FILES:
        raise DataError(f"has more than {MAX_FILES:,} files; split it", name)
    files: dict[tuple[str, ...], ZipInfo] = {}
    for entry in entries:
        parts = safe_parts(entry, name)
        if entry.is_dir() or any(part.startswith((".", "__MACOSX")) for part in parts):
            continue
        if parts in files:
            raise DataError(f"contains two files named {entry.filename!r}; it is damaged", name)
        files[parts] = entry
    # The sizes are those that the archive claims. `zipfile` stops a file that turns out to be longer than it says.
    content = sum(entry.file_size for entry in files.values())
    largest = max(files.values(), key=lambda entry: entry.file_size, default=None)
    if largest is not None and largest.file_size > MAX_FILE_BYTES:
        raise DataError(f"{largest.filename!r} in it is larger than {MAX_FILE_BYTES >> 30} GB", name)
    if content > MAX_BYTES:
        raise DataError(f"its files are larger than {MAX_BYTES >> 30} GB in total; split it", name)
    if content > max(SMALL, MAX_GROWTH * size):
        raise DataError(
            f"its files are more than {MAX_GROWTH} times larger than the ZIP file, like those of a ZIP bomb; "
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
    """The path components of an entry.

    Raises:
        DataError: if the path is absolute, empty or has `..`, or the entry is a link, a device or encrypted.
    """
    # The high half is the mode on Unix; programs of other systems leave it 0.
    mode = entry.external_attr >> 16
    if S_IFMT(mode) and not (S_ISREG(mode) or S_ISDIR(mode)):
        raise DataError(f"contains a link or device, {entry.filename!r}; unpack it yourself and give the folder", name)
    if entry.flag_bits & 1:
        raise DataError("is encrypted; save it without a password", name)
    place = PureWindowsPath(entry.filename)  # splits at both kinds of slash, since some programs write backslashes
    if place.anchor or ".." in place.parts:
        raise DataError(f"contains an unsafe path, {entry.filename!r}; it was not unpacked", name)
    if not place.parts and not entry.filename.endswith("/"):
        raise DataError(f"contains a file without a name, {entry.filename!r}; it is damaged", name)
    return place.parts if sys.platform != "win32" else tuple(map(portable, place.parts))


def write(archive: "ZipFile", entry: "ZipInfo", place: Path) -> None:
    """Unpack an entry with its modification time, by which finished pages are recognized in later runs."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, place.open("xb") as file:
        copyfileobj(packed, file, 1 << 20)
    with suppress(ValueError, OverflowError):
        seconds = time.mktime((*entry.date_time, 0, 0, -1))
        os.utime(place, (seconds, seconds))
