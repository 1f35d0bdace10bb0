"""`drethtr model compare`: compare two models or decoders on the same lines."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.base.files import write_text
from drethtr.cli.options import ForceResults, JSONFile, Limit, LineData, ReadingOptions, Seed, with_reading_options
from drethtr.cli.outputs import printed_after, refuse_results, write_json
from drethtr.cli.progress import exit_if_left_out, open_lines, read_usable
from drethtr.cli.reports import NOT_CALIBRATED, between, table
from drethtr.cli.screen import echo
from drethtr.datasets.sample import Sample
from drethtr.evaluation.compare import (
    CONVENTION,
    Comparison,
    Difference,
    Side,
    compare_lines,
    confidence_rows,
    shown,
    to_json,
    without_text,
)
from drethtr.evaluation.reading import ScoredLine, to_read
from drethtr.pictures.comparison_page import comparison_page
from drethtr.recognition.recognizer import Recognizer

LINES_SHOWN = 60  # with images; enough to look through, the JSON has all
CONFUSIONS_SHOWN = 12  # the most frequent; JSON has all


class System(NamedTuple):
    """One of the two systems: its name as typed, model file and decoder, where None is the default."""

    name: str
    model: Path | None
    decoder: str | None


@with_reading_options(without=["model", "decoder"])
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="MODEL or MODEL:DECODER; : or :DECODER is the included model.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Likewise: runs/new.safetensors:beam:5 or :ctc.")],
    data: LineData,
    limit: Limit = None,
    seed: Seed = 0,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with line images, in one file.")
    ] = None,
    lines_shown: Annotated[
        int | None,
        typer.Option("--shown", metavar="N", min=1, help=f"Lines in the report; default: {LINES_SHOWN}."),
    ] = None,
    json_file: JSONFile = None,
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Compare two models or decoders on the same lines, with confidence intervals.

    Lines with damaged images are reported and left out; the exit code is then 1.
    """
    if lines_shown is not None and html_file is None:
        raise ConfigError("--shown needs --html; add it, or leave out --shown")
    systems = system(a), system(b)
    refuse_results(html_file, json_file, force=force, inputs=data)
    wanted = to_read(open_lines(data), limit, seed)
    # Both are loaded before the first reads, so that errors appear at once.
    readers = [replace(reading, model=which.model, decoder=which.decoder).load() for which in systems]
    for name, one in zip("AB", readers, strict=True):
        if one.calibration is None:
            echo(f"{name}: {NOT_CALIBRATED}", err=True)
    sides = [Side(which.name, one.provenance(), one.settings) for which, one in zip(systems, readers, strict=True)]
    of_a, of_b = read_by_both(sides, readers, wanted)
    found = compare_lines(of_a, of_b)
    with printed_after(summary(found, *sides)):
        if html_file is not None:
            write_text(html_file, comparison_page(found, *sides, lines=lines_shown or LINES_SHOWN))
        if json_file is not None:
            write_json(json_file, to_json(found, *sides))
    exit_if_left_out(wanted, of_a)


def system(spec: str) -> System:
    """Parse `model.safetensors:beam:5`, `model.safetensors`, `:ctc` or `:`.

    Raises:
        CheckpointError: if there is no such model.
        ConfigError: if there is no such decoder.
    """
    if spec == ":":
        return System("the included model", None, None)
    if spec and Path(spec).exists():
        return System(spec, Path(spec), None)
    for place, character in enumerate(spec):  # the path itself may contain a colon, as in C:\models
        if character == ":" and (place == 0 or Path(spec[:place]).exists()):
            model, decoder = spec[:place], spec[place + 1 :]
            ReadingOptions(decoder=decoder or None).refuse_decoder()
            return System(spec, Path(model) if model else None, decoder or None)
    raise CheckpointError("no such model file; give MODEL, MODEL:DECODER or :DECODER, as in :beam:5", spec)


def read_by_both(
    sides: Sequence[Side], readers: Sequence[Recognizer], samples: Sequence[Sample]
) -> tuple[list[ScoredLine], list[ScoredLine]]:
    """The readings by A and by B of the lines that both can read; other lines are reported once each."""
    of_a = read_usable(readers[0], samples, sides[0].name)
    of_b = read_usable(readers[1], [line.sample for line in of_a], sides[1].name)
    both = {line.sample for line in of_b}
    return [line for line in of_a if line.sample in both], of_b


def summary(found: Comparison, a: Side, b: Side) -> str:
    """The comparison as text."""
    confidences = table(["confidence", "lines A", "CER A %", "lines B", "CER B %"], confidence_rows(found))
    confused = [
        (shown(one.written), shown(one.read), f"{one.a:,}", f"{one.b:,}") for one in found.confusions[:CONFUSIONS_SHOWN]
    ]
    confusions = [table(["written", "read", "A", "B"], confused, left=2)] if confused else []
    parts = [f"A: {a}\nB: {b}", differences("all lines", [found.cer, found.wer])]
    parts += [differences("CER by set", found.sets), differences("CER by length", found.lengths)]
    parts += [confidences, *confusions, CONVENTION + (f"\n{without_text(found)}" if found.empty else "")]
    return "\n\n".join(parts) + f"\nCER: {found.cer.verdict}."


def differences(title: str, rows: Sequence[Difference]) -> str:
    """Error rates of both systems and their differences in percent, a row per group of lines."""
    return table(
        [title, "lines", "A %", "B %", "B - A", "B better"],
        [
            (
                row.name,
                f"{row.lines:,}",
                f"{100 * row.a:.2f}",
                f"{100 * row.b:.2f}",
                between(row.difference, row.low, row.high, sign="+") if row.sure else f"{100 * row.difference:+.2f}",
                f"{row.better:.0%}" if row.sure else "",
            )
            for row in rows
        ],
    )
