"""The user's cache folder, and the files in it that come from the web."""

import os
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from drethtr.base.outputs import is_there

ADDRESS = ".address"
"""The name of the note beside a file that says where it comes from; no fetched file begins with a point."""

UNUSUAL, LONGEST_NAME = re.compile(r"[^\w.-]+"), 100
"""Characters that names of files should not have, and how long they may be."""


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/drethtr`, else `~/.cache/drethtr`; it may not exist yet, and may be removed at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drethtr"


def is_address(name: str) -> bool:
    """Whether a name is the address of a file on the web."""
    return name.startswith(("https://", "http://"))


def parts_of(address: str) -> SplitResult:
    """The parts of an address, all empty if it makes no sense, as `http://[`."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def joined(address: str, place: str) -> str:
    """The address of a place named in the file at another address; one that makes no sense stays as it is."""
    try:
        return urljoin(address, place)
    except ValueError:
        return place


def name_of(address: str) -> str:
    """A name for the file of an address: the last part of its path, without characters that file names may not have."""
    parts = parts_of(unquote(address))
    return UNUSUAL.sub("_", parts.path.rstrip("/").rpartition("/")[2]).strip("._")[-LONGEST_NAME:] or "image"


def place_of(address: str, name: str) -> Path:
    """Where the file of an address is kept in the user's cache folder, under a name that says what it is."""
    digest = blake2b(address.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return cache_folder() / "web" / digest / name


def address_of(path: Path) -> str | None:
    """The address that a file of the user's cache folder comes from; None for other files."""
    note = path.with_name(ADDRESS)
    if path.parent.parent != cache_folder() / "web" or not is_there(note):
        return None
    return note.read_text(encoding="utf-8")
