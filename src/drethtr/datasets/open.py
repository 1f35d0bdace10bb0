"""Open the lines of files, folders and URLs in any layout.

samples = open_all(["lines/*.train.parquet", "iam#train", "gs://archive/letters.parquet"])
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path, PurePosixPath

from drethtr.base.errors import DataError
from drethtr.base.urls import find_files, identity, is_url
from drethtr.datasets.layouts import layout_for
from drethtr.datasets.layouts.folder import Kraken
from drethtr.datasets.layouts.hugging_face import rows_at
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Entry, LeftOut, Sample, with_distinct_sets
from drethtr.datasets.splits import SPLITS, set_at, split_named
from drethtr.text.normalize import for_scoring

TABLES = (".parquet", ".tsv", ".jsonl")
"""Extensions of files that contain lines and nothing else."""

AS_FOUND = Pages()
"""How PAGE and ALTO files are read: images beside them, outlines as usual."""


def open_samples(name: str | Path, pages: Pages = AS_FOUND) -> list[Sample]:
    """All samples of a file or folder in any layout, or of a Parquet file at a URL.

    Samples keep their order, and none is left out. A data set with several splits needs the name of one: `iam#train`.
    Texts are normalized as for scoring, so that no model learns differences that error rates ignore.

    Raises:
        DataError: if there is nothing of that name, a line cannot be used, or the name of a split is missing.
    """
    path, wanted = path_and_split(str(name))
    samples: list[Sample] = []
    left_out: list[LeftOut] = []
    for entry in entries_at(path, pages):
        if isinstance(entry, LeftOut):
            left_out.append(entry)
        else:
            text = for_scoring(entry.text)
            samples.append(entry if text == entry.text else replace(entry, text=text))
    if len(left_out) > 1:
        raise DataError(f"{left_out[0].error()} (and {len(left_out) - 1:,} more; drethtr data check {path} lists them)")
    if left_out:
        raise left_out[0].error()
    # A model trained on a whole data set would have seen its test lines, so splits are never mixed implicitly.
    splits = list(dict.fromkeys(sample.split for sample in samples))
    if wanted:
        refuse_unknown(wanted, splits, path)
        return [sample for sample in samples if sample.split == wanted]
    if len(splits) > 1:
        choices = " or ".join(f"{path}#{split}" for split in splits if split)
        raise DataError(f"has lines of several splits; choose one: {choices}", path)
    return samples


def refuse_unknown(wanted: str, splits: Collection[str], path: str) -> None:
    """Refuse a split that a data set does not have; its lines are of `splits`.

    Raises:
        DataError: naming these.
    """
    if wanted not in splits:
        found = ", ".join(split or "lines of no split" for split in splits) or "no lines"
        raise DataError(f"has no split {wanted!r}, only {found}", path)


def path_and_split(name: str) -> tuple[str, str]:
    """Split a name such as `iam#train` into the path and the split; the split of other names is ""."""
    path, mark, split = name.rpartition("#")
    return (path, split) if mark and split in SPLITS and not Path(name).exists() else (name, "")


def entries_at(name: str, pages: Pages = AS_FOUND) -> Iterable[Entry]:
    """The lines of a file, folder or URL with texts as written, and those that cannot be used.

    Of PAGE and ALTO files, only lines with a text count, confirmed by a person or not; of folders of line images, only
    folders with texts.

    Raises:
        DataError: if there is nothing of that name, or its content cannot be used at all.
    """
    if is_url(name):
        if PurePosixPath(name).suffix != ".parquet":
            raise DataError("only .parquet can be read from a URL; download other files first", name)
        return rows_at(name, set_at(name), split_named(PurePosixPath(name).name))
    layout = layout_for(Path(name))
    if isinstance(layout, Pages):
        layout = replace(layout, unconfirmed=True, transcribed=True, outlines=pages.outlines, images=pages.images)
    elif isinstance(layout, Kraken):
        layout = replace(layout, transcribed=True)
    return layout.entries(Path(name))


def open_all(patterns: Sequence[str], pages: Pages = AS_FOUND) -> list[Sample]:
    """The samples of all paths that match one of the patterns (`lines/*.train.parquet`), sorted within each pattern.

    Sets that are named after places of the same name get different names, see `with_distinct_sets`.

    Raises:
        DataError: also if a pattern matches nothing, two patterns match the same path, or there are no lines.
    """
    [samples] = with_distinct_sets(
        [sample for name in all_matching(patterns) for sample in open_samples(name, pages=pages)]
    )
    if not samples:
        raise without_lines(patterns)
    return samples


def have_pages(patterns: Sequence[str]) -> bool:
    """Whether any path that matches one of the patterns is a PAGE or ALTO file, or a folder of them.

    Raises:
        DataError: as `all_matching`.
    """
    names = (name for pattern in patterns for name in all_matching([pattern]))
    return any(not is_url(name) and AS_FOUND.recognizes(Path(path_and_split(name)[0])) for name in names)


def without_lines(patterns: Sequence[str]) -> DataError:
    """The error for files without a line."""
    return DataError(f"{', '.join(patterns)}: no lines found; a table has one row per line")


def all_matching(patterns: Sequence[str]) -> list[str]:
    """The paths or URLs that match one of the patterns, sorted within each pattern.

    Raises:
        DataError: if a pattern matches nothing, or two patterns match the same path.
    """
    names: dict[str, str] = {}
    for pattern in patterns:
        matches = {identity(name): name for name in matching(pattern)}
        if not matches:
            raise DataError(f"matches no file or folder{parts_beside(pattern) or split_meant(pattern)}", pattern)
        if twice := names.keys() & matches.keys():
            name = matches[min(twice)]
            which = "" if name == pattern else f"{name} "
            raise DataError(f"{which}is already given, by name or by a pattern", pattern)
        names |= matches
    return list(names.values())


def parts_beside(name: str) -> str:
    """The files of other splits, or of all, beside a missing file, for an error: `mine.val.parquet`, `mine.parquet`."""
    path = Path(name)
    if path.suffix not in TABLES:
        return ""
    whole = path.with_suffix("") if path.suffixes[:-1] and path.stem.rpartition(".")[2] in SPLITS else path
    names = [whole.with_suffix(f"{split}{path.suffix}") for split in ("", *(f".{split}" for split in SPLITS))]
    there = [str(part) for part in names if part.is_file()]
    return f"; there is {' and '.join(there)}" if there else ""


def split_meant(name: str) -> str:
    """The names of splits, for an error about a file or folder that is there, but was given with another name."""
    path, mark, _ = name.rpartition("#")
    return f"; splits are called {', '.join(SPLITS)}: {path}#train" if mark and Path(path).exists() else ""


def matching(pattern: str) -> list[str]:
    """The paths or URLs that match a pattern, sorted; an existing path matches itself, even with brackets.

    Each keeps the split that the pattern names: `sets/*#train`.
    """
    path, split = path_and_split(pattern)
    if is_url(path):
        found = find_files(path)
    elif has_magic(path) and Path(path).exists():
        return [pattern]
    else:
        found = sorted(glob(path, recursive=True))  # noqa: PTH207 - patterns may be absolute
    return [f"{name}#{split}" for name in found] if split else found
