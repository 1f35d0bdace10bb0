"""Kill this process just before its n-th file-system change or SQL statement, or some time after the first.

Environment variables say which.
"""

import atexit
import os
import signal
import sqlite3
import sys
import threading
import time
from functools import partial
from typing import Any

AT, AFTER, FOLDER, COUNT = "KILL_AT", "KILL_AFTER", "KILL_FOLDER", "KILL_COUNT"
"""Environment variables: the number of the change, the seconds after the first one, the folder to watch, and a file for
the number of changes in a whole run and the seconds from the first one to the end."""

CHANGES = frozenset({"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.chown", "os.truncate"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def install() -> None:
    """Count changes from now on, if the variables are set."""
    if FOLDER not in os.environ:
        return
    folder, last, seconds = os.environ[FOLDER], int(os.environ.get(AT, 0)), os.environ.get(AFTER)
    count = os.environ.pop(COUNT, None)  # not for workers
    process, done, first = os.getpid(), 0, 0.0

    def look(event: str, arguments: tuple[object, ...]) -> None:
        changes = event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING)
        if not changes or os.getpid() != process:
            return
        path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes | os.PathLike) else ""
        if os.path.abspath(path).startswith(folder):  # noqa: PTH100 - an audit hook should do little
            step()

    def step() -> None:
        nonlocal done, first
        done += 1
        if done == 1:
            first = time.monotonic()
            if seconds is not None:
                timer = threading.Timer(float(seconds), kill)
                timer.daemon = True
                timer.start()
        if done == last:
            kill()

    def kill() -> None:
        os.kill(process, signal.SIGKILL)

    class Database(sqlite3.Connection):
        """A connection that counts its statements."""

        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            step()
            return super().execute(*arguments)

        def executemany(self, *arguments: Any) -> sqlite3.Cursor:
            step()
            return super().executemany(*arguments)

        def commit(self) -> None:
            step()
            super().commit()

    sqlite3.connect = partial(sqlite3.connect, factory=Database)
    sys.addaudithook(look)
    if count is not None:
        atexit.register(lambda: note(count, f"{done} {time.monotonic() - first}"))


def note(path: str, text: str) -> None:
    """Write the record of a whole run."""
    with open(path, "w") as file:  # noqa: PTH123
        file.write(text)
