"""`drethtr check`: check an existing transcription against the ink, word by word."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import write_text
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
from drethtr.cli.outputs import printed_after, refuse_results
from drethtr.cli.progress import open_lines, report_skipped
from drethtr.cli.proofs import prove_all, tasks_of, write_pages
from drethtr.cli.screen import shown
from drethtr.datasets.sample import Sample
from drethtr.documents.formats import FORMATS, formats_named
from drethtr.pages.catalog import Catalog
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import image_folder
from drethtr.proofreading.check import DOUBTED
from drethtr.proofreading.inputs import are_lines, open_proof_inputs
from drethtr.proofreading.proof import ProofLine, prove_lines
from drethtr.proofreading.report import caution, page_strips, ranked, row_strips, summary, write_report
from drethtr.proofreading.rules import Rules, conventions_named
from drethtr.recognition.recognizer import Recognizer

SHOWN = 30
"""Maximum number of doubtful words to print."""


@with_reading_options()
def check(
    ctx: typer.Context,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="PAGES TEXT",
            help="Scans and their texts; PAGE or ALTO files with text, or ZIPs of them; tables of lines.",
        ),
    ],
    least: Annotated[
        float, typer.Option("--min", metavar="P", min=0, max=1, help="Words less probable than this are doubtful.")
    ] = DOUBTED,
    allow: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Differences to accept, comma-separated: spelling, abbreviations, punctuation.",
        ),
    ] = "",
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write all words with their probabilities to this file."),
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with images of the doubtful words.")
    ] = None,
    output: Annotated[
        Path | None, output_option("FOLDER", "Write the pages with doubtful words marked to this folder.")
    ] = None,
    format: Annotated[
        str,
        format_option("For --output, comma-separated: page, alto, tei, json, html, …", FORMATS),
    ] = "page",
    lines: Lines = "auto",
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
    *,
    reading: ReadingOptions,
    force: ForceResults = False,
) -> None:
    """Estimate for each word of a text the probability that the ink supports it; no word is ever called verified.

    Give scans with a text (txt, md, TEI, docx, JSON, PAGE, ALTO), PAGE or ALTO files that contain text, or lines: TSV,
    Parquet, a folder of images with .txt files. The exit code is 1 if a word is doubtful or something is unreadable.
    """
    rules, segmentation = Rules(least, conventions_named(allow)), segmentation_named(lines, outlines=outlines)
    formats = formats_named(format.split(","))
    refuse_results(json_file, html_file, force=force, inputs=inputs)
    if are_lines(inputs):
        if output is not None:
            raise ConfigError("--output writes pages; for lines, use --json or --html")
        refuse_unused(ctx, "these are lines, not pages", "lines", "outlines", "images", "format")
        samples = open_lines(inputs, count_unclean=False)
        recognizer = reading.load()
        found, failed = check_rows(samples, recognizer, rules)
        strips = row_strips(found, samples) if html_file is not None else {}
    else:
        refuse_idle_layout(ctx, lines)
        if output is None:
            refuse_unused(ctx, "no pages are written without --output", "format")
        given = open_proof_inputs(inputs, texts_needed=False, catalog=Catalog(images=image_folder(images)))
        tasks = tasks_of(given, output, formats, force=force)
        recognizer = reading.load()
        proofs, failed = prove_all(given, recognizer, segmentation, rules)
        found = [line for proof in proofs for line in proof.lines]
        pages = [page for proof in proofs for page in proof.pages]
        failed += write_pages(tasks, pages, recognizer, formats)
        strips = page_strips(found, pages) if html_file is not None else {}
    if not found:
        raise DataError(f"{', '.join(inputs)}: none of the lines could be checked")
    with printed_after(shown(doubtful_words(found))):
        if json_file is not None:
            rows = (json.dumps(row, ensure_ascii=False) for line in found for row in line.to_json())
            write_text(json_file, "[\n" + ",\n".join(rows) + "\n]\n")
        if html_file is not None:
            title = f"{', '.join(Path(name).name for name in inputs)}: what the ink does not support"
            write_text(html_file, write_report(found, strips, title, str(recognizer.provenance())))
    if failed or any(line.doubts for line in found):
        raise typer.Exit(1)


def check_rows(samples: Sequence[Sample], recognizer: Recognizer, rules: Rules) -> tuple[list[ProofLine], int]:
    """Check lines, with a progress bar; returns the proofs and the number of unusable lines, which are reported."""
    found, failed = [], 0
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        for proof in prove_lines(samples, recognizer, rules):
            bar.update()
            if isinstance(proof, DataError):
                report_skipped(proof)
                failed += 1
            else:
                found.append(proof)
    return found, failed


def doubtful_words(lines: Sequence[ProofLine]) -> str:
    """The doubtful words as text, least probable first, and a summary."""
    words = ranked(lines)
    rows = []
    for number, word in words[:SHOWN]:
        line, checked = lines[number], word.checked
        place = "not on any line" if line.line is None else f"{line.page} {line.line}"
        rows.append(f"{checked.probability:.3f}  {checked.kind:11}  {place}  {checked.text or '…'}: {checked.reason}")
    if len(words) > SHOWN:
        rows.append(f"… and {len(words) - SHOWN:,} more; --json or --html lists all")
    return "\n".join([*rows, f"{summary(lines)}.", caution()])
