"""The options of `drethtr transcribe`: check that they go together, and open the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.documents.formats import FORMATS, LINE_FORMATS
from drethtr.pages.job import PageJob
from drethtr.pages.opening import open_selected
from drethtr.pages.segmentation import WITHOUT_FINDER, segmentation_named
from drethtr.pages.selection import select


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Options as typed; `names` are the formats.

    Raises:
        ConfigError: naming options that do not go together, or an output folder that looks like a file.
    """

    names: tuple[str, ...]
    output: Path | None
    lines: str
    order: str
    outlines: str
    images: Path | None
    pages: str | None
    recursive: bool
    update: bool
    doubts: bool
    alternatives: int
    index: Path | None
    force: bool

    def __post_init__(self) -> None:
        formats = [FORMATS[name] for name in self.names if name in FORMATS]
        if self.doubts and not (self.update or "txt" in self.names or any(format.doubts for format in formats)):
            raise ConfigError(f"--doubts cannot mark words in {', '.join(self.names)}; add txt, page or alto")
        if self.alternatives and "json" not in self.names:
            other = ", ".join(self.names) or "PAGE or ALTO"
            raise ConfigError(f"--alternatives needs json; {other} cannot store alternatives")
        if self.force and self.output is None and not self.update:
            raise ConfigError(
                "--force replaces files, but nothing is written; add --output or --update, or leave out --force"
            )
        if self.index is not None and self.update:
            raise ConfigError("--index does not go with --update; run drethtr index on the updated files")
        if self.output is not None:
            refuse_name_of_file(self.output, self.names)

    def open(self, inputs: Sequence[str]) -> PageJob:
        """Open a job.

        Raises:
            ConfigError: for options that do not go with these inputs.
            DataError: if results would replace each other or an input.
        """
        names, segmentation = self.names, segmentation_named(self.lines, self.order, self.outlines)
        selection = select(
            inputs, self.output, endings_of(names), pages=self.pages, recursive=self.recursive, images=self.images
        )
        if self.index is not None:
            from drethtr.search.build import refuse_passing  # only an index needs it

            refuse_passing(selection.files)
        may_be_lines = len(names) == 1 and names[0] in LINE_FORMATS and not self.update and self.index is None
        if not may_be_lines:
            self.refuse_for_pages()
        job = open_selected(
            selection,
            self.output,
            names,
            segmentation=segmentation,
            update=self.update,
            doubts=self.doubts,
            force=self.force,
            line_forms=may_be_lines,
        )
        if not job.of_lines:
            self.refuse_for_pages()
        if self.output is None:
            refuse_joined(job)
        return job

    def refuse_for_pages(self) -> None:
        """Refuse options that do not go with pages.

        Raises:
            ConfigError: naming the options.
        """
        if self.alternatives:
            raise ConfigError("--alternatives needs single-line images and --format json alone")
        if self.update and self.lines not in WITHOUT_FINDER:
            raise ConfigError(f"--update writes into existing lines; leave out --lines {self.lines}")
        if of_lines := set(self.names) - FORMATS.keys():
            raise ConfigError(f"{min(of_lines)} must be the only format, for line images only; use csv otherwise")
        printed = all(FORMATS[name].printed for name in self.names)
        if self.output is None and (len(self.names) > 1 or not printed):
            raise ConfigError(f"--format {','.join(self.names)} writes files; give --output")


def refuse_joined(job: PageJob) -> None:
    """Refuse to print several files of a format in a row, which no program could parse; text is allowed.

    Raises:
        ConfigError: naming the format.
    """
    for name, format in job.formats.items():
        files = len(job.tasks) if format.together else sum(len(task.originals) for task in job.tasks)
        if files > 1 and format.row is None:
            raise ConfigError(f"--format {name} would print {files} files in a row; give a folder as --output")


def formats_named(text: str | None) -> tuple[str, ...]:
    """Parse a comma-separated list of formats.

    Raises:
        ConfigError: if one is unknown.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(","))) if text is not None else ()
    known = dict.fromkeys((*FORMATS, *LINE_FORMATS))
    for name in names:
        named("format", name, known)
    return names


def refuse_name_of_file(output: Path, names: Sequence[str]) -> None:
    """Refuse to create a folder with a name such as `out.txt`, which is meant as a file.

    Raises:
        ConfigError: saying that a folder is needed.
    """
    endings = {f".{ending.rpartition('.')[2]}" for ending in (*names, *endings_of(names))}
    if output.suffix.lower() in endings and not output.exists():
        raise ConfigError(f"--output {output}: results are named after their images; give a folder instead of a file")


def endings_of(names: Sequence[str]) -> list[str]:
    """The file extensions of page formats."""
    return [FORMATS[name].ending for name in names if name in FORMATS]
