"""A local web server, for tests of downloads."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    """A reply of a host; `length` is a false Content-Length, a negative one none at all."""

    status: int = 200
    content: bytes = b""
    headers: Mapping[str, str] = {}
    length: int | None = None


Source = Reply | Callable[[], Reply]


@dataclass
class Host:
    """Replies by path; those in a list are sent in order, and the last one repeatedly.

    asked      the paths of all requests, in order
    most_busy  the highest number of concurrent requests
    """

    port: int = 0
    replies: dict[str, Source | list[Source]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    busy: int = 0
    most_busy: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reply(self, path: str) -> Reply:
        found = self.replies.get(path, Reply(404))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        return found if isinstance(found, Reply) else found()


@contextmanager
def served() -> Iterator[Host]:
    """Run a host until the end of the block."""
    host = Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with host.lock:
                host.asked.append(self.requestline.split(" ")[1])  # in `path`, slashes at the beginning are one
                host.agents.add(self.headers["User-Agent"])
                host.busy += 1
                host.most_busy = max(host.most_busy, host.busy)
            reply = host.reply(self.path)
            with host.lock:
                host.busy -= 1
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            length = len(reply.content) if reply.length is None else reply.length
            if length >= 0:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, *unused: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
