"""Read samples from files in any supported format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, is_hidden
from drethtr.lines.sample import Sample
from drethtr.lines.sources.folder import read_folder
from drethtr.lines.sources.pages import page_files, read_page_lines
from drethtr.lines.sources.parquet import read_parquet
from drethtr.lines.sources.table import read_jsonl, read_tsv
from drethtr.lines.urls import find_files, identity, is_url
from drethtr.text.normalize import Spelling, for_scoring, nfc

Lines: TypeAlias = Iterable[Sample | DataError]
"""Lines in order, each a sample or the reason why it cannot be used."""

READERS: Mapping[str, Callable[[Path, Spelling], Lines]] = {
    ".parquet": read_parquet,
    ".tsv": read_tsv,
    ".jsonl": read_jsonl,
    DESCRIPTION: read_page_lines,
}


def open_samples(path: str | Path, spelling: Spelling = for_scoring) -> list[Sample]:
    """All samples of a Parquet, TSV or JSONL file, of a PAGE or ALTO page, or of a folder of lines or pages.

    Samples keep their order, and none is left out. Parquet can also be given as a URL. Texts are spelled as they are
    compared, so that no model learns what error rates ignore.

    Raises:
        DataError: if there is nothing at `path`, or its content cannot be used.
    """
    samples, errors = [], []
    for line in lines_at(path, spelling):
        if isinstance(line, DataError):
            errors.append(line)
        else:
            samples.append(line)
    if len(errors) > 1:
        raise DataError(f"{errors[0]} (and {len(errors) - 1:,} more; drethtr data check {path} lists them)")
    if errors:
        raise errors[0]
    return samples


def lines_at(path: str | Path, spelling: Spelling = nfc) -> Lines:
    """The samples of a file or folder, with a `DataError` in place of each unusable line, except on pages.

    Raises:
        DataError: if there is nothing at `path`, or its content cannot be used at all.
    """
    if is_url(str(path)):
        return read_url(str(path), spelling)
    path = Path(path)
    if path.is_dir():
        tables = sorted(
            found for found in path.iterdir() if found.suffix in (".tsv", ".jsonl") and not is_hidden(found)
        )
        if len(tables) > 1:
            raise DataError(
                f"contains {len(tables)} tables, {', '.join(t.name for t in tables)}; give one of them", path
            )
        if tables:
            return lines_at(tables[0], spelling)
        pages = page_files(path)
        return read_pages(path, pages, spelling) if pages else read_folder(path, spelling)
    if not path.is_file():
        raise DataError("no such file or folder", path)
    if path.suffix.lower() not in READERS:
        raise DataError(f"unknown file type {path.suffix!r}; known: {', '.join(READERS)} and folders", path)
    return READERS[path.suffix.lower()](path, spelling)


def read_url(url: str, spelling: Spelling) -> Lines:
    """All samples of a Parquet file at a URL."""
    if PurePosixPath(url).suffix != ".parquet":
        raise DataError("only .parquet can be read from a URL; download other files first", url)
    return read_parquet(url, spelling)


def read_pages(folder: Path, pages: Sequence[Path], spelling: Spelling) -> list[Sample]:
    """All samples of the pages of a folder.

    Raises:
        DataError: if none of them has a text.
    """
    samples = [sample for page in pages for sample in read_page_lines(page, spelling)]
    if not samples:
        raise DataError(f"no line in its {len(pages)} PAGE or ALTO files has a text; transcribe them first", folder)
    return samples


def open_all(patterns: Sequence[str]) -> list[Sample]:
    """The samples of all paths that match one of the patterns (`lines/*.train.parquet`), sorted within each pattern.

    Raises:
        DataError: also if a pattern matches nothing, two patterns match the same path, or there are no lines.
    """
    samples = [sample for path in all_matching(patterns) for sample in open_samples(path)]
    if not samples:
        raise DataError(f"{', '.join(patterns)}: no lines found; a table has one row per line")
    return samples


def all_matching(patterns: Sequence[str]) -> list[str]:
    """The paths or URLs that match one of the patterns, sorted within each pattern.

    Raises:
        DataError: if a pattern matches nothing, or two patterns match the same path.
    """
    paths: dict[str, str] = {}
    for pattern in patterns:
        matches = {identity(path): path for path in matching(pattern)}
        if not matches:
            raise DataError("matches no file or folder", pattern)
        if twice := paths.keys() & matches.keys():
            raise DataError(f"{matches[min(twice)]} is already matched by another pattern", pattern)
        paths |= matches
    return list(paths.values())


def matching(pattern: str) -> list[str]:
    """The paths or URLs that match a pattern, sorted; an existing path matches itself, even with brackets."""
    if is_url(pattern):
        return find_files(pattern)
    if has_magic(pattern) and Path(pattern).exists():
        return [pattern]
    return sorted(glob(pattern, recursive=True))  # noqa: PTH207 - patterns may be absolute
