"""URLs: their parts, and files opened by path or by URL of any kind that fsspec supports (s3://, gs://, hf://, https://)."""

import os.path
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from drethtr.base.errors import DataError, DrethtrError, MissingExtraError, first_line
from drethtr.base.files import leads_nowhere
from drethtr.base.links import open_ordinary

WEB_SCHEMES = ("http://", "https://")
DRIVE = re.compile(r"/[A-Za-z]:")
"""The path of `file:///C:/scans`, which is `C:/scans` on Windows."""

NOT_THERE = (404, 410)
"""Status codes of a web server for a missing page."""

PIECE = 1 << 20
"""Bytes of a file to read at a time."""


class Location(NamedTuple):
    """A file system of fsspec, and a path in it."""

    system: Any
    path: str


def is_url(name: str) -> bool:
    """Whether a name is a URL rather than a path."""
    return "://" in name


def is_address(name: str) -> bool:
    """Whether a name is an HTTP or HTTPS URL, in any case and with spaces around it, as copied from a browser."""
    return name.strip().lower().startswith(WEB_SCHEMES)


def as_address(name: str) -> str:
    """An HTTP address as it is requested: without surrounding spaces, with a lowercase scheme."""
    scheme, mark, rest = name.strip().partition("://")
    return scheme.lower() + mark + rest


def parts_of(address: str) -> SplitResult:
    """The components of a URL, all empty if it is malformed, such as `http://[`."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def joined(address: str, place: str) -> str:
    """Resolve a link against the URL of the file it is in; a malformed link is returned unchanged."""
    try:
        return urljoin(address, place)
    except ValueError:
        return place


def local_path(name: str) -> Path | None:
    """The path of a file on this machine; None for a URL of another kind than file://."""
    plain = name.removeprefix("file://")
    if is_url(plain):
        return None
    # Like fsspec, which does not decode %20 in such URLs: the path checked here must be the one opened there.
    return Path(plain[1:] if sys.platform == "win32" and DRIVE.match(plain) else plain)


def identity(name: str) -> str:
    """A unique name of a file: a URL unchanged, a path made absolute.

    Links are not followed: stores that deduplicate files give them several names, and each name counts.
    """
    return name if is_url(name) else os.path.abspath(name)  # noqa: PTH100 - Path.resolve is a hundred times slower


def locate(name: str) -> Location:
    """The file system of a URL or path.

    Raises:
        DataError: if the kind of URL is unknown, needs a package that is not installed, or is in an archive that cannot
            be opened.
        MissingExtraError: without fsspec.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError("fsspec", "batch") from error
    try:
        return Location(*url_to_fs(name))
    except ImportError as error:
        raise DataError(f"the package for this kind of URL is not installed: {error}", name) from error
    except ValueError as error:
        raise DataError(str(error), name) from error
    except Exception as error:  # an archive in the URL is opened here, and each kind has its own errors
        raise DataError(f"cannot be opened: {first_line(error)}", name) from error


@contextmanager
def reaching(name: str) -> Iterator[None]:
    """Convert errors of a URL to `OSError`; to `FileNotFoundError` only if the server says that there is no such file.

    fsspec reports every web page that it cannot fetch as missing. Errors of this package are not converted.
    """
    try:
        yield
    except FileNotFoundError as error:
        if (
            name.startswith(WEB_SCHEMES)
            and error.__cause__
            and getattr(error.__cause__, "status", None) not in NOT_THERE
        ):
            raise OSError(str(error.__cause__)) from error
        raise
    except (DrethtrError, OSError):
        raise
    except Exception as error:
        if not is_url(name):
            raise
        raise OSError(f"{type(error).__name__}: {error}") from error


@contextmanager
def open_file(name: str) -> Iterator[IO[bytes]]:
    """A file, open for reading.

    Raises:
        OSError: if it cannot be opened.
        DataError: as `locate`.
    """
    if not is_url(name):
        with open_ordinary(Path(name)) as file:
            yield file
        return
    system, path = locate(name)  # kept alive: an archive is closed when nothing refers to its file system
    with system.open(path, "rb") as file:
        yield file


def digest_of(files: Iterable[str | Path]) -> str:
    """Digest of the contents of some files in order, whatever their names.

    Raises:
        DataError: if one cannot be read.
    """
    digest = blake2b(digest_size=8)
    for file in files:
        try:
            with open_file(str(file)) as stream:
                while piece := stream.read(PIECE):
                    digest.update(piece)
        except OSError as error:
            raise DataError(f"cannot be read: {first_line(error)}", file) from error
    return digest.hexdigest()


def out_of_archive(name: str) -> tuple[str, str]:
    """Split a URL into the place in its archive and the rest: `zip://1.png`, `::scans.zip`; else the name and ""."""
    place, mark, archive = name.partition("::")
    return (place, mark + archive) if is_url(place) else (name, "")


def beside(file: str, name: str) -> str:
    """Resolve `name` in a file: URLs and absolute paths stay, other names are relative to the file's folder."""
    if is_url(name) or Path(name).is_absolute():
        return name
    if not is_url(file):
        return str(Path(file).parent / name)
    place, archive = out_of_archive(file)
    folder = place.rpartition("/")[0]
    return f"{folder}/{name}{archive}"


