"""METS: the pages of a volume in order, as libraries, OCR-D, Transkribus and eScriptorium list them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from drethtr.base.cache import address_of, joined, name_of, parts_of
from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, IMAGES, is_file
from drethtr.documents.markup import MAX_BYTES, Element, parse
from drethtr.documents.read import first_bytes
from drethtr.images.page_file import MAX_PAGES
from drethtr.pages.catalog import DESCRIBING, METS
from drethtr.pages.volume import AbsentPage, RemotePage, VolumePage

BEST_IMAGES = ("OCR-D-IMG", "ORIGINAL", "MASTER", "MAX", "IMG", "IMAGE", "PRESENTATION", "DEFAULT")
"""File groups with the images of pages, the largest first."""

SMALL_IMAGES = frozenset({"THUMBS", "MIN", "TEASER"})
"""File groups with images too small to read."""


class Listed(NamedTuple):
    """A file in a METS file: its group, its type, and its path or address."""

    group: str
    type: str
    place: str

    @property
    def is_image(self) -> bool:
        """Whether it is an image to read."""
        return self.group not in SMALL_IMAGES and self.is_of("image/", *IMAGES)

    @property
    def is_xml(self) -> bool:
        """Whether it may describe a page."""
        return self.is_of("application/vnd.prima.page+xml", "application/alto+xml", "text/xml", DESCRIPTION)

    def is_of(self, type: str, *others: str) -> bool:
        """Whether its media type or its extension is one of some."""
        name = parts_of(self.place).path.lower()
        return any(self.type.startswith(kind) or name.endswith(kind) for kind in (type, *others))

    def below(self, folder: Path) -> Path | None:
        """The local file, relative to a folder; None if it is elsewhere or missing."""
        parts = parts_of(self.place)
        if parts.scheme == "file":
            from urllib.request import url2pathname  # with all of HTTP behind it

            places = [Path(url2pathname(parts.path))]
        elif "://" in self.place:
            return None
        else:
            places = [folder / self.place, folder / unquote(self.place)]
        return next(filter(is_file, places), None)


def is_mets(path: Path) -> bool:
    """Whether a file is METS, judged by its beginning.

    Raises:
        DataError: if it cannot be read.
    """
    return path.suffix.lower() == DESCRIPTION and METS.search(first_bytes(path).replace(b"\0", b"")) is not None


def pages_of_mets(path: Path) -> tuple[VolumePage, ...]:
    """The pages of a METS file in the order of its physical structure, each with its image and its PAGE or ALTO file.

    Of several images the largest local one is used; of several descriptions, PAGE, and of those the last group. A
    missing image is an error only when its page is read. If the METS file was fetched from an address, its images are
    fetched as well, and descriptions are ignored.

    Raises:
        DataError: if it cannot be read, or lists no pages.
    """
    root = parse(first_bytes(path, MAX_BYTES + 1), str(path)).root
    listed = {id: file for section in root.all("fileSec") for id, file in files_in(section, "")}
    divisions = next((pages for pages in map(list, map(divisions_of, structures(root))) if pages), [])
    found = [page for part in divisions if (page := page_of(path, [listed[id] for id in pointers(part, listed)]))]
    if not found:
        raise DataError("METS without pages: its physical structure lists no images", path)
    if len(found) > MAX_PAGES:
        raise DataError(f"has more than {MAX_PAGES:,} pages; split it", path)
    return tuple(replace(page, number=number, pages=len(found)) for number, page in enumerate(found, start=1))


def files_in(group: Element, name: str) -> Iterator[tuple[str, Listed]]:
    """The files of a group and of its subgroups, with their ids."""
    for child in group.children:
        if child.name == "fileGrp":
            yield from files_in(child, child.attributes.get("USE", name).upper())
        elif child.name == "file":
            type = child.attributes.get("MIMETYPE", "").lower()
            for locator in child.all("FLocat"):
                if place := locator.attributes.get("xlink:href", "").strip():
                    yield child.attributes.get("ID", ""), Listed(name, type, place)
                    break


def structures(root: Element) -> Sequence[Element]:
    """The structures of the volume, the physical one first."""
    return sorted(root.all("structMap"), key=lambda one: one.attributes.get("TYPE", "").upper() != "PHYSICAL")


def divisions_of(structure: Element) -> Iterator[Element]:
    """The parts of a structure that have files, in order; the volume itself may have files, but is not a page."""
    inside = structure.all("div")
    # A stable sort by a number as large as somebody wrote; a single part without ORDER leaves all as they are.
    if all(division.attributes.get("ORDER", "").isdecimal() for division in inside):
        inside.sort(key=lambda division: float(division.attributes["ORDER"]))
    for division in inside:
        parts = list(divisions_of(division))
        if parts or division.all("div"):
            yield from parts
        elif division.all("fptr"):
            yield division


def pointers(division: Element, listed: Mapping[str, Listed]) -> Iterator[str]:
    """The ids of the files of a page."""
    for pointer in division.all("fptr"):
        ids = (element.attributes.get("FILEID", "") for element in pointer.walk())
        yield from (id for id in ids if id in listed)


def page_of(path: Path, files: Sequence[Listed]) -> VolumePage | None:
    """The page with these files; None if no image is among them."""
    images = sorted((file for file in files if file.is_image), key=lambda file: rank(file.group))
    if not images:
        return None
    if (address := address_of(path)) is not None:
        return RemotePage(path, addresses=(joined(address, images[0].place),), image_name=name_of(images[0].place))
    here = (file.below(path.parent) for file in images)
    image = next((place for place in here if place is not None), None)
    if image is None:
        return AbsentPage(path, reason=missing(images[0]))
    return VolumePage(image, description=description_among(path.parent, files))


def rank(group: str) -> int:
    """The rank of a group of images, best first."""
    return next((place for place, name in enumerate(BEST_IMAGES) if group == name), len(BEST_IMAGES))


def missing(image: Listed) -> str:
    """Why an image is missing, and what to do."""
    if "://" in image.place:
        return f"its image is at {image.place}, and only the METS file is here; give the address of the METS file"
    return f"its image {image.place} is missing"


def description_among(folder: Path, files: Sequence[Listed]) -> Path | None:
    """The PAGE file that describes a page, else the ALTO file; of several, the last, from the latest step."""
    found: dict[bytes, Path] = {}
    for file in files:
        if file.is_xml and (place := file.below(folder)) is not None:
            root = DESCRIBING.search(first_bytes(place).replace(b"\0", b""))
            if root is not None:
                found[root[2]] = place
    return found.get(b"PcGts", found.get(b"alto"))
