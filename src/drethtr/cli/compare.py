"""`drethtr compare`: two models, or two decoders, on the same lines."""

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from drethtr.cli.choices import DeviceName, decoder_named, device_named
from drethtr.cli.files import write_text
from drethtr.cli.provenance import provenance_of
from drethtr.errors import CheckpointError, DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drethtr.data.sample import Sample
    from drethtr.decoding.strategies import Decoder
    from drethtr.documents.document import Provenance
    from drethtr.evaluation.compare import Comparison, Difference, OfConfidence
    from drethtr.reading import Reading

CONVENTION = (
    "Differences are B less A in points, below 0 where B is better; in brackets the 95 % interval of a paired "
    "bootstrap over pages, or lines where pages are unknown. Rates as drethtr evaluate counts them."
)
CONFUSIONS_SHOWN = 12


class System(NamedTuple):
    """What reads: the name a person gave, its model file and its decoder, None for the usual."""

    name: str
    model: Path | None
    decoder: "Decoder | None"


class Side(NamedTuple):
    """A or B when it has read: its name, what it turned out to be, and its readings."""

    name: str
    made_by: "Provenance"
    decoder: str
    readings: "list[Reading]"

    def __str__(self) -> str:
        return f"{self.name} ({self.made_by}, {self.decoder})"


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="MODEL, MODEL:DECODER or :DECODER for the package's model.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The same; runs/new.safetensors:beam:5 or :ctc.")],
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="Parquet, TSV, JSONL, folders, patterns.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many lines of each set, drawn by --seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same lines.")] = 0,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="A report with pictures of lines, in one file.")
    ] = None,
    lines_shown: Annotated[int, typer.Option("--lines", min=1, help="How many lines the report shows.")] = 60,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures here.")
    ] = None,
    device: DeviceName = "auto",
) -> None:
    """Say which of two reads the same lines better, where, and how sure that is."""
    from drethtr.cli.compare_page import comparison_page
    from drethtr.data.sources import open_all
    from drethtr.evaluation.compare import compare_readings
    from drethtr.evaluation.evaluate import to_read

    systems = system(a), system(b)
    for path in (html_file, json_file):
        if path is not None and not path.parent.is_dir():
            raise DataError(f"{path}: there is no folder {path.parent}")
    samples = to_read(open_all(data), limit, seed)
    sides = read(systems[0], samples, device), read(systems[1], samples, device)
    found = compare_readings(samples, *(side.readings for side in sides))
    typer.echo(summary(found, *sides))
    if html_file is not None:
        write_text(html_file, comparison_page(found, *sides, convention=CONVENTION, lines=lines_shown))
    if json_file is not None:
        write_text(json_file, json.dumps(plain(found, *sides), ensure_ascii=False, indent=1) + "\n")


def system(spec: str) -> System:
    """What a person means by `model.safetensors:beam:5`, `model.safetensors` or `:ctc`.

    Raises:
        CheckpointError: if there is no such model.
        ConfigError: if there is no such decoder.
    """
    if spec and Path(spec).exists():
        return System(spec, Path(spec), None)
    for place, character in enumerate(spec):  # a path may have a colon of its own, such as that of a drive
        if character == ":" and (place == 0 or Path(spec[:place]).exists()):
            return System(spec, Path(spec[:place]) if place else None, decoder_named(spec[place + 1 :]))
    if not spec:
        return System(spec, None, None)
    raise CheckpointError(f"{spec}: no such model file; give MODEL, MODEL:DECODER or :DECODER, as in :beam:5")


def read(which: System, samples: "Sequence[Sample]", device: str) -> Side:
    """Let one of the two read, showing how far it is."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import read_lines
    from drethtr.recognizer import Recognizer

    recognizer = Recognizer.load(which.model, decoder=which.decoder, device=device_named(device))
    with tqdm(total=len(samples), unit="line", desc=which.name, disable=None) as bar:
        found = read_lines(recognizer, samples, bar.update)
    return Side(which.name or "package", provenance_of(recognizer), repr(recognizer.decoder), found)


def summary(found: "Comparison", a: Side, b: Side) -> str:
    """What was found, for people."""
    rows = [found.cer, found.wer]
    parts = [f"A: {a}", f"B: {b}", "", *table("all lines", rows), "", *table("CER by set", found.sets)]
    parts += ["", *table("CER by length", found.lengths), "", *confidence_table(found), "", *confusion_table(found)]
    return "\n".join([*parts, "", CONVENTION, f"CER: {found.cer.verdict}."])


def table(title: str, rows: "Sequence[Difference]") -> list[str]:
    """Differences, a row each."""
    width = max(len(title), *(len(row.name) for row in rows))
    lines = [f"{title:{width}}  {'lines':>6}  {'A %':>6}  {'B %':>6}  {'B - A':>22}  B better"]
    for row in rows:
        difference = f"{100 * row.difference:+.2f} [{100 * row.low:+.2f}, {100 * row.high:+.2f}]"
        rates = f"{100 * row.a:>6.2f}  {100 * row.b:>6.2f}  {difference:>22}  {row.better:>8.0%}"
        lines.append(f"{row.name:{width}}  {row.lines:>6,}  {rates}")
    return lines


def confidence_table(found: "Comparison") -> list[str]:
    """How right each of the two is where it is so sure."""
    from drethtr.evaluation.compare import CONFIDENCES

    lines = [f"{'confidence':13}  {'lines A':>8}  {'CER A %':>8}  {'lines B':>8}  {'CER B %':>8}"]
    of_a = {row.name: row for row in found.confidences_a}
    of_b = {row.name: row for row in found.confidences_b}
    for name in [name for name, _ in CONFIDENCES if name in of_a or name in of_b]:
        lines.append(f"{name:13}  {confidence_cell(of_a.get(name))}  {confidence_cell(of_b.get(name))}")
    return lines


def confidence_cell(row: "OfConfidence | None") -> str:
    """Lines and error rate of one class of confidence."""
    return f"{row.lines:>8,}  {100 * row.cer:>8.2f}" if row else f"{0:>8}  {'':>8}"


def confusion_table(found: "Comparison") -> list[str]:
    """The most frequent confusions of both."""
    lines = [f"{'written':8}  {'read':8}  {'A':>6}  {'B':>6}"]
    for one in islice(found.confusions, CONFUSIONS_SHOWN):
        lines.append(f"{shown(one.written):8}  {shown(one.read):8}  {one.a:>6,}  {one.b:>6,}")
    return lines


def shown(character: str) -> str:
    """A character that can be seen, or that there is none."""
    return {"": "(none)", " ": "(space)"}.get(character, character)


def plain(found: "Comparison", a: Side, b: Side) -> dict[str, Any]:
    """The comparison in plain values; rates are fractions."""
    return {
        "convention": CONVENTION,
        "a": a.name,
        "b": b.name,
        "verdict": found.cer.verdict,
        **{name: asdict(getattr(found, name)) for name in ("cer", "wer")},
        **{
            name: [asdict(row) for row in getattr(found, name)]
            for name in ("sets", "lengths", "confidences_a", "confidences_b", "confusions")
        },
        "made_by": {name: side.made_by.to_json() | {"decoder": side.decoder} for name, side in (("a", a), ("b", b))},
    }