def find_files(name: str) -> list[str]:
    """The files at a path, URL or pattern: the file, all files below a folder, or all matches.

    Sorted, as paths or URLs like the name itself. Hidden files are skipped, unless the name spells them out.

    Raises:
        DataError: if there are none, the name is empty, or as `locate`.
    """
    if not name.strip():  # such as an unset shell variable; as a path, "" would be the current folder
        raise DataError("the name of an input is empty; give a file, or . for this folder")
    found = remote_files(name) if is_url(name) else local_files(name)
    if not found:
        empty = "no files in this folder" if Path(name).is_dir() else "no such file or folder"
        raise DataError(f"{'matches no file' if has_magic(name) else empty}", name)
    return sorted(found)


def local_files(name: str) -> list[str]:
    """The files at a path or pattern, unsorted; in folders and patterns also links that lead nowhere."""
    path = Path(name)
    if path.is_dir():
        below = (file for file in path.rglob("*") if file.is_file() or leads_nowhere(file))
        return [str(file) for file in below if is_visible(file.relative_to(path).parts)]
    if path.is_file() or not has_magic(name):
        return [name] if path.is_file() else []
    matches = glob(name, recursive=True)  # noqa: PTH207 - patterns may be absolute
    return [match for match in matches if Path(match).is_file() or leads_nowhere(Path(match))]


def remote_files(name: str) -> list[str]:
    """The files at a URL or pattern of URLs, unsorted."""
    system, path = locate(name)
    _, around = out_of_archive(name)

    def named(found: str) -> str:
        return f"{system.unstrip_protocol(found)}{around}"

    try:
        with reaching(name):
            # A file may have brackets in its name. For web pages, whose addresses have `?`, fsspec handles it itself.
            if has_magic(path) and (name.startswith(WEB_SCHEMES) or not system.exists(path)):
                matches = (match for match in system.glob(path) if "/." in path or is_visible(match.split("/")))
                return [named(match) for match in matches if system.isfile(match)]
            # For a file, `find` returns the file itself; for a web page, nothing.
            found = [file for file in system.find(path) if is_visible(file.removeprefix(path).split("/"))]
            return list(map(named, found)) or [name] * system.isfile(path)
    except OSError as error:
        raise DataError(f"cannot be listed: {first_line(error)}", name) from error


def is_visible(parts: Iterable[str]) -> bool:
    """Whether no part of a path is hidden, as are the notes that macOS leaves beside files (`._scan.png`)."""
    return not any(part.startswith(".") for part in parts)
