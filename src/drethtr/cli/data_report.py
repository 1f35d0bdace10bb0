"""The report of `drethtr data check`: text, JSON and a picture."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.cli.outputs import write_png
from drethtr.datasets.checks import Report
from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.datasets.sample import choose

if TYPE_CHECKING:
    from drethtr.datasets.sample import Sample
    from drethtr.evaluation.misaligned import Suspect

SHOWN = 5  # lines listed per finding; --json has all
DRAWN = 40  # lines in the picture
PICTURED = ("misaligned", "contrary duplicates", "crowded line", "roomy line", "blank image", "empty text")
"""Findings that a picture of the line helps to judge, the most serious first."""


def read_suspects(splits: Splits, limit: int, model: Path | None, seed: int, device: str) -> "list[Suspect]":
    """Find lines whose text the model contradicts, among up to `limit` per set; none if its alphabet is too small."""
    from tqdm import tqdm

    from drethtr.datasets.sample import clean_lines
    from drethtr.evaluation.evaluate import count_unknown
    from drethtr.evaluation.misaligned import misaligned
    from drethtr.recognition.recognizer import Recognizer

    recognizer = Recognizer.load(model, device=device)
    every = [sample for samples in splits.values() for sample in samples]
    written = [sample for sample in clean_lines(every) if sample.text.strip()]
    chosen = [sample for sample in choose(written, limit, seed) if readable(sample)]
    try:
        count_unknown(recognizer, chosen)
    except DataError as error:
        typer.echo(f"Misaligned lines were not checked: {error}")
        return []
    with tqdm(total=len(chosen), unit="line", disable=None) as bar:
        suspects = misaligned(recognizer, chosen, every, advance=bar.update)
    more = "; increase --read to read more" if len(chosen) < len(written) else ""
    typer.echo(f"{len(chosen):,} of {len(every):,} lines were read to find misaligned texts{more}.")
    return suspects


def readable(sample: "Sample") -> bool:
    """Whether the image of a line can be opened."""
    try:
        sample.line()
    except DataError:
        return False
    return True


def findings_of(suspects: "Sequence[Suspect]") -> tuple[Finding, ...]:
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
    width = max(len(name) for name in report.sizes)
    lines = [f"{'split':{width}}  {'lines':>8}  {'pages':>6}  {'characters':>10}  {'alphabet':>8}"]
    for name, size in report.sizes.items():
        row = f"{size.lines:>8,}  {size.pages:>6,}  {size.characters:>10,}  {size.alphabet:>8,}"
        lines.append(f"{name:{width}}  {row}")
    for finding in report.findings:
        lines.append(f"\n{finding.severity}: {finding.check}, {len(finding.rows):,}: {finding.message}")
        lines += [f"  {row}" for row in islice(finding.rows, SHOWN)]
        if len(finding.rows) > SHOWN:
            lines.append(f"  ... {len(finding.rows) - SHOWN:,} more; --json has all")
    counts = [sum(finding.severity is severity for finding in report.findings) for severity in Severity]
    total = ", ".join(map(counted, counts, Severity))
    return "\n".join([*lines, f"\n{total}. Nothing was changed or dropped."])


def report_json(report: Report) -> dict[str, Any]:
    """The whole report as plain values."""
    return {"sound": report.sound, "splits": {name: asdict(size) for name, size in report.sizes.items()}} | {
        "findings": [plain(finding) for finding in report.findings]
    }


def plain(finding: Finding) -> dict[str, Any]:
    """A finding as plain values; json would write named tuples as lists."""
    return {**vars(finding), "rows": [row._asdict() for row in finding.rows]}


def draw_suspects(report: Report, splits: Splits, suspects: "Sequence[Suspect]", path: Path) -> str:
    """Draw the suspect lines; returns a message about the picture."""
    from drethtr.pictures.contact_sheet import contact_sheet

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
