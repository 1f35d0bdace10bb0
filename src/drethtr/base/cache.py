"""The user's cache folder, and downloaded files in it."""

import os
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote

from drethtr.base.files import MAX_NAME_BYTES, is_there
from drethtr.base.urls import parts_of

ADDRESS = ".address"
"""Name of the file that records a download's URL, beside it; no downloaded file begins with a dot."""

UNUSUAL, MAX_LETTERS = re.compile(r"[^\w.-]+"), 100
"""Characters to replace in file names, and the maximum length of a name."""


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/drethtr`, else `~/.cache/drethtr`; it may not exist, and may be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drethtr"


def name_of(address: str) -> str:
    """A file name for a URL, from the last part of its path."""
    return as_name(parts_of(unquote(address)).path.rstrip("/").rpartition("/")[2]) or "image"


def as_name(text: str) -> str:
    """A text as a file name, maybe empty: unusual characters are replaced, and long names keep only their end."""
    name = UNUSUAL.sub("_", text).strip("._")[-MAX_LETTERS:]
    return name.encode()[-MAX_NAME_BYTES:].decode(errors="ignore").lstrip("._")


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
