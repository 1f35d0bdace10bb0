"""Clients that put load on a server: lines and pages, broken and large bodies, stalled requests, aborted downloads."""

import json
import random
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from made_pages import TEXTS, blank, write

SAMPLES = Path(__file__).parents[2] / "samples"
AT_ONCE = 8
HELD_OPEN = 32
"""Most connections with a stalled request; a further one replaces the oldest."""

Visit = Callable[[], str]


class Visitor:
    """Makes requests to a server; every visit returns the status of the answer, or how it was aborted.

    With `editing` (`drethtr edit`), it also requests and changes the content of the folder.
    """

    def __init__(self, address: str, chances: random.Random, *, editing: bool) -> None:
        self.address, self.chances = address, chances
        self.slow: list[socket.socket] = []
        self.lines = [path.read_bytes() for path in sorted(SAMPLES.glob("*.png"))]
        page, book = BytesIO(), BytesIO()
        image = write(blank(700, 400), TEXTS[:3]).image
        image.save(page, "PNG")
        image.save(book, "PDF", save_all=True, append_images=[image])
        self.page, self.book = page.getvalue(), book.getvalue()
        sent = [self.line, self.line, self.many_lines, self.a_page, self.a_book, self.half_an_image, self.too_much]
        rude = [self.slow_head, self.body_that_ends, self.download_broken_off, self.nowhere, self.foreign]
        folder = [self.overview, self.pictures, self.correct, self.outdated, self.bad_change, self.export, self.events]
        folder += [self.alternatives, self.compared, self.preview, self.layout, self.undo]
        self.visits: Sequence[Visit] = [*sent, *rude, *(folder * 2 if editing else [])]

    def visit(self) -> str:
        """Make a random request."""
        act = self.chances.choice(self.visits)
        return f"{act.__name__} {act()}"

    def leave(self) -> None:
        """Close the stalled connections."""
        for connection in self.slow:
            connection.close()

    def ask(self, path: str, body: bytes | None = None, **more: Any) -> str:
        """Make a request; returns the status."""
        return self.answer(path, body, **more)[0]

    def answer(self, path: str, body: bytes | None = None, method: str = "", **headers: str) -> tuple[str, bytes]:
        """Make a request; returns status and body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(self.address + path, body, named, method=method or ("POST" if body is not None else "GET"))
        try:
            with urlopen(request, timeout=600) as answer:
                return str(answer.status), answer.read()
        except HTTPError as error:
            with error:
                return str(error.code), error.read()
        except OSError:
            return "closed", b""

    def begin(self, start: bytes) -> socket.socket:
        """Open a connection, and send the start of a request."""
        parts = urlsplit(self.address)
        connection = socket.create_connection((parts.hostname, parts.port), timeout=60)
        connection.sendall(start)
        return connection

    def line(self) -> str:
        return self.ask("/line", self.chances.choice(self.lines))

    def many_lines(self) -> str:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return " ".join(sorted(set(threads.map(lambda line: self.ask("/line", line), self.lines[:AT_ONCE]))))

    def a_page(self) -> str:
        return self.ask(f"/page?format={self.chances.choice(['json', 'alto', 'page', 'html', 'docx'])}", self.page)

    def a_book(self) -> str:
        return self.ask("/page?format=pdf&name=a.pdf", self.book)

    def half_an_image(self) -> str:
        whole = self.chances.choice([*self.lines, self.page, self.book])
        return self.ask(self.chances.choice(["/line", "/page"]), whole[: len(whole) // 2])

    def too_much(self) -> str:
        return self.ask("/line", bytes(self.chances.choice([1, 60, 65]) << 20))

    def slow_head(self) -> str:
        self.slow.append(self.begin(b"POST /line HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "))
        if len(self.slow) > HELD_OPEN:
            self.slow.pop(0).close()
        return "held open"

    def body_that_ends(self) -> str:
        self.begin(b"POST /line HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nhalf").close()
        return "broken off"

    def download_broken_off(self) -> str:
        with self.begin(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as connection:
            connection.recv(10)
        return "broken off"

    def nowhere(self) -> str:
        return self.ask("/nowhere", bytes(1 << 20))

    def foreign(self) -> str:
        return self.ask("/line", self.lines[0], Origin="http://evil.example")

    def json(self, path: str) -> Any:
        """Get JSON from a path."""
        return json.loads(self.answer(path)[1])

    def a_line(self) -> tuple[str, Any]:
        """The path and content of a random line."""
        page = self.chances.choice(self.json("/api/pages"))["id"]
        line = self.chances.choice(self.json(f"/api/pages/{page}")["lines"])
        return f"/api/pages/{page}/lines/{line['id']}", line

    def overview(self) -> str:
        return " ".join(self.ask(path) for path in ("/api/status", "/api/pages", "/api/search?q=the", "/api/jobs"))

    def pictures(self) -> str:
        place, _ = self.a_line()
        page = place.partition("/lines/")[0]
        width = self.chances.randint(1, 900)
        paths = (f"{place}/strip.jpg", f"{page}/thumbnail.jpg", f"{page}/image.jpg?width={width}", f"{place}/history")
        return " ".join(self.ask(path) for path in paths)

    def correct(self) -> str:
        place, line = self.a_line()
        text = f"{self.chances.choice(TEXTS)} {self.chances.randint(0, 9)}"
        return self.change(place, {"text": text, "status": "confirmed"}, line["revision"])

    def outdated(self) -> str:
        return self.change(self.a_line()[0], {"text": "of another time"}, "0" * 16)

    def bad_change(self) -> str:
        place, line = self.a_line()
        return self.change(place, {"text": 7, "polygon": [[1]]}, line["revision"])

    def change(self, place: str, body: dict[str, Any], revision: str) -> str:
        headers = {"Content_Type": "application/json", "If_Match": f'"{revision}"'}
        return self.ask(place, json.dumps(body).encode(), method="PUT", **headers)

    def export(self) -> str:
        return self.ask(f"/api/export?format={self.chances.choice(['pdf', 'alto', 'docx', 'tei'])}")

    def preview(self) -> str:
        return self.ask(f"/api/preview?format={self.chances.choice(['md', 'tei', 'csv'])}")

    def alternatives(self) -> str:
        place, line = self.a_line()
        word = line["text"].split()[0]
        return self.send(f"{place}/alternatives", {"text": line["text"], "start": 0, "end": len(word)})

    def compared(self) -> str:
        page = self.a_line()[0].partition("/lines/")[0]
        return self.ask(f"{page}/compare?name=a.txt", "\n".join(self.chances.sample(TEXTS, 3)).encode())

    def layout(self) -> str:
        place, line = self.a_line()
        return self.send(f"{place.partition('/lines/')[0]}/layout", {"do": "move", "lines": [line["id"]]})

    def undo(self) -> str:
        page = self.a_line()[0].partition("/lines/")[0]
        return " ".join(self.send(f"{page}/{what}", {}) for what in ("undo", "redo"))

    def send(self, path: str, body: dict[str, Any]) -> str:
        return self.ask(path, json.dumps(body).encode(), Content_Type="application/json")

    def events(self) -> str:
        with self.begin(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as connection:
            connection.recv(10)
        return "broken off"
