"""The command `drethtr`: its subcommands, and the handling of errors."""

import sys
from errno import ENOSPC
from io import TextIOWrapper
from typing import Annotated

import typer

from drethtr.base.archive import as_given
from drethtr.base.errors import DrethtrError
from drethtr.base.version import __version__
from drethtr.cli.align import align
from drethtr.cli.batch import batch
from drethtr.cli.calibrate import calibrate
from drethtr.cli.check import check
from drethtr.cli.compare import compare
from drethtr.cli.data import app as data
from drethtr.cli.doubts import WithDoubts
from drethtr.cli.edit import demo, edit
from drethtr.cli.evaluate import evaluate
from drethtr.cli.explain import explain
from drethtr.cli.finetune import finetune
from drethtr.cli.index import index
from drethtr.cli.info import info
from drethtr.cli.language import language
from drethtr.cli.plugged import Commands
from drethtr.cli.predict_cer import predict_cer
from drethtr.cli.rescorer import rescorer
from drethtr.cli.search import WithMinus, search
from drethtr.cli.serve import serve
from drethtr.cli.settings import default_map
from drethtr.cli.synth import synth
from drethtr.cli.train import train
from drethtr.cli.transcribe import transcribe

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

PARSED = {transcribe: WithDoubts, search: WithMinus}
"""Commands that parse their arguments in their own way."""

GROUPS = {
    "Read and correct": (transcribe, edit, demo, batch, serve),
    "Search and check": (index, search, align, check),
    "Measure": (evaluate, compare, predict_cer, explain),
    "Models": (info, finetune, train, calibrate, language, rescorer),
    "Training data": (synth,),
}
"""Commands by the heading under which help lists them."""

for heading, commands in GROUPS.items():
    for command in commands:
        app.command(cls=PARSED.get(command), rich_help_panel=heading)(command)
app.add_typer(data, name="data", rich_help_panel="Training data")


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Transcribe handwriting, measure accuracy, and train models."""
    context.default_map = default_map(context)


def write_utf8() -> None:
    """Write UTF-8 to files and pipes: characters missing from a Windows code page would end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors="replace")


def main() -> None:
    """Run the command line; expected errors end in one line and exit code 2, bugs in a traceback."""
    write_utf8()
    try:
        app(prog_name="drethtr")  # even if started otherwise, since shell completion uses this name
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        typer.echo(f"drethtr: cannot write the output: {error.strerror}", err=True)
        sys.exit(2)
    except DrethtrError as error:
        typer.echo(f"drethtr: {as_given(str(error))}", err=True)
        sys.exit(2)
