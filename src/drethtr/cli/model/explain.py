"""`drethtr model explain`: draw how a line was read."""

from pathlib import Path
from typing import Annotated

import typer

from drethtr.cli.options import ReadingOptions, output_option, with_reading_options
from drethtr.cli.outputs import refuse_ending, refuse_results
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.cli.screen import echo
from drethtr.documents.writers.text import marked
from drethtr.evaluation.untranscribed import refuse_page
from drethtr.images.line import open_line
from drethtr.pictures.explanation import draw
from drethtr.pictures.explanation import explain as explain_line


@with_reading_options()
def explain(
    line: Annotated[Path, typer.Argument(metavar="LINE", help="An image of one line.")],
    output: Annotated[Path, output_option("FILE", "Output picture (.svg or .png).")],
    *,
    reading: ReadingOptions,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
) -> None:
    """Draw how a line was read: characters at their positions, doubtful ones in color, and attention.

    Below the reading, each character has a row, dark where the decoder looked, and each layer has a row that shows
    how far back it remembers the text.
    """
    refuse_ending(output, ".svg", ".png")
    refuse_results(output, force=force, inputs=[str(line)])
    refuse_page(line, f"cut out a line and explain that; drethtr transcribe {line} reads the whole page")
    pixels = open_line(line)
    recognizer = reading.load()
    explanation = explain_line(recognizer, pixels)
    draw(explanation).save(output)
    echo(f"{output}: {marked(explanation.reading.transcription())}")
    if not explanation.reading.calibrated:
        echo(NOT_CALIBRATED, err=True)
