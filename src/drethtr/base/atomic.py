"""Files that are whole or not there, whatever stops the program that writes them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from uuid import uuid4

UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.unfinished")
"""What a file is called until it is whole."""


def unfinished_name() -> str:
    """A name for a file that is not whole, like no other: another process may write the same file."""
    return f".{uuid4().hex}.unfinished"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, which takes its place once the block has ended; after an error it is gone.

    The folder is made if it is missing. A file that is replaced lends its mode; else it is that of any new file, also
    where a library writes files that nobody else may read. Of a link, the file that it points to is written.

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
    """Remove what killed programs left in a folder, if it is there; nobody may be writing in it."""
    for path in folder.glob(".*.unfinished"):
        if UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)
