"""The user's cache folder, and downloaded files in it."""

import os
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from drethtr.base.files import is_there

ADDRESS = ".address"
"""Name of the file that records a download's URL, beside it; no downloaded file begins with a dot."""

UNUSUAL, MAX_NAME = re.compile(r"[^\w.-]+"), 100
"""Characters to replace in file names, and the longest name."""


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/drethtr`, else `~/.cache/drethtr`; it may not exist, and may be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drethtr"


def is_address(name: str) -> bool:
    """Whether a name is an HTTP or HTTPS URL, in any case and with spaces around it, as copied from a browser."""
    return name.strip().lower().startswith(("https://", "http://"))


def as_address(name: str) -> str:
    """A name that is an address as it is asked for: without spaces around it, its scheme in small letters."""
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


def name_of(address: str) -> str:
    """A file name for a URL: the last part of its path, with unusual characters replaced."""
    parts = parts_of(unquote(address))
    return UNUSUAL.sub("_", parts.path.rstrip("/").rpartition("/")[2]).strip("._")[-MAX_NAME:] or "image"


def place_of(address: str, name: str) -> Path:
    """Where the file of a URL is cached, under a given name."""
    digest = blake2b(address.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return cache_folder() / "web" / digest / name


def address_of(path: Path) -> str | None:
    """The URL that a cached file was downloaded from; None for other files."""
    note = path.with_name(ADDRESS)
    if path.parent.parent != cache_folder() / "web" or not is_there(note):
        return None
    return note.read_text(encoding="utf-8")
