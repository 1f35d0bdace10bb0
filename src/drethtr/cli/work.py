"""A file to read: where its results go, and which of them are there already."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from drethtr.base.errors import DataError
from drethtr.cli.outputs import claim, is_there, refuse_file, stem_of
from drethtr.cli.shelf import Shelf

if TYPE_CHECKING:
    from drethtr.documents.formats import Format
    from drethtr.pages.source import Original


@dataclass(frozen=True)
class Work:
    """A file to read, and what to write.

    originals  its pages
    targets    where each format goes: one path if pages stay together, else one for each
    updated    where PAGE or ALTO goes with the text written into it, if that is wanted: a copy, or the file itself
    """

    path: Path
    originals: "tuple[Original, ...]"
    targets: Mapping[str, tuple[Path, ...]]
    updated: Path | None = None

    @property
    def wanted(self) -> tuple[Path, ...]:
        """All files to write."""
        targets = (target for paths in self.targets.values() for target in paths)
        return (*targets, self.updated) if self.updated is not None else tuple(targets)

    @property
    def in_place(self) -> bool:
        """Whether the file itself is written to; which of its lines have text already is seen later."""
        return self.updated is not None and self.updated.resolve() == self.path.resolve()

    @property
    def done(self) -> bool:
        """Whether all there is to write is there and has all pages."""
        there = all(is_there(target) and not self.lacking(target) for target in self.wanted)
        return bool(self.wanted) and not self.in_place and there

    @property
    def shelf(self) -> Shelf | None:
        """Where its pages wait for the last one; one page, or what is shown on the screen, has nothing to wait for."""
        if len(self.originals) == 1 or not self.targets:
            return None
        return Shelf(next(iter(self.targets.values()))[0].parent / f".{stem_of(self.path)}.pages")

    def lacking(self, target: Path) -> frozenset[str]:
        """The numbers of the pages that `target` was written without."""
        return frozenset() if self.shelf is None else self.shelf.lacking(target)


class Count(NamedTuple):
    """Files read or done before, and files or pages that failed."""

    done: int
    failed: int


def report(error: DataError) -> None:
    """Name what was skipped, also beside a progress bar."""
    from tqdm import tqdm

    tqdm.write(f"drethtr: {error}", file=sys.stderr)


def as_one_line(name: str) -> str:
    """What is said of an image that was taken as one line."""
    return f"{name}: taken as one line"


def plan(
    path: Path,
    originals: "tuple[Original, ...]",
    formats: "Mapping[str, Format]",
    folder: Path | None,
    *,
    update: bool,
) -> Work:
    """Where the results for a file go in `folder`: `letter.alto.xml`, or for each page `book_0001.alto.xml`."""
    from drethtr.documents.beside import numbered

    if folder is None:
        return Work(path, originals, {}, path if update else None)
    targets, stem = {}, stem_of(path)
    for name, format in formats.items():
        alone = format.together or len(originals) == 1
        stems = [stem] if alone else [numbered(stem, original.source.number) for original in originals]
        targets[name] = tuple(folder / f"{stem}{format.ending}" for stem in stems)
    return Work(path, originals, targets, folder / path.name if update else None)


def refuse_overwriting(works: Sequence[Work], folder: Path) -> None:
    """Refuse results that would replace each other, or what they are read from.

    Raises:
        DataError: naming the files.
    """
    refuse_file(folder)
    for work in works:
        if work.updated is not None and work.wanted.count(work.updated) > 1:
            raise DataError(
                f"{work.path}: --update and --format would both write {work.updated}; choose one, or rename the input"
            )
    owners: dict[Path, Path] = {}
    read = {work.path.resolve() for work in works}
    read |= {original.source.path.resolve() for work in works for original in work.originals}
    for work in works:
        for target in work.wanted:
            claim(owners, target, work.path)
            if target.resolve() in read and not (work.in_place and target == work.updated):
                raise DataError(f"{target} is read, and would be overwritten; choose another --output")


def left_to_do(works: Sequence[Work], files: int, *, force: bool) -> list[Work]:
    """The works whose results are not all there, or every one if forced; says how many of so many files are passed."""
    waiting = [work for work in works if force or not work.done]
    if done := len(works) - len(waiting):
        typer.echo(f"{done} of {files} files were done before; --force reads them again", err=True)
    return waiting
