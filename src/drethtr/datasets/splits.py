"""The split of lines, from the names of their files and folders or from split lists, and the name of their set."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path, PureWindowsPath

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Entry, LeftOut
from drethtr.datasets.text_files import rows_of
from drethtr.documents.beside import DESCRIPTION, IMAGES
from drethtr.text.normalize import nfc

SPLIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training", "trainset", "trainlines"),
    "val": ("val", "valid", "validation", "validationset1", "validationset2", "validationlines", "dev"),
    "test": ("test", "testing", "testset", "testlines", "eval"),
}
"""Words that count anywhere in the name of a file, unless a letter or digit adjoins them."""

SHORT = {"train": "tr", "val": "va", "test": "te"}
"""Short forms that count only between dots or as the whole name: `Te Deum` is not a test set."""

SPLITS: Mapping[str, re.Pattern[str]] = {
    split: re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])|(?<![^.]){SHORT[split]}(?![^.])", re.IGNORECASE)
    for split, words in SPLIT_WORDS.items()
}
FOLDERS: Mapping[str, re.Pattern[str]] = {
    split: re.compile(
        rf"(?:{'|'.join(words)}|{SHORT[split]})(?:[._ -]*(?:set|data|lines|images|pages))?(?:[._ -]*\d+)?",
        re.IGNORECASE,
    )
    for split, words in SPLIT_WORDS.items()
}
"""Whole names of folders: `train`, `val.2`, `test_set`. A word alone is not enough: Val-de-Marne is a place."""

SHARD = re.compile(r"(?<!\d)\d+-of-\d+$")
SEPARATORS = "._- "

LISTS = (".uttlist", ".lst", ".ln", ".txt")

BEHIND_NAME = re.compile(rf"(?:{'|'.join(map(re.escape, (*IMAGES, DESCRIPTION)))})(?!\S)|\t", re.IGNORECASE)
"""The end of a line or page name, which may contain spaces and dots: a file extension or a tab."""


def split_named(name: str) -> str:
    """The split in a name such as `iam.train.parquet` or `ValidationLines.lst`; "" if there is none."""
    composed = nfc(name)  # macOS decomposes file names: in Léval, the accent would separate two words
    return next((split for split, words in SPLITS.items() if words.search(composed)), "")


def set_at(file: str | Path) -> Path:
    """The place that names the set of a file's lines by default, the same for all splits of a set.

    It is the file without split and shard in its name, or its folder if nothing else is left.
    """
    path = Path(file)
    folder = collection_of(path.parent)
    name = nfc(path.stem)
    for words in SPLITS.values():
        name = re.sub(rf"[\W_]*(?:{words.pattern})", "", name, flags=re.IGNORECASE)
    return folder / (SHARD.sub("", name).strip(SEPARATORS) or ("" if folder.name else path.stem))


def collection_of(folder: Path, parts: Set[str] = frozenset()) -> Path:
    """The folder of a collection, of which a split may be given: `letters` for `letters/train`.

    Args:
        parts: Names in lower case of other folders that are only parts of a collection.
    """
    around = (folder.resolve(), *folder.resolve().parents)
    wholes = (place for place in around if place.name.lower() not in parts and not folder_split(place.name))
    return next((place for place in wholes if place.name), around[0])


def split_of_path(path: Path, source: Path) -> str:
    """The split named by a file, else by its nearest folder below the source."""
    return split_named(path.name) or (split_of_folder(path.parent, source) if path != source else "")


def split_of_folder(folder: Path, source: Path) -> str:
    """The split named by a folder, or by the nearest one around it below the source."""
    # Folders above the source do not count: `~/train/letters` is not a training set.
    parts = reversed(folder.relative_to(source).parts)
    return next((split for part in parts if (split := folder_split(part))), "")


def folder_split(name: str) -> str:
    """The split whose folder has this name; "" if there is none."""
    return next((split for split, names in FOLDERS.items() if names.fullmatch(name)), "")


def read_lists(folder: Path) -> dict[str, str]:
    """Read split lists such as `train.uttlist` or `testset.txt`: names of lines or pages with their split.

    Raises:
        DataError: if there is no such folder, it contains no lists, or a name is in two splits.
    """
    if not folder.is_dir():
        raise DataError(f"no such folder; give one with split lists such as train{LISTS[0]}", folder)
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        split = split_named(path.stem)
        if path.suffix not in LISTS or not split:
            continue
        for number, row in rows_of(path):
            name = name_in(row)
            if (before := found.setdefault(name, split)) != split:
                raise DataError(f"{name} is in {before} and in {split}; keep it in one split", f"{path} line {number}")
    if not found:
        raise DataError(f"contains no split lists such as train{LISTS[0]}, validation.lst, testset.txt", folder)
    return found


def by_lists(entries: Iterable[Entry], lists: Mapping[str, str]) -> Iterator[Entry]:
    """Yield the entries with the split that the lists give to their line or page; unlisted ones are left out.

    If a list names folders, they must match those of the line or page. Listed names that no entry has are reported at
    the end.
    """
    met: set[str] = set()
    for entry in entries:
        if isinstance(entry, LeftOut):
            yield entry
            continue
        file = str(entry.image) if isinstance(entry.image, Path) else entry.key
        names = (*path_suffixes(str(Path(file).absolute())), *path_suffixes(entry.page or ""))
        named = [name for name in names if name in lists]
        met.update(named)
        yield replace(entry, split=lists[named[0]]) if named else LeftOut(entry.key, "not in any split list")
    for name in sorted(lists.keys() - met):
        yield LeftOut(name, "in a split list, but not in the source")


def name_in(row: str) -> str:
    """The name of a line or page in a list, without its extension, with the folders the list gives.

    Absolute paths lose their folders, which belong to another computer.
    """
    path = without_ending(row)
    return path.name if path.anchor else path.as_posix()


def path_suffixes(path: str) -> Iterator[str]:
    """The names by which a list may refer to a file: its path, then with fewer and fewer folders."""
    parts = without_ending(path).parts
    return ("/".join(parts[first:]) for first in range(len(parts)))


def without_ending(path: str) -> PureWindowsPath:
    """The name of a file without its extension, with either kind of slash and an optional drive."""
    return PureWindowsPath(BEHIND_NAME.split(path, maxsplit=1)[0].strip())
