"""Files that are whole or not there, whatever stops the program that writes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from uuid import uuid4


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
    unfinished = path.with_name(f".{uuid4().hex}.unfinished")  # another process may write the same file
    try:
        unfinished.touch()
        mode = S_IMODE((path if path.exists() else unfinished).stat().st_mode)
        yield unfinished
        unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
