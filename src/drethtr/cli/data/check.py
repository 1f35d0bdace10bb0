"""`drethtr data check`: find problems that spoil training or evaluation."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from drethtr.base.errors import DataError, or_error
from drethtr.base.wording import counted
from drethtr.cli.options import ForceResults, LineData, ReadingOptions, with_reading_options
from drethtr.cli.outputs import refuse_ending, refuse_results, write_json, write_png
from drethtr.cli.reports import table
from drethtr.cli.screen import echo
from drethtr.datasets import checks
from drethtr.datasets.checks import Report, open_splits
from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, all_lines, finding_if
from drethtr.datasets.sample import Sample, choose, clean_lines, open_sample
from drethtr.evaluation.evaluate import count_unknown
from drethtr.evaluation.misaligned import Suspect, misaligned
from drethtr.pictures.contact_sheet import contact_sheet
from drethtr.recognition.recognizer import Recognizer

SHOWN = 5  # lines listed per finding; --json has all
DRAWN = 40  # lines in the picture
PICTURED = ("misaligned", "conflicting duplicates", "crowded line", "roomy line", "blank image", "empty text")
"""Findings that a picture of the line helps to judge, the most serious first."""


@with_reading_options()
def check(
    files: LineData,
    read: Annotated[
        int, typer.Option(min=0, metavar="N", help="Read up to N lines per set to find misaligned ones; 0: none.")
    ] = 200,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed draws the same lines to read.")] = 0,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture of the suspect lines (.png).")
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write all findings with their lines to this file."),
    ] = None,
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Check lines for problems that spoil training or evaluation, without changing them; exit code 1 on errors.

    Files with train, val or test in their names are those splits; all other files form one more split.
    """
    refuse_ending(picture, ".png")
    refuse_results(picture, json_file, force=force, inputs=files)
    splits, found = open_splits(files)
    suspects, unread = read_suspects(splits, reading.load(), read, seed) if read else ([], [])
    report = checks.check(splits, (*found, *unread, *findings_of(suspects)))
    echo(report_text(report))
    if picture is not None:
        echo(draw_suspects(report, splits, suspects, picture))
    if json_file is not None:
        write_json(json_file, report_json(report))
    if not report.sound:
        raise typer.Exit(1)


def read_suspects(splits: Splits, recognizer: Recognizer, limit: int, seed: int) -> tuple[list[Suspect], list[Finding]]:
    """Read up to `limit` lines per set, unless the model's alphabet is too small.

    Returns the lines whose text the model contradicts, and a finding about images that cannot be read as a line.
    """
    every = all_lines(splits)
    written = [sample for sample in clean_lines(every) if sample.text.strip()]
    drawn = choose(written, limit, seed)
    chosen, unread = list[Sample](), list[Row]()
    for sample in filter(readable, drawn):  # `broken_images` has the others
        opened = or_error(open_sample, recognizer, sample)
        if isinstance(opened, DataError):
            unread.append(Row(sample.key, opened.reason))
        else:
            chosen.append(sample)
    found = finding_if(Severity.WARNING, "unlikely image", "images that cannot be read as a line", unread)
    try:
        count_unknown(recognizer.model.tokenizer, chosen)
    except DataError as error:
        echo(f"Misaligned lines were not checked: {error}")
        return [], found
    with tqdm(total=len(chosen), unit="line", disable=None) as bar:
        suspects = misaligned(recognizer, chosen, every, advance=bar.update)
    more = "; increase --read to read more" if len(drawn) < len(written) else ""
    echo(f"{len(chosen):,} of {len(every):,} lines were read to find misaligned texts{more}.")
    return suspects, found


def readable(sample: Sample) -> bool:
    """Whether the image of a line can be opened."""
    try:
        sample.line()
    except DataError:
        return False
    return True


def findings_of(suspects: Sequence[Suspect]) -> tuple[Finding, ...]:
    """A finding of the lines whose text the model contradicts."""
    rows = []
    for suspect in suspects:
        detail = f"{suspect.sample.text!r} is read {suspect.reading.text!r} ({suspect.reading.confidence:.2f})"
        if suspect.elsewhere is not None:
            detail += f", the text of {suspect.elsewhere.key}"
        rows.append(Row(suspect.sample.key, detail))
    message = "read as something very different; the texts may belong to other lines"
    return tuple(finding_if(Severity.WARNING, "misaligned", message, rows))


def report_text(report: Report) -> str:
    """The report as text."""
    rows = [
        (name, *(f"{number:,}" for number in (size.lines, size.pages, size.characters, size.alphabet)))
        for name, size in report.sizes.items()
    ]
    lines = [table(["split", "lines", "pages", "characters", "alphabet"], rows)]
    for finding in report.findings:
        lines.append(f"\n{finding.severity}: {finding.check}, {len(finding.rows):,}: {finding.message}")
        lines += [f"  {row}" for row in islice(finding.rows, SHOWN)]
        if len(finding.rows) > SHOWN:
            lines.append(f"  … {len(finding.rows) - SHOWN:,} more; --json has all")
    counts = [sum(finding.severity is severity for finding in report.findings) for severity in Severity]
    total = ", ".join(map(counted, counts, Severity))
    return "\n".join([*lines, f"\n{total}. Nothing was changed or dropped."])


def report_json(report: Report) -> dict[str, Any]:
    """The whole report as plain values."""
    return {"sound": report.sound, "splits": {name: asdict(size) for name, size in report.sizes.items()}} | {
        # JSON would write named tuples as lists.
        "findings": [{**vars(finding), "rows": [row._asdict() for row in finding.rows]} for finding in report.findings]
    }


def draw_suspects(report: Report, splits: Splits, suspects: Sequence[Suspect], path: Path) -> str:
    """Draw the suspect lines; returns a message about the picture."""
    samples = {sample.key: sample for of_split in splits.values() for sample in of_split}
    readings = {suspect.sample.key: suspect.reading.text for suspect in suspects}
    chosen: dict[str, str] = {}
    for check in PICTURED:
        for finding in report.findings:
            if finding.check == check:
                chosen |= {
                    row.key: check for row in finding.rows if row.key not in chosen and readable(samples[row.key])
                }
    cells = []
    for key, why in islice(chosen.items(), DRAWN):
        read = f"\nread: {readings[key]}" if key in readings else ""
        cells.append((samples[key].line(), f"{why}: {key}\ntext: {samples[key].text}{read}"))
    if not cells:
        return "No suspect lines to draw."
    write_png(path, contact_sheet(cells))
    return f"{path}: {len(cells)} of {len(chosen):,} suspect lines"
