"""`drethtr serve`: serve recognition over HTTP."""

import sys
from contextlib import suppress
from logging import INFO, getLogger
from socket import (
    AF_INET,
    AF_INET6,
    IPPROTO_TCP,
    SOCK_DGRAM,
    TCP_NODELAY,
    AddressFamily,
    create_server,
    gethostname,
    socket,
)
from typing import Annotated

import typer
from starlette.applications import Starlette
from uvicorn import Config, Server

from drethtr.base.errors import ConfigError
from drethtr.cli.options import Lines, ReadingOptions, with_reading_options
from drethtr.cli.screen import echo
from drethtr.pages.segmentation import segmentation_named
from drethtr.search.index import open_index
from drethtr.server.app import make_app
from drethtr.server.connections import TimedConnection
from drethtr.server.guard import Access

AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Also accept requests to this host name; repeatable."),
]

PATIENCE = 20
"""Seconds to wait for open requests at the end; Kubernetes kills a program after 30."""

IDLE = 75
"""Seconds for which an idle connection stays open: longer than reverse proxies keep theirs, usually 60 seconds.

If it closes just as a proxy sends a request, the proxy answers 502, since it may not repeat a `POST`.
"""

BACKLOG = 256
"""Maximum number of connections waiting to be accepted, which are accepted together: fewer than may be open."""

DESCRIPTORS = 2048
"""Wanted limit of open files: more than the server can have open."""

EVERYWHERE = ("0.0.0.0", "::")
"""What a socket that listens on all addresses gives as its own."""

FAR = {AF_INET: "192.0.2.1", AF_INET6: "2001:db8::1"}
"""Addresses outside this machine's network, reserved for documentation."""


@with_reading_options()
def serve(
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on: 127.0.0.1 for this machine only; 0.0.0.0 for everybody."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")] = 8000,
    allow_host: AllowedHosts = None,
    *,
    reading: ReadingOptions,
    alternatives: Annotated[
        int, typer.Option(metavar="N", min=0, max=99, help="Also return up to N alternative texts per line.")
    ] = 0,
    lines: Lines = "auto",
    index: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX",
            help="Also search this index (a file or postgresql://…): GET /search?q=.",
        ),
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Serve recognition over HTTP: POST an image to /line or /page?format=alto.

    It has no authentication or encryption; to serve other machines, run it behind a server that has both.
    """
    segmentation = segmentation_named(lines)
    if index is not None:
        open_index(index).close()  # fail at once if it cannot be searched
    with listener(host, port) as door:
        recognizer = reading.load(alternatives=alternatives)
        app = make_app(recognizer, segmentation, index=index, access=Access.of(host, frozenset(allow_host or ())))
        echo(f"running on {address(door)} (stop with Ctrl-C)", err=True)
        with suppress(KeyboardInterrupt):  # the server raises it again at its end
            serving(app, PATIENCE, access_log=access_log).run([door])


def serving(app: Starlette, patience: int, *, access_log: bool = False) -> Server:
    """A server for an application; it closes connections that send their requests too slowly.

    Args:
        patience: Seconds to wait for open requests at the end.
        access_log: Whether to print a line for each request.
    """
    allow_descriptors()
    config = Config(
        app,
        http=TimedConnection,
        ws="none",
        log_level="warning",
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=patience,
        backlog=BACKLOG,
    )
    if access_log:
        getLogger("uvicorn.access").setLevel(INFO)
    return EndingServer(config)


class EndingServer(Server):
    """A server that ends the application's event streams when it stops, as their clients would listen forever."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        app = self.config.app
        for end in app.state.endings if isinstance(app, Starlette) else ():
            end()
        await super().shutdown(sockets)


def allow_descriptors() -> None:
    """Raise a low limit of open files, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def address(door: socket) -> str:
    """The URL of a listening socket; where it listens on all addresses of this machine, one that others can open."""
    shown, number = door.getsockname()[:2]
    if shown in EVERYWHERE:
        shown = own_address(AddressFamily(door.family))
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{number}"


def own_address(family: AddressFamily) -> str:
    """The address of this machine in its network; its name if it is in none."""
    with socket(family, SOCK_DGRAM) as probe:
        try:
            probe.connect((FAR[family], 9))  # chooses a route, and sends nothing
        except OSError:
            return gethostname()
        return str(probe.getsockname()[0])


def listener(host: str, port: int) -> socket:
    """Open a listening socket, whose connections send small packets at once.

    Raises:
        ConfigError: if it cannot be opened, for example because another program uses the port.
    """
    try:
        door = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=BACKLOG)
        # asyncio does this only for sockets made with IPPROTO_TCP. Without it, the body of a response waits up to 40 ms
        # until the client has acknowledged the header.
        door.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        return door
    except (OSError, UnicodeError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error).partition(" (while ")[0]
        raise ConfigError(
            f"cannot listen on --host {host} --port {port}: {reason}; give another port (0 picks a free one), "
            "or an address of this machine as host"
        ) from error
