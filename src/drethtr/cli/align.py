"""`drethtr align`: align running text with the lines of scans."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from drethtr.base.config import member_named
from drethtr.base.errors import ConfigError
from drethtr.base.wording import counted
from drethtr.cli.options import (
    ForceResults,
    ImagesFolder,
    Lines,
    OutlinesName,
    ReadingOptions,
    format_option,
    output_option,
    refuse_idle_layout,
    refuse_unused,
    with_reading_options,
)
from drethtr.cli.outputs import printed_after, refuse_ending, refuse_results
from drethtr.cli.proofs import prove_all, tasks_of, write_pages
from drethtr.cli.screen import echo
from drethtr.datasets.parquet import store_parquet
from drethtr.documents.formats import FORMATS, formats_named
from drethtr.pages.catalog import Catalog
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import image_folder
from drethtr.proofreading.alignment import LineBreaks
from drethtr.proofreading.inputs import open_proof_inputs
from drethtr.proofreading.proof import ProofLine, accepted, ground_truth, shortened
from drethtr.proofreading.rules import Rules
from drethtr.proofreading.text import TextProof
from drethtr.recognition.recognizer import Recognizer

SHOWN = 10
"""Maximum number of pages, lines and passages to list."""


@with_reading_options()
def align(
    ctx: typer.Context,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="PAGES TEXT",
            help="Scans, PAGE or ALTO files, or ZIPs of them, and their text as txt, md, TEI, docx, JSON, …",
        ),
    ],
    output: Annotated[Path | None, output_option("FOLDER", "Folder for the aligned pages.")] = None,
    format: Annotated[
        str,
        format_option("Comma-separated: page, alto, tei, txt, html, …", FORMATS),
    ] = "page",
    ground_truth: Annotated[
        Path | None,
        typer.Option(
            "--ground-truth", metavar="FILE", help="Write reliable lines as training data to this file (.parquet)."
        ),
    ] = None,
    correct: Annotated[
        float,
        typer.Option(metavar="SHARE", min=0, max=1, help="Share of the --ground-truth lines that should be correct."),
    ] = 0.99,
    lines: Lines = "auto",
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
    line_breaks: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Line breaks in the text: ignored, or kept (each line of the text is one line of the page, even "
            "where the model can hardly read it).",
        ),
    ] = LineBreaks.IGNORED.value,
    *,
    reading: ReadingOptions,
    force: ForceResults = False,
) -> None:
    """Align running text with the lines of scans, and locate each word.

    A text file belongs to the page of the same name, or holds the running text of all pages. Text without a line and
    lines without text are listed, and the exit code is then 1.
    """
    if output is None and ground_truth is None:
        raise ConfigError("nothing to write; give --output, --ground-truth or both")
    if output is None:
        refuse_unused(ctx, "no pages are written without --output", "format")
    if ground_truth is None:
        refuse_unused(ctx, "no lines are written without --ground-truth", "correct")
    refuse_idle_layout(ctx, lines)
    refuse_ending(ground_truth, ".parquet")
    segmentation = segmentation_named(lines, outlines=outlines)
    formats = formats_named(format.split(","))
    breaks = member_named("line breaks", line_breaks, LineBreaks)
    refuse_results(ground_truth, force=force, inputs=inputs)
    given = open_proof_inputs(inputs, texts_needed=True, catalog=Catalog(images=image_folder(images)))
    tasks = tasks_of(given, output, formats, force=force)
    recognizer = reading.load()
    proofs, failed = prove_all(given, recognizer, segmentation, Rules(), breaks)
    failed += write_pages(tasks, [page for proof in proofs for page in proof.pages], recognizer, formats)
    pages = [page.lines for proof in proofs for page in proof.pages]
    left = [part for proof in proofs for part in proof.left.values()]
    with printed_after(summary(pages, left)):
        if ground_truth is not None:
            echo(write_ground_truth(proofs, recognizer, ground_truth, correct))
    bare = any(not line.check.text for page in pages for line in page)
    if bare or left or failed:
        raise typer.Exit(1)


def write_ground_truth(proofs: Sequence[TextProof], recognizer: Recognizer, path: Path, correct: float) -> str:
    """Write the accepted lines to a Parquet file; returns a message."""
    pages = [page for proof in proofs for page in proof.pages]
    every = [line for page in pages for line in page.lines]
    chosen = accepted(every, correct)
    store_parquet(ground_truth(pages, chosen, recognizer), path)
    found = (
        f"of which {100 * correct:.1f} % should be correct"
        if chosen
        else "because none is certain enough; lower --correct"
    )
    return f"{path}: {len(chosen):,} of {len(every):,} lines, {found}"


def summary(pages: Sequence[Sequence[ProofLine]], left: Sequence[ProofLine]) -> str:
    """How much was aligned, and which pages, lines and passages were not."""
    lines = [line for page in pages for line in page]
    written = [line for line in lines if line.check.text]
    words = sum(len(line.check.text.split()) for line in written)
    empty = [page for page in pages if not any(line.check.text for line in page)]
    on_empty = {id(line) for page in empty for line in page}
    bare = [line for line in lines if not line.check.text and id(line) not in on_empty]
    found = (
        [f"no text for {page[0].page} ({counted(len(page), 'line')})" for page in empty],
        [f"no text for {line.page} {line.line}, which reads {line.check.reading!r}" for line in bare],
        [f"not on any line: {shortened(line.check.text)!r}" for line in left],
    )
    rows = [f"{counted(words, 'word')} aligned with {len(written):,} of {len(lines):,} lines"]
    rows += [row for some in found for row in some[:SHOWN]]
    if hidden := sum(max(len(some) - SHOWN, 0) for some in found):
        rows.append(f"… and {hidden:,} more")
    return "\n".join(rows)
