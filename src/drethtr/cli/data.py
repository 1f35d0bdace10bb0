"""`drethtr data`: import and check transcribed lines, and find gaps between words."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.errors import ConfigError, DataError
from drethtr.cli.choices import DeviceName, ForceResults
from drethtr.cli.outputs import refuse_ending, refuse_existing, refuse_places, refuse_results, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drethtr.lines.importers.importer import Entry, Importer, Tally

app = typer.Typer(no_args_is_help=True, help="Import and check transcribed lines, and find gaps between words.")

SPLITS = ("train", "val", "test", "")
SHOWN = 3  # lines listed per reason; --json has all


@app.command("import")
def import_lines(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The folder, file or ZIP export to import.")],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="OUT.parquet; OUT.train.parquet and so on where there are splits.")
    ],
    layout: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Layout of SOURCE, such as iam-xml; default: detect it."),
    ] = None,
    splits: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder with lists of line or page names: train.txt, val.lst, test.uttlist."
        ),
    ] = None,
    set_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the data set; default: the layout's.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--lang", metavar="LANGUAGE", help="Language of the lines, such as de.")
    ] = None,
    unconfirmed: Annotated[
        bool,
        typer.Option("--unconfirmed", help="From a folder of drethtr edit, also import unconfirmed lines."),
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write what was imported and left out to this file."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing files, including those of all splits.")
    ] = False,
) -> None:
    """Import line images and texts of a known layout to Parquet files; images are copied as they are where possible."""
    from dataclasses import replace

    from drethtr.base.archive import as_given, is_archive, unpack_once
    from drethtr.lines.importers import importer_for
    from drethtr.lines.importers.hugging_face import HuggingFace
    from drethtr.lines.importers.importer import Tally
    from drethtr.lines.importers.pages import Pages
    from drethtr.lines.importers.splits import by_lists, read_lists

    refuse_name(output)
    outputs = [file_of(output, split) for split in SPLITS]
    refuse_places(output, *outputs)  # output first, since errors should name what was typed
    refuse_results(*outputs, json_file, force=force, inputs=[str(source)])
    folder = unpack_once(source) if is_archive(source) else source
    importer = importer_for(folder, layout)
    if unconfirmed:
        if not isinstance(importer, Pages):
            raise ConfigError("--unconfirmed is for folders of PAGE or ALTO files; leave it out")
        importer = replace(importer, unconfirmed=True)
    if isinstance(importer, HuggingFace) and output.resolve().is_relative_to(source.resolve()):
        raise DataError(f"{output} is inside {source}, where the next import would read it; write it elsewhere")
    typer.echo(f"Layout {importer.name}. {importer.layout}.")
    entries: Iterable[Entry] = importer.entries(folder)
    if splits is not None:
        entries = by_lists(entries, read_lists(splits))
    tally = Tally()
    write_lines(entries, output, tally, set_name, language)
    left_out = {reason: list(map(as_given, keys)) for reason, keys in tally.left_out.items()}
    tally = replace(tally, left_out=left_out)
    if json_file is not None:
        write_json(json_file, {"layout": importer.name, "convention": importer.convention, **vars(tally)})
    if not tally.lines:
        raise DataError(f"no line could be imported{reasons(tally)}", source)
    typer.echo(summary(importer, tally, output))
    for split in SPLITS:
        if split not in tally.lines and (earlier := file_of(output, split)).exists():
            earlier.unlink()
            typer.echo(f"{earlier}: removed, since it belongs to the import that this one replaces")


def refuse_name(output: Path) -> None:
    """Refuse an output whose name does not end in .parquet."""
    if output.suffix != ".parquet":
        raise DataError("the output file name must end in .parquet", output)


def write_lines(
    entries: "Iterable[Entry]", output: Path, tally: "Tally", set_name: str | None, language: str | None
) -> None:
    """Write every entry to the file of its split, and count it."""
    from dataclasses import replace

    from tqdm import tqdm

    from drethtr.lines.importers.importer import checked
    from drethtr.lines.sample import LeftOut
    from drethtr.lines.write_parquet import ParquetStore

    stores: dict[str, ParquetStore] = {}
    with ExitStack() as stack:
        for entry in map(checked, tqdm(entries, unit="line", disable=None)):
            tally.count(entry)
            if isinstance(entry, LeftOut):
                continue
            if entry.split not in stores:
                stores[entry.split] = stack.enter_context(ParquetStore(file_of(output, entry.split)))
            named = replace(entry.sample, set=set_name or entry.sample.set, language=language or entry.sample.language)
            stores[entry.split].add(named)


def file_of(output: Path, split: str) -> Path:
    """The output file of a split."""
    return output.with_suffix(f".{split}.parquet") if split else output


def summary(importer: "Importer", tally: "Tally", output: Path) -> str:
    """A summary of an import."""
    lines = [f"{file_of(output, split)}: {tally.lines[split]:,} lines" for split in SPLITS if split in tally.lines]
    sizes = tuple(tally.lines.get(split, 0) for split in SPLITS[:3])
    if importer.known and not tally.lines.keys() - set(SPLITS[:3]):
        known = importer.known.get(sizes)
        lines.append(f"Split: {known}." if known else f"Split: sizes {sizes}, not a published split.")
    return "\n".join([*lines, f"Convention: {importer.convention}.{reasons(tally)}"])


def reasons(tally: "Tally") -> str:
    """What was left out and why, as text."""
    lines: list[str] = []
    for reason, keys in tally.left_out.items():
        more = len(keys) - SHOWN
        lines += [f"{len(keys):,} left out, {reason}:", *(f"  {key}" for key in keys[:SHOWN])]
        lines += [f"  and {more:,} more"] if more > 0 else []
    return "".join(f"\n{line}" for line in lines)


@app.command()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="DATA", help="Parquet, TSV, JSONL, PAGE, ALTO, folders, patterns.")
    ],
    read: Annotated[
        int, typer.Option(min=0, metavar="N", help="Read up to N lines per set to find misaligned ones; 0: none.")
    ] = 200,
    model: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Model that reads them; default: the included one.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed draws the same lines to read.")] = 0,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture of the suspect lines (.png).")
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write all findings with their lines to this file."),
    ] = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
) -> None:
    """Check lines for problems that spoil training or evaluation, without changing them; exit code 1 on errors.

    Files with train, val or test in their names are those splits; all other files form one more split.
    """
    from drethtr.cli.data_report import draw_suspects, findings_of, read_suspects, report_json, report_text
    from drethtr.lines import checks
    from drethtr.lines.checks.open import open_splits

    refuse_ending(picture, ".png")
    refuse_results(picture, json_file, force=force, inputs=files)
    splits, unusable = open_splits(files)
    suspects = read_suspects(splits, read, model, seed, device) if read else []
    report = checks.check(splits, (*unusable, *findings_of(suspects)))
    typer.echo(report_text(report))
    if picture is not None:
        typer.echo(draw_suspects(report, splits, suspects, picture))
    if json_file is not None:
        write_json(json_file, report_json(report))
    if not report.sound:
        raise typer.Exit(1)


@app.command()
def gaps(
    files: Annotated[list[str], typer.Argument(metavar="DATA", help="Lines to train on: Parquet, folders, patterns.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Output file (.parquet).")],
    model: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Model that finds them; default: the included one.")
    ] = None,
    device: DeviceName = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Find the gaps between words, so that training can recombine the words of a page into new lines."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import to_read
    from drethtr.evaluation.word_gaps import word_gaps
    from drethtr.lines.sources import open_all
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.synthesis.recombination import write_gaps

    refuse_name(output)
    refuse_places(output)
    refuse_existing(output, force=force, inputs=files)
    samples = to_read(open_all(files))
    recognizer = Recognizer.load(model, device=device)
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        found = word_gaps(recognizer, samples, bar.update)
    write_gaps(found, output)
    typer.echo(f"{output}: {sum(map(len, found.values())):,} gaps in {len(found):,} of {len(samples):,} lines")
