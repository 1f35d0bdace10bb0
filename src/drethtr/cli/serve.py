"""`drethtr serve`: readings over HTTP."""

from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.cli.choices import DecoderName, DeviceName, ModelFile, PrecisionName, load_recognizer
from drethtr.cli.where_lines import lines_named
from drethtr.errors import MissingExtraError

if TYPE_CHECKING:
    from drethtr.layout.finder import Finder
    from drethtr.transcription.source import Original


def serve(
    host: Annotated[str, typer.Option(help="Who may ask: 127.0.0.1, this machine; 0.0.0.0, everybody.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    model: ModelFile = None,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    alternatives: Annotated[
        int, typer.Option(min=0, max=99, help="Also give up to this many other texts of each line.")
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
    from drethtr.layout.finders import finder_named

    where = lines_named(lines)

    def finder(original: "Original") -> "Finder":
        return finder_named(where.finder(original))

    recognizer = load_recognizer(model, decoder, device, precision, alternatives)
    uvicorn.run(make_app(recognizer, finder), host=host, port=port)
