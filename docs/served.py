"""Run `drethtr edit` as a separate process, for scripts that use it through its API or a browser."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from time import sleep
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

CHROMIUM = which("chromium-headless-shell") or which("chromium")

ADDRESS = re.compile(r"is open at (\S+)")


class Site(NamedTuple):
    """A running editor: its address and process id."""

    address: str
    process: int

    def ask(self, method: str, path: str, body: Any = None, revision: str | None = None) -> Any:
        """Send a request to the API, and return the answer."""
        headers = {"Content-Type": "application/json"}
        if revision is not None:
            headers["If-Match"] = f'"{revision}"'
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.address + path, data, headers, method=method)) as answer:
            return json.load(answer)

    def ended(self, job: str) -> dict[str, Any]:
        """Wait for a job to end, and return it."""
        while True:
            found: dict[str, Any] = self.ask("GET", f"/api/jobs/{job}")
            if found["state"] in ("done", "failed", "cancelled"):
                return found
            sleep(1)

    def until_read(self) -> None:
        """Wait for the most recent reading job; the first one begins once the pages are counted."""
        while not (jobs := [job["id"] for job in self.ask("GET", "/api/jobs") if job["kind"] == "read"]):
            sleep(0.1)
        self.ended(jobs[0])


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Site]:
    """Serve a folder for editing until the end of the block."""
    alone = ("--no-browser", "--no-token", "--port", "0")
    command = [sys.executable, "-m", "drethtr", "edit", str(folder), *alone, *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            output = ""
            while (found := ADDRESS.search(output)) is None:
                line = server.stderr.readline()
                if not line:
                    raise SystemExit(output)
                output += line
            yield Site(found[1], server.pid)
        finally:
            server.terminate()
