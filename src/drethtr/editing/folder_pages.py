"""The pages of a folder: each scan, in subfolders too, with the PAGE or ALTO file that holds its text."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import file_mark, is_file, leads_nowhere
from drethtr.documents.beside import (
    DESCRIPTION,
    IMAGES,
    PDF,
    SEVERAL,
    image_beside,
    numbered_stem,
    page_among,
    page_stem,
    walk_visible,
)
from drethtr.documents.formats import FORMATS
from drethtr.documents.names import SETTLED
from drethtr.documents.page import file_name
from drethtr.documents.read import by_trust, first_bytes, is_description, made_here, read_page
from drethtr.images.page import PageSource, open_pages
from drethtr.pages.inputs import searchable_copies

IMAGE_NAME = re.compile(rb"""\bimageFilename\s*=\s*["']([^"'<&]*)["']|<(?:\w+:)?fileName>([^<&]*)<""")
"""The name of the image near the beginning of a PAGE or ALTO file."""


OUTSIDE = "its image {!r} is not below this folder; open the folder above, or name the folder of the images (--images)"

NOWHERE = "this link leads to no file; fetch the file, or remove the link"


@dataclass(frozen=True)
class FolderPage:
    """A page of a folder.

    id        opaque, stable as long as the scan keeps its name
    name      its file as seen from the folder
    xml_path  the PAGE or ALTO file with its text, which may not exist until the page is read
    source    the scan, None if it is missing
    error     why it cannot be opened, if so
    """

    id: str
    name: str
    xml_path: Path
    source: PageSource | None
    error: str | None = None


def find_pages(folder: Path, images: Path | None = None) -> list[FolderPage]:
    """The pages of a folder, by name.

    Args:
        images: A folder in which the scans of PAGE and ALTO files are looked for first.

    Raises:
        DataError: if the folder cannot be read.
    """
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", folder) from error
    in_folders, links = list[list[Path]](), list[Path]()
    for here, entries in walk_visible(folder):
        in_folders.append([here / entry.name for entry in entries if is_file(entry)])
        links += [here / entry.name for entry in entries if leads_nowhere(entry)]
    files = [file for group in in_folders for file in group]
    copies = {copy for group in in_folders for copy in searchable_copies(group)}
    scans = [file for file in (*files, *links) if file.suffix.lower() in {*IMAGES, PDF} and file not in copies]
    xml_files, lost = match_to_scans([file for file in files if file.suffix.lower() == DESCRIPTION], images)
    lost += [(link, NOWHERE) for link in links if link.suffix.lower() == DESCRIPTION]
    for scan in sorted(xml_files.keys() - set(scans)):
        if any(scan.is_relative_to(place) for place in (folder, images or folder)):
            scans.append(scan)
        else:
            lost += [(file, OUTSIDE.format(scan.name)) for file in xml_files[scan]]
    stems = Counter((scan.parent, scan.stem) for scan in scans)
    found = [page for scan in scans for page in pages_of_scan(folder, scan, xml_files, stems)]
    found += [folder_page_of(folder, xml_path, xml_path, None, error) for xml_path, error in lost]
    by_name = {page.name: page for page in found}  # a scan among the images stands for one of its name in the folder
    return sorted(by_name.values(), key=lambda page: (natural(page.name), page.name))


class Listing:
    """A snapshot of the names below folders.

    Checking that they are still the same costs one `stat` for each folder and each file of several pages. Only folders
    that have changed are listed again; saving a text replaces its file, but changes no name.
    """

    def __init__(self, *folders: Path | None) -> None:
        known = [folder for folder in folders if folder is not None]
        self.times: dict[Path, int] = dict.fromkeys(known, 0)
        self.names: dict[Path, frozenset[str] | None] = dict.fromkeys(known)  # None for a folder that is gone for now
        self.marks: dict[Path, str] = {}
        for here, entries in chain.from_iterable(map(walk_visible, known)):
            self.times[here] = changed_at(here)
            self.names[here] = names = frozenset(entry.name for entry in entries)
            several = [here / name for name in names if name.lower().endswith(SEVERAL)]
            self.marks |= {file: file_mark(file) for file in several}

    def is_current(self) -> bool:
        """Whether no name has come or gone, and no file of several pages was written."""
        for folder, known in self.times.items():
            if known == (now := changed_at(folder)) and now:
                continue
            if self.names[folder] != visible_names(folder):
                return False
            self.times[folder] = now
        return all(known == file_mark(file) for file, known in self.marks.items())


def changed_at(path: Path) -> int:
    """When a file or folder last changed; 0 if it is gone, or if that is too recent to tell a later change apart."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return 0
    return changed if time.time() - changed / 1e9 > SETTLED else 0


