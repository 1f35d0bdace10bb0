"""The command `drethtr`: its subcommands, and the handling of errors."""

import os
import sys
from collections.abc import Mapping
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOSPC, ENOTDIR, EROFS
from io import StringIO
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drethtr.base.errors import DrethtrError
from drethtr.base.version import __version__
from drethtr.cli.commands import Lazy, WithPlugIns
from drethtr.cli.screen import echo, shown, use_screen
from drethtr.cli.settings import at_home

COMMANDS = {
    "Read and correct": {
        "transcribe": ("transcribe:app", "Transcribe page scans or line images."),
        "segment": ("segment", "Find lines, regions and order of page scans, without reading them."),
        "edit": ("edit", "Correct transcriptions in your browser."),
        "serve": ("serve", "Serve recognition over HTTP."),
        "batch": ("batch", "Read millions of line images into Parquet files."),
    },
    "Search and check": {
        "index": ("index", "Index pages for search."),
        "search": ("search:app", "Find words in indexed handwriting, even misread ones."),
        "check": ("check", "Find words of a text that the ink does not support."),
        "align": ("align", "Align running text with the lines of scans."),
    },
    "Measure": {
        "evaluate": ("evaluate", "Measure error rates on transcribed lines or pages."),
    },
}
"""Commands by the heading under which help lists them, each with its module in `drethtr.cli` and a line of help."""

MODEL = {
    "info": ("model.info", "Describe a model, and check or extend its model card."),
    "finetune": ("model.finetune", "Fine-tune a model on your lines; 50 are enough to start."),
    "train": ("model.train", "Train a model from scratch, as a run file says."),
    "train-layout": ("model.train:train_layout", "Train the line detector, as a run file says."),
    "calibrate": ("model.calibrate", "Choose the best decoder, and calibrate confidences."),
    "language": ("model.language", "Add character n-grams of your texts."),
    "rescorer": ("model.rescorer", "Train the language model that rescores candidates."),
    "compare": ("model.compare", "Compare two models or decoders on the same lines."),
    "predict-cer": ("model.predict_cer", "Predict the error rate on untranscribed lines."),
    "explain": ("model.explain", "Draw how a line was read."),
}

DATA = {
    "import": ("data.import_lines", "Import lines of a known layout to Parquet files."),
    "check": ("data.check", "Find problems that spoil training or evaluation."),
    "synth": ("data.synth", "Generate lines of synthetic handwriting."),
    "gaps": ("data.gaps", "Find gaps between words, to recombine words in training."),
}

DEMO = {"demo": ("edit:demo", "Try the editor with a sample letter.")}
"""A command of earlier versions. Help leaves it out, as it does commands typed without the name of their group."""

UNWRITABLE = frozenset({ENOSPC, EROFS, EACCES, EEXIST, ENAMETOOLONG, ENOTDIR, ELOOP, EISDIR})
"""Errors that mean a place cannot be written: standard output, a result, or where completion is installed."""

Table = Mapping[str, tuple[str, str]]


def commands(table: Table, heading: str | None = None, *place: str, hidden: bool = False) -> dict[str, Any]:
    """Commands by name, which have their settings in the table `place` of a settings file."""
    return {
        name: Lazy(name, f"drethtr.cli.{source}", help, heading, place=(*place, name), hidden=hidden)
        for name, (source, help) in table.items()
    }


def group(name: str, help: str, below: dict[str, Any]) -> TyperGroup:
    """A group of commands."""
    return TyperGroup(name=name, help=help, commands=below, no_args_is_help=True, rich_help_panel="Models and data")


class Program(WithPlugIns):
    """All commands.

    Settings of the commands in `model` are in tables of their own, not below `[model]`: many commands have an option of
    that name.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for heading, table in COMMANDS.items():
            self.commands.update(commands(table, heading))
        self.commands["model"] = group("model", "Describe, train, calibrate and compare models.", commands(MODEL))
        self.commands["data"] = group(
            "data", "Import, check and generate transcribed lines.", commands(DATA, None, "data")
        )
        self.commands.update(commands({**MODEL, **DEMO}, hidden=True))
        self.commands.update(commands({"synth": DATA["synth"]}, None, "data", hidden=True))

    def invoke(self, ctx: Any) -> Any:
        """Run a command. After Ctrl-C it says that it stopped; one that can be continued says so itself, and how."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            from drethtr.cli.progress import INTERRUPTED  # with child processes behind it

            echo("stopped", err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Transcribe handwriting, measure accuracy, and train models."""


def main() -> None:
    """Run the command line; expected errors end in one line and exit code 2, bugs in a traceback."""
    use_screen()
    # Programs that this one starts must import nothing from the current folder: anybody may have written it.
    os.environ["PYTHONSAFEPATH"] = "1"
    # On Windows, click would expand patterns even in quotes, and with them queries and patterns that an option takes:
    # all but the first match of `--validation 'a/*.parquet'` would be lines to learn. Commands expand them themselves.
    words = list(map(at_home, sys.argv[1:])) if sys.platform == "win32" else None
    try:
        # The name, however it was started, is the one that shell completion uses.
        app(words, prog_name="drethtr", windows_expand_args=False)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        if error.filename is None:
            sys.stdout = StringIO()  # or Python tries to write the rest once more at the end, and exits with 120
        echo(shown(f"drethtr: {error.filename or 'cannot write the output'}: {error.strerror}"), err=True)
        sys.exit(2)
    except DrethtrError as error:
        from drethtr.base.archive import as_given  # with child processes behind it

        echo(shown(f"drethtr: {as_given(str(error))}"), err=True)
        sys.exit(2)
