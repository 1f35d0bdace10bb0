"""`drethtr transcribe` for pages: each file is one document, written in every format that is asked for."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from drethtr.base.errors import ConfigError, DataError
from drethtr.cli.doubts import Doubts, write_with_doubts
from drethtr.cli.outputs import is_there, write_bytes
from drethtr.cli.provenance import provenance_of
from drethtr.cli.sheets import on_screen, read_sheets, write_all
from drethtr.cli.shelf import ReadPage
from drethtr.cli.where_lines import Lines, Named
from drethtr.cli.work import Count, Work, as_one_line, left_to_do, plan, refuse_overwriting, report

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance, Sheet
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer

NOT_ON_SCREEN = frozenset({"pdf", "html"})

SHOWN = 10
"""So many lines that could not be read are named."""


@dataclass(frozen=True)
class PageOptions:
    """What a person chose, as `drethtr transcribe --help` tells it."""

    names: tuple[str, ...]
    output: Path | None
    lines: Lines
    update: bool
    doubts: bool
    force: bool
    verbose: bool

    def __post_init__(self) -> None:
        from drethtr.documents.formats import FORMATS

        if self.update and isinstance(self.lines, Named):
            raise ConfigError(f"--update writes into the lines that are given; leave out --lines {self.lines.name}")
        if of_lines := set(self.names) - FORMATS.keys():
            raise ConfigError(f"{min(of_lines)} must be the only format, and only for line images; otherwise take csv")
        if self.output is None and (len(self.names) > 1 or set(self.names) & NOT_ON_SCREEN):
            raise ConfigError(f"--format {','.join(self.names)} needs a folder to write to; give --output")
        for format in self.formats.values():
            format.refuse_missing()

    @property
    def keep(self) -> bool:
        """Whether given lines that have text are left as they are."""
        return self.update and not self.force

    @property
    def formats(self) -> "Mapping[str, Format]":
        """How to write each of the formats."""
        from drethtr.documents.formats import FORMATS

        formats = {name: FORMATS[name] for name in self.names}
        return formats | {"txt": FORMATS["txt"]._replace(write=write_with_doubts)} if self.doubts else formats


def transcribe_pages(
    files: Sequence[Path], load: "Callable[[], Recognizer]", options: PageOptions, *, alone: bool
) -> Count:
    """Read files of pages and write what is asked for; `alone` if a person gave but one."""
    from tqdm import tqdm

    works = [work for file in files if (work := open_work(file, options)) is not None]
    if options.output is not None:
        refuse_overwriting(works, options.output)
    else:
        refuse_joined(works, options.formats)
    waiting = left_to_do(works, len(files), force=options.force)
    done, failed = len(works) - len(waiting), len(files) - len(works)
    if not waiting:
        return Count(done, failed)
    doubts = Doubts()
    recognizer = load()
    provenance = provenance_of(recognizer)
    way = f"{provenance}, {recognizer.strategy!r}, {recognizer.precision.value}, {options.lines!r}"

    with tqdm(total=sum(len(work.originals) for work in waiting), unit="page", disable=None) as bar:
        read = reader(recognizer, options, bar.update)
        for work in waiting:
            if options.force and work.shelf is not None:
                work.shelf.clear_pages()
            sheets = read_sheets(work, read, way, provenance)
            bad = sheets.count(None)
            failed += bad
            try:
                for original, sheet in zip(work.originals, sheets, strict=True):
                    if sheet is not None:
                        doubts.see_page(sheet.page, kept_lines(original, options))
                if bad < len(sheets):
                    finish(work, sheets, provenance, options, alone=alone)
                    done += 1
            except DataError as error:
                report(error)
                failed += 1
    typer.echo(doubts, err=True)
    return Count(done, failed)


def refuse_joined(works: Sequence[Work], formats: "Mapping[str, Format]") -> None:
    """Refuse to show several files of a format one after the other, as they would be none together; text may be."""
    for name, format in formats.items():
        files = len(works) if format.together else sum(len(work.originals) for work in works)
        if files > 1 and format.ending != ".txt":
            raise ConfigError(f"--format {name} makes {files} files here; give --output, the folder for them")


def open_work(file: Path, options: PageOptions) -> Work | None:
    """The work on a file; None if it cannot be done, after saying why."""
    from drethtr.pages.source import open_originals

    try:
        originals = open_originals(file)
        if options.update and (originals[0].description is None or file.suffix.lower() == ".json"):
            raise DataError(f"{file}: is neither PAGE nor ALTO; --update writes into those")
        if options.update and not originals[0].has_lines:
            raise DataError(
                f"{file}: has no lines to write text into; leave out --update, write a new file by --format"
            )
        taken = tuple(map(options.lines.takes, originals))
    except DataError as error:
        report(error)
        return None
    return plan(file, taken, options.formats, options.output, update=options.update)


def reader(recognizer: "Recognizer", options: PageOptions, advance: Callable[[], object]) -> ReadPage:
    """What reads a page as a person chose."""
    from tqdm import tqdm

    from drethtr.pages.transcribe import transcribe

    def read(original: "Original") -> "Page":
        finder = options.lines.finder(original)
        try:
            page = transcribe(original, recognizer, finder, keep=options.keep)
        finally:
            advance()
        if not page.lines:
            tqdm.write(f"{original.name}: no lines found", file=sys.stderr)
        if unread := lines_unread(original, page):
            tqdm.write(unread, file=sys.stderr)
        if options.verbose:
            tqdm.write(taken_for(original, page, options.lines), file=sys.stderr)
        return page

    return read


def kept_lines(original: "Original", options: PageOptions) -> frozenset[str]:
    """The ids of the given lines that are not read, as they have text.

    Raises:
        DataError: if their description cannot be read any more.
    """
    given = original.given() if options.keep else None
    lines = given.lines if given is not None else ()
    return frozenset(line.id for line in lines if line.transcription is not None)


def lines_unread(original: "Original", page: "Page") -> str:
    """Which of the lines that were given could not be read; nothing if all were."""
    unread = [line.id for line in page.lines if line.transcription is None]
    if not unread:
        return ""
    shown = ", ".join([*unread[:SHOWN], *(["…"] if len(unread) > SHOWN else [])])
    return f"{original.name}: {len(unread)} of {len(page.lines)} given lines could not be read: {shown}"


def taken_for(original: "Original", page: "Page", lines: Lines) -> str:
    """What a page that was read was taken for, for `--verbose`; `lines` say who found those that it does not give."""
    number = f"{len(page.lines)} line{'' if len(page.lines) == 1 else 's'}"
    if original.has_lines:
        return f"{original.name}: {number} given"
    if lines.finder(original).whole:
        return as_one_line(original.name)
    return f"{original.name}: {number} found ({lines.finder_name(original)})"


def finish(
    work: Work, sheets: "Sequence[Sheet | None]", provenance: "Provenance", options: PageOptions, *, alone: bool
) -> None:
    """Write or show the pages of a file that was read.

    Raises:
        DataError: if something cannot be written.
    """
    there = [sheet for sheet in sheets if sheet is not None]
    if work.updated is not None and (options.force or work.in_place or not is_there(work.updated)):
        update_description(work, work.updated, there[0].page, provenance, replace=options.force)
    if options.output is not None:
        write_all(work, sheets, provenance, options.formats, force=options.force)
        return
    for format in options.formats.values():
        typer.echo(on_screen(work, there, provenance, format, alone=alone), nl=False)


def update_description(work: Work, path: Path, page: "Page", provenance: "Provenance", *, replace: bool) -> None:
    """Write to `path` the PAGE or ALTO file with the text in it."""
    from drethtr.documents.markup import MAX_BYTES
    from drethtr.documents.read import load
    from drethtr.documents.update import update

    data = load(work.path, MAX_BYTES + 1)
    write_bytes(path, update(data, page, provenance, replace=replace, name=str(work.path)))
