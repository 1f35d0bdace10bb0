"""Files at URLs given by a user: volumes (METS and IIIF manifests), scans and PDFs."""

from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from drethtr.base import web
from drethtr.base.cache import ADDRESS, LONGEST_NAME, UNUSUAL, parts_of, place_of
from drethtr.base.files import is_there, write_bytes
from drethtr.documents.read import SPACE, first_bytes

SAYS_NOTHING = frozenset({"manifest", "mets", "iiif", "presentation", "api", "info", "default"})
"""Parts of addresses that do not distinguish the volumes of a library."""

KINDS = ((b"{", ".json"), (b"<", ".xml"), (b"%PDF", ".pdf"))
"""First bytes of files, with the extensions of their names."""


def file_at(address: str) -> Path:
    """Fetch the file at an address into the user's cache folder; an unchanged file is left as it is.

    Raises:
        DataError: if it cannot be fetched.
    """
    content = web.WEB.fetch([address])
    path = place_of(address, stem_of(address) + ending_of(address, content))
    if not (is_there(path) and first_bytes(path, len(content) + 1) == content):
        write_bytes(path.with_name(ADDRESS), address.encode())
        write_bytes(path, content)
    return path


def stem_of(address: str) -> str:
    """The name for results: the last part of an address that distinguishes the volume from others of its library."""
    parts = parts_of(unquote(address))
    names = [PurePosixPath(part).stem for part in parts.path.split("/") if part]
    telling = [name for name in names if name.lower() not in SAYS_NOTHING]
    if parts.query and names and names[-1].lower() in SAYS_NOTHING:
        telling.append(parts.query)
    return UNUSUAL.sub("_", telling[-1] if telling else parts.hostname or "").strip("._")[-LONGEST_NAME:] or "volume"


def ending_of(address: str, content: bytes) -> str:
    """The extension of a file: by its content, else as in its address."""
    begin = content[:64].lstrip(SPACE + b"\xef\xbb\xbf")
    kind = next((ending for head, ending in KINDS if begin.startswith(head)), None)
    return kind or PurePosixPath(parts_of(address).path).suffix or ".jpg"
