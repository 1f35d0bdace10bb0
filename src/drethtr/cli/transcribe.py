"""`drethtr transcribe`: images of handwriting in, lines or pages; their text out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ModelFile,
    PrecisionName,
    decoder_named,
    device_named,
    precision_named,
)
from drethtr.cli.doubts import Doubts
from drethtr.cli.files import find_images, make_folder
from drethtr.cli.formats import FORMATS, TEXT_WITH_DOUBTS, Entry
from drethtr.cli.line_images import Show, plan_lines, read_all, to_files, to_screen
from drethtr.cli.page_work import left_to_do
from drethtr.cli.pages import AUTO, WHOLE, Count, PageOptions, as_one_line, transcribe_pages
from drethtr.cli.provenance import provenance_of
from drethtr.config import named
from drethtr.errors import ConfigError, DataError

if TYPE_CHECKING:
    from drethtr.recognizer import Recognizer
    from drethtr.transcription.source import Original


def transcribe(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help="Images of lines or pages, PDFs, PAGE or ALTO files, folders of them, patterns."
        ),
    ],
    model: ModelFile = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="txt if left out; page, alto, hocr, json, pdf, csv, html, with commas between; of lines tsv.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A folder for the results; the screen if left out.")] = None,
    lines: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where lines come from: given by PAGE or ALTO; whole, the image is one; found by rapid, projection or "
            "kraken. auto: given, else whole if lower than 300 pixels or 5 times as wide as high, else rapid.",
        ),
    ] = AUTO,
    update: Annotated[bool, typer.Option("--update", help="Write the text into the PAGE or ALTO files read.")] = False,
    doubts: Annotated[
        bool,
        typer.Option("--doubts", help="Mark doubtful words as \\[word?], behind odd lines \\[!kind: reason]; for txt."),
    ] = False,
    alternatives: Annotated[
        int, typer.Option(min=0, max=99, help="Give so many other texts of each line, behind the one read; for json.")
    ] = 0,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace files and texts that exist.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say what each file was taken for.")] = False,
    check_drift: Annotated[
        bool, typer.Option("--check-drift", help="Also measure how far rounding moves the decoder; slow.")
    ] = False,
) -> None:
    """Read images of handwriting: single lines, or pages whose lines are given or found.

    A file that cannot be read is named and skipped, and the exit code is 1; it is 2 if nothing could be read.
    """
    names = formats_named(format if format is not None or update else "txt", doubts=doubts)
    if alternatives and "json" not in names:
        raise ConfigError(
            f"--alternatives are written in json; {', '.join(names) or 'PAGE or ALTO'} has no place for them"
        )
    chosen = decoder_named(decoder) if decoder is not None else None
    exactness, drifts = precision_named(precision), [0.0]
    if output is not None:
        refuse_name_of_file(output, names)
    files, errors = find_images(inputs, output, endings_of(names))
    alone = len(files) + len(errors) == 1

    def load() -> "Recognizer":
        from drethtr.recognizer import Recognizer

        if output is not None:
            make_folder(output)
        return Recognizer.load(
            model,
            decoder=chosen,
            device=device_named(device),
            precision=exactness,
            alternatives=alternatives,
            on_drift=drifts.append if check_drift else None,
        )

    of_lines = only_lines(files, lines) if len(names) == 1 and names[0] in FORMATS and not update else None
    if of_lines is not None:
        images, unreadable = of_lines
        errors += unreadable
        report_all(errors)
        works = plan_lines(images, names[0], output)
        waiting = left_to_do(works, len(files), force=force)
        written = TEXT_WITH_DOUBTS if doubts else FORMATS[names[0]]
        show = to_files(written, works) if output is not None else to_screen(written, alone=alone)
        read = transcribe_lines([work.path for work in waiting], load, show, verbose=verbose)
        count = read._replace(done=read.done + len(works) - len(waiting))
    else:
        if alternatives:
            raise ConfigError("--alternatives are given for images of single lines, with --format json alone")
        options = PageOptions(names, output, lines, update=update, doubts=doubts, force=force, verbose=verbose)
        report_all(errors)
        count = transcribe_pages(files, load, options, report, alone=alone)
    if check_drift:
        report_drift(max(drifts))
    if failed := count.failed + len(errors):
        raise typer.Exit(1 if failed and count.done else 2)


def formats_named(text: str | None, *, doubts: bool) -> tuple[str, ...]:
    """The formats a person means by their names with commas between, each once.

    Raises:
        ConfigError: naming one that is unknown.
    """
    from drethtr.documents.formats import FORMATS as OF_PAGES

    names = tuple(dict.fromkeys(name.strip() for name in text.split(","))) if text is not None else ()
    known = dict.fromkeys((*OF_PAGES, *FORMATS))
    for name in names:
        named("format", name, known)
    if doubts and "txt" not in names:
        raise ConfigError(
            f"--doubts marks words in txt; {', '.join(names) or 'PAGE or ALTO'} has the confidences as it is"
        )
    return names


def refuse_name_of_file(output: Path, names: Sequence[str]) -> None:
    """Refuse to make a folder `out.txt` for a person who means a file.

    Raises:
        ConfigError: saying what the folder is for.
    """
    endings = {f".{ending.rpartition('.')[2]}" for ending in (*names, *endings_of(names))}
    if output.suffix.lower() in endings and not output.exists():
        raise ConfigError(f"--output {output}: results are named after their images; give the folder they should be in")


def endings_of(names: Sequence[str]) -> list[str]:
    """How files of these formats end that hold pages."""
    from drethtr.documents.formats import FORMATS as OF_PAGES

    return [OF_PAGES[name].ending for name in names if name in OF_PAGES]


def only_lines(files: Sequence[Path], lines: str) -> "tuple[dict[Path, tuple[Original, ...]], list[DataError]] | None":
    """The images of single lines, and why other files cannot be opened; None if one is something else."""
    from drethtr.transcription.source import open_originals

    if lines not in (AUTO, WHOLE):
        return None
    images, errors = {}, []
    for file in files:
        try:
            originals = open_originals(file)
            whole = lines == WHOLE and all(original.is_alone and original.description is None for original in originals)
            if not (whole or all(original.is_line for original in originals)):
                return None
        except DataError as error:
            errors.append(error)
        else:
            images[file] = originals
    return images, errors


def report(error: DataError) -> None:
    """Name what was skipped."""
    typer.echo(f"drethtr: {error}", err=True)


def report_all(errors: Sequence[DataError]) -> None:
    """Name all that was skipped."""
    for error in errors:
        report(error)


def report_drift(drift: float) -> None:
    """Say how far the two forms of the decoder are apart, and warn if it is too far."""
    from drethtr.decoding.drift import TOLERANCE

    far = "more than" if drift > TOLERANCE else "within"
    typer.echo(
        f"drift: log-probabilities of the parallel and the recurrent form differ by at most {drift:.1e}, "
        f"{far} the tolerated {TOLERANCE:g}",
        err=True,
    )
    if drift > TOLERANCE:
        typer.echo(
            "warning: the text may depend on the decoder's form; compare --decoder greedy and verified", err=True
        )


def transcribe_lines(images: Sequence[Path], load: "Callable[[], Recognizer]", show: Show, *, verbose: bool) -> Count:
    """Read images of single lines and show what they say."""
    if not images:
        return Count(0, 0)
    recognizer, done, doubts = load(), 0, Doubts()
    made_by = provenance_of(recognizer)
    for image, result in read_all(recognizer, images):
        try:
            if isinstance(result, DataError):
                raise result
            if verbose:
                typer.echo(as_one_line(str(image)), err=True)
            show(Entry(image, result, made_by))
        except DataError as error:
            report(error)
        else:
            doubts.see_line(result)
            done += 1
    if done:
        typer.echo(doubts, err=True)
    return Count(done, len(images) - done)
