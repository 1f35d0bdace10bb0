"""Flush files and folder entries to disk, so that they survive a loss of power."""

import os
import sys
from pathlib import Path


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, and flush them to disk.

    Raises:
        OSError: if one cannot be created.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform != "win32":  # where folders cannot be opened
        for made in reversed(missing):
            flush(made.parent)


def flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # fsync stops at the drive's cache
        else:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
