"""The pages of a folder: each scan, in subfolders too, with the PAGE or ALTO file that holds its text."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, IMAGES, image_beside, numbered, page_stem, visible_below
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import file_name
from drethtr.documents.read import by_trust, first_bytes, read_page
from drethtr.images.page import PageSource, open_pages
from drethtr.pages.inputs import PDF, SEVERAL, is_description, searchable_copies

IMAGE_NAME = re.compile(rb"""\bimageFilename\s*=\s*["']([^"'<&]*)["']|<(?:\w+:)?fileName>([^<&]*)<""")
"""The name of the image near the beginning of a PAGE or ALTO file."""


@dataclass(frozen=True)
class FolderPage:
    """A page of a folder.

    id        opaque, the same as long as the scan keeps its name
    name      its file as seen from the folder
    xml_path  the PAGE or ALTO file with its text; until the page is read there may be none
    source    the scan, None if it is missing
    error     why it cannot be opened, if so
    """

    id: str
    name: str
    xml_path: Path
    source: PageSource | None
    error: str | None = None


def find_pages(folder: Path) -> list[FolderPage]:
    """The pages of a folder, by name.

    Raises:
        DataError: if the folder cannot be read.
    """
    try:
        files = [path for path in visible_below(folder) if path.is_file()]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", folder) from error
    copies = {copy for group in by_folder(files).values() for copy in searchable_copies(group)}
    scans = [file for file in files if file.suffix.lower() in {*IMAGES, PDF} and file not in copies]
    xml_files, lost = match_to_scans([file for file in files if file.suffix.lower() == DESCRIPTION])
    stems = Counter((scan.parent, scan.stem) for scan in scans)
    found = [page for scan in scans for page in pages_of_scan(folder, scan, xml_files, stems)]
    found += [folder_page_of(folder, xml_path, xml_path, None, error) for xml_path, error in lost]
    return sorted(found, key=lambda page: natural(page.name))


def natural(name: str) -> list[tuple[int, str]]:
    """A key for sorting in which page 10 follows page 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in re.split(r"(\d+)", name)]


def by_folder(files: Sequence[Path]) -> Mapping[Path, list[Path]]:
    """Files by the folder that they lie in."""
    groups: dict[Path, list[Path]] = {}
    for file in files:
        groups.setdefault(file.parent, []).append(file)
    return groups


def match_to_scans(files: Sequence[Path]) -> tuple[Mapping[Path, list[Path]], list[tuple[Path, str]]]:
    """Match PAGE and ALTO files to scans: those of each scan, best first, and those without a scan, with an error."""
    found: dict[Path, list[Path]] = {}
    lost = []
    for file in sorted(files, key=by_trust):
        if not is_description(file):
            continue
        try:
            found.setdefault(image_beside(file, image_name(file)), []).append(file)
        except DataError as error:
            lost.append((file, error.reason))
    return found, lost


def image_name(file: Path) -> str:
    """The name of the image of a PAGE or ALTO file; "" if there is none, or the file is damaged."""
    if (found := IMAGE_NAME.search(first_bytes(file))) is not None:
        return file_name((found[1] or found[2] or b"").decode("utf-8", "replace"))
    try:
        return read_page(file).image
    except DataError:
        return ""


def pages_of_scan(
    folder: Path, scan: Path, xml_files: Mapping[Path, list[Path]], stems: Mapping[tuple[Path, str], int]
) -> Iterator[FolderPage]:
    """The pages of a scan with their files."""
    described = xml_files.get(scan, [])
    try:
        sources = open_pages(scan) if scan.suffix.lower() in SEVERAL else (PageSource(scan),)
    except DataError as error:
        yield folder_page_of(folder, scan, described[0] if described else scan, None, error.reason)
        return
    for source in sources:
        if source.pages == 1:
            stem = scan.stem if stems[scan.parent, scan.stem] == 1 else scan.name
            own = described
        else:
            stem = numbered(scan.stem, source.number)
            own = [file for file in described if page_stem(file) == stem]
        xml_path = own[0] if own else scan.with_name(f"{stem}{FORMATS['page'].ending}")
        yield folder_page_of(folder, scan, xml_path, source)


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