def visible_names(folder: Path) -> frozenset[str] | None:
    """The names in a folder, without hidden ones; None if there is no such folder."""
    try:
        return frozenset(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names alone
    except OSError:
        return None


def natural(name: str) -> list[tuple[int, str]]:
    """A key for sorting in which page 10 follows page 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in re.split(r"(\d+)", name)]


def match_to_scans(
    files: Sequence[Path], images: Path | None
) -> tuple[Mapping[Path, list[Path]], list[tuple[Path, str]]]:
    """Match PAGE and ALTO files to scans: those of each scan, best first, and those without a scan, with an error."""
    found: dict[Path, list[Path]] = {}
    lost = []
    heads = {file: beginning(file) for file in files}  # read once, since most of the time goes into opening files
    for file in sorted(files, key=lambda file: by_trust(file, made_here(heads[file] or b""))):
        if (head := heads[file]) is not None and not is_description(head):
            continue
        try:
            found.setdefault(image_beside(file, image_name(file, head), images=images), []).append(file)
        except DataError as error:
            lost.append((file, error.reason))
    return found, lost


def beginning(file: Path) -> bytes | None:
    """The first bytes of a file; None if it cannot be read."""
    try:
        return first_bytes(file)
    except DataError:
        return None


def image_name(file: Path, head: bytes | None) -> str:
    """The name of the image of a PAGE or ALTO file; "" if there is none, or the file is damaged.

    Args:
        head: Its first bytes, if it can be read.
    """
    if (found := IMAGE_NAME.search(head or b"")) is not None:
        return file_name((found[1] or found[2] or b"").decode("utf-8", "replace"))
    try:
        return read_page(file).image
    except DataError:
        return ""


def pages_of_scan(
    folder: Path, scan: Path, xml_files: Mapping[Path, list[Path]], stems: Mapping[tuple[Path, str], int]
) -> Iterator[FolderPage]:
    """The pages of a scan with their files, then the files of pages that it lacks, with an error.

    For a scan in the folder of images, only the pages that have a file here, as if the scan were beside it.
    """
    described = xml_files.get(scan, [])
    inside = scan.is_relative_to(folder)
    shown = scan if inside else described[0].with_name(scan.name)
    own_stem = scan.stem if stems[scan.parent, scan.stem] == 1 else scan.name
    try:
        sources = open_pages(scan) if scan.suffix.lower() in SEVERAL else (PageSource(scan),)
    except DataError as error:
        files: dict[str, Path] = {}
        for file in described:
            files.setdefault(page_stem(file), file)  # the best of each page
        own, *others = files.values() or [scan.with_name(f"{own_stem}{FORMATS['page'].ending}")]
        yield folder_page_of(folder, shown, own, None, error.reason)
        yield from (folder_page_of(folder, file, file, None, error.reason) for file in others)
        return
    best: dict[int, Path] = {}
    lost = []
    for file in described:
        try:
            best.setdefault(page_among(sources, file, scan).number, file)
        except DataError as error:
            lost.append(folder_page_of(folder, file, file, None, error.reason))
    for source in sources:
        if source.number in best or inside:
            stem = own_stem if source.pages == 1 else numbered_stem(scan.stem, source.number)
            xml_path = best.get(source.number) or scan.with_name(f"{stem}{FORMATS['page'].ending}")
            yield folder_page_of(folder, shown, xml_path, source)
    yield from lost


def folder_page_of(
    folder: Path, file: Path, xml_path: Path, source: PageSource | None, error: str | None = None
) -> FolderPage:
    """The page of a file in a folder."""
    name = file.relative_to(folder).as_posix()
    number = source.number if source is not None and source.pages > 1 else None
    shown = name if number is None else f"{name} page {number}"
    return FolderPage(
        blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(), shown, xml_path, source, error
    )
