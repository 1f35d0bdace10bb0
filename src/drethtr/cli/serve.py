"""`drethtr serve`: readings over HTTP."""

from contextlib import suppress
from pathlib import Path
from socket import AF_INET, AF_INET6, create_server, socket
from typing import Annotated

import typer

from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.cli.choices import DecoderName, DeviceName, ModelFile, PrecisionName, Threads, load_recognizer

BACKLOG = 2048
"""How many connections may wait to be accepted, as in uvicorn."""


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Who may connect: 127.0.0.1, this machine; 0.0.0.0, everybody.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    model: ModelFile = None,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
    alternatives: Annotated[
        int, typer.Option(metavar="N", min=0, max=99, help="Also give up to this many other texts of each line.")
    ] = 0,
    lines: Annotated[
        str, typer.Option(metavar="NAME", help="Line segmentation of pages, as in drethtr transcribe.")
    ] = "auto",
    index: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also search this index, which drethtr index made: GET /search?q=."),
    ] = None,
) -> None:
    """Serve readings over HTTP: POST the image of a line to /line, of a page to /page?format=alto.

    It has no passwords and no encryption; beyond your own machine, run it behind a server that has them.
    """
    try:
        import uvicorn

        from drethtr.pages.segmentation import segmentation_named
        from drethtr.search.index import open_index
        from drethtr.server.app import make_app
    except ImportError as error:
        raise MissingExtraError(str(error.name), "serve") from error
    segmentation = segmentation_named(lines)
    if index is not None:
        open_index(index).close()  # tells at once if it cannot be searched
    with listener(host, port) as door:
        recognizer = load_recognizer(model, decoder, device, precision, alternatives, threads)
        server = uvicorn.Server(uvicorn.Config(make_app(recognizer, segmentation.finder, index)))
        shown, number = door.getsockname()[:2]
        typer.echo(f"running on http://{f'[{shown}]' if ':' in shown else shown}:{number} (Ctrl-C ends it)", err=True)
        with suppress(KeyboardInterrupt):  # once all are answered
            server.run([door])


def listener(host: str, port: int) -> socket:
    """A socket that takes connections.

    Raises:
        ConfigError: if it cannot be opened, for example because another program listens there.
    """
    try:
        return create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(
            f"cannot listen at --host {host} --port {port}: {reason}; give another port (0 takes a free one), "
            "or as host an address of this machine"
        ) from error
