"""`drethtr edit` as a program of its own, for scripts that use it as a person or another program would."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

ADDRESS = re.compile(r"is open at (\S+)")


class Site(NamedTuple):
    """A folder that is edited: where, and in which process."""

    address: str
    process: int

    def ask(self, method: str, path: str, body: Any = None, revision: str | None = None) -> Any:
        """What the server answers to a request of its API."""
        headers = {"Content-Type": "application/json"}
        if revision is not None:
            headers["If-Match"] = f'"{revision}"'
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.address + path, data, headers, method=method)) as answer:
            return json.load(answer)

    def ended(self, job: str) -> dict[str, Any]:
        """A job when it has ended."""
        while True:
            told: dict[str, Any] = self.ask("GET", f"/api/jobs/{job}")
            if told["state"] in ("done", "failed", "cancelled"):
                return told
            sleep(1)

    def until_read(self) -> None:
        """Wait for the last reading that was begun."""
        self.ended(next(job["id"] for job in self.ask("GET", "/api/jobs") if job["kind"] == "read"))


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Site]:
    """The address of a folder, while it can be edited."""
    command = [sys.executable, "-m", "drethtr.cli", "edit", str(folder), "--no-browser", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            said = ""
            while (found := ADDRESS.search(said)) is None:
                line = server.stderr.readline()
                if not line:
                    raise SystemExit(said)
                said += line
            yield Site(found[1], server.pid)
        finally:
            server.terminate()
