"""`drethtr serve`: readings over HTTP."""

from typing import Annotated

import typer

from drethtr.cli.choices import DecoderName, DeviceName, ModelFile, PrecisionName, load_recognizer
from drethtr.cli.where_lines import lines_named
from drethtr.errors import MissingExtraError


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Who may ask: 127.0.0.1, this machine; 0.0.0.0, everybody.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    model: ModelFile = None,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    alternatives: Annotated[
        int, typer.Option(metavar="N", min=0, max=99, help="Also give up to this many other texts of each line.")
    ] = 0,
    lines: Annotated[
        str, typer.Option(metavar="NAME", help="Where lines of pages come from, as for drethtr transcribe.")
    ] = "auto",
) -> None:
    """Answer over HTTP: POST the image of a line to /line, of a page to /page?format=alto.

    There are no passwords and no encryption: beyond your own machine, put it behind a server that has them.
    """
    try:
        import uvicorn

        from drethtr.server.app import make_app
    except ImportError as error:
        raise MissingExtraError(str(error.name), "serve") from error
    where = lines_named(lines)
    recognizer = load_recognizer(model, decoder, device, precision, alternatives)
    uvicorn.run(make_app(recognizer, where.finder), host=host, port=port)
