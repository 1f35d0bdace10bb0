"""File names: compare them as people mean them, find files, choose free names, store names that are not UTF-8.

A description is often read on another system than the one it was written on. So it may name its image with composed or
decomposed accents, in other case or percent-encoded, or the image may have been converted since.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

from drethtr.base.files import is_file

SETTLED = 2.0
"""Seconds after its last change when a folder may be trusted not to change within the same tick of its clock."""

ALIKE = 0.7
"""How similar a name must be to be suggested: one wrong letter in a word of four, two in seven."""

BYTE = re.compile(r"\\udc(5c|[89a-f][0-9a-f])")
"""A byte in a stored name: one that is not UTF-8, or a backslash that would look like one."""


def numbered(name: str) -> Iterator[str]:
    """`name`, then `name_2`, `name_3` and so on."""
    yield name
    for number in count(2):
        yield f"{name}_{number}"


def free_name(name: str, taken: set[str], key: Callable[[str], str] = str) -> str:
    """The first of a name and its numbered forms whose key is not taken; from now on it is."""
    free = next(one for one in numbered(name) if key(one) not in taken)
    taken.add(key(free))
    return free


def key_of(name: str) -> str:
    """What all spellings of a name share; folders and URLs before it do not count."""
    return folded(re.split(r"[/\\]", unquote(name.strip()))[-1])


def folded(name: str) -> str:
    """What names share that are one name where case or accents make no difference, as on macOS and Windows."""
    return normalize("NFC", normalize("NFC", name).casefold())


def stored(name: str) -> str:
    """A name as text that can be written as UTF-8; `restored` gives the name back."""
    escaped = re.sub(r"\\(?=udc)", r"\\udc5c", name)
    return escaped.encode("utf-8", "backslashreplace").decode("utf-8")


def restored(text: str) -> str:
    """The name that was stored as a text."""
    return BYTE.sub(lambda found: "\\" if found[1] == "5c" else chr(0xDC00 + int(found[1], 16)), text)


def listed_file(path: Path) -> Path | None:
    """A file under the name that its folder lists, as some drives find it by other spellings; None if there is none."""
    if not is_file(path):
        return None
    if is_file(path.with_name(path.name.swapcase())):
        alike = sorted(files_like(path.parent, path.name), key=lambda file: file.name != path.name)
        return next((file for file in alike if file.samefile(path)), path)
    return path


def files_like(folder: Path, name: str) -> list[Path]:
    """The files of a folder that have this name in any spelling, sorted."""
    return [folder / found for found in files_in(folder).get(key_of(name), ())]


def similar_files(folder: Path, name: str, endings: tuple[str, ...]) -> list[Path]:
    """At most three files of a folder whose names resemble this one and end in one of some endings."""
    from rapidfuzz.distance import Indel  # only for errors; `difflib` would take hours for thousands of missing images
    from rapidfuzz.process import extract

    files = files_in(folder)
    keys = [key for key in files if key.endswith(endings)]
    alike = extract(key_of(name), keys, scorer=Indel.normalized_similarity, score_cutoff=ALIKE, limit=3)
    return [folder / found for key, *_ in alike for found in files[key]]


def files_in(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The names of the files in a folder, by their keys; empty if it cannot be listed."""
    try:
        changed = folder.stat().st_mtime_ns
        age = time.time() - changed / 1e9
        if 0 <= age <= SETTLED:
            return listed(str(folder))
        # If the time is in the future, or the clock was set back, it is unknown whether the folder just changed.
        return listed_at(str(folder), changed, time.monotonic() // SETTLED if age < 0 else 0)
    except OSError:
        return {}


@lru_cache(maxsize=64)
def listed_at(folder: str, changed: int, moment: float) -> Mapping[str, tuple[str, ...]]:
    """The listing of a folder that changed last at this time; another `moment` forces a new listing."""
    return listed(folder)


def listed(folder: str) -> Mapping[str, tuple[str, ...]]:
    """The listing of a folder."""
    found: dict[str, tuple[str, ...]] = {}
    with os.scandir(folder) as entries:
        for name in sorted(entry.name for entry in entries if is_file(entry)):
            found[key_of(name)] = (*found.get(key_of(name), ()), name)
    return found
