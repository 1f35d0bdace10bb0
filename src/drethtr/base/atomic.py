"""Atomic files: complete or absent, whenever the writing program is stopped."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from uuid import uuid4

UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.unfinished")
"""The pattern of temporary names of incomplete files."""


def unfinished_name() -> str:
    """A unique temporary name, since another process may write the same file."""
    return f".{uuid4().hex}.unfinished"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside `path`, which replaces it at the end of the block and is removed after an error.

    The folder is created if it is missing. The mode of a replaced file is kept; a new file gets the default mode, even
    if a
    library restricts it. For a link, its target is written.

    Raises:
        OSError: if it cannot be written.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(unfinished_name())
    try:
        unfinished.touch()
        mode = S_IMODE((path if path.exists() else unfinished).stat().st_mode)
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove the temporary files of killed programs in a folder; no program may be writing there."""
    for path in folder.glob(".*.unfinished"):
        if UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)
