"""A client of `drethtr edit` that corrects lines until the server is killed, and records which texts it saved."""

import json
import re
import signal
import time
from http.client import HTTPException
from pathlib import Path
from subprocess import Popen
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ADDRESS = re.compile(r"http://\S+")


class Promise(NamedTuple):
    """The last text that the server confirmed as saved, and the last one sent, which it may have saved, too."""

    page: str
    line: str
    saved: str
    sent: str


Promises = list[Promise]


def correct(log: Path, server: "Popen[bytes]") -> Promises:
    """Correct every line twice, then stop the server; returns what it has confirmed."""
    sent: dict[tuple[str, str], str] = {}
    kept: dict[tuple[str, str], str] = {}
    try:
        address = address_of(log, server)
        while any(job["state"] in ("waiting", "running") for job in ask(f"{address}/api/jobs")):
            time.sleep(0.05)
        for page in ask(f"{address}/api/pages"):
            for line in ("l0", "l1"):
                for text in ("once", f"{page['name']} {line}"):
                    place = f"{address}/api/pages/{page['id']}/lines/{line}"
                    revision = ask(place)["revision"]
                    sent[page["name"], line] = text
                    ask(place, {"text": text, "status": "confirmed"}, revision)
                    kept[page["name"], line] = text
    except HTTPError:
        raise
    except (OSError, HTTPException):
        pass  # the server was killed
    finally:
        server.send_signal(signal.SIGINT)
    return [Promise(*place, text, sent[place]) for place, text in kept.items()]


def address_of(log: Path, server: "Popen[bytes]") -> str:
    """Wait for the address of a server in its log.

    Raises:
        OSError: if the server has ended.
    """
    while server.poll() is None:
        if found := ADDRESS.search(log.read_text("utf-8", "replace")):
            return found[0]
        time.sleep(0.05)
    raise OSError("the server was killed")


def ask(address: str, body: dict[str, str] | None = None, revision: str = "") -> Any:
    """Get JSON from an address, or send the change of a line."""
    headers = {"Content-Type": "application/json", "If-Match": revision} if body else {}
    content = json.dumps(body).encode() if body else None
    with urlopen(Request(address, content, headers, method="PUT" if body else "GET"), timeout=60) as answer:
        return json.loads(answer.read())
