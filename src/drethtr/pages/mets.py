"""METS: the pages of a volume in order, as libraries, OCR-D, Transkribus and eScriptorium list them.

Nothing that is listed is left out silently: each page of the structure becomes a page that is read, or an `AbsentPage`
with its reason. The files of a page are counted before any are filtered out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from drethtr.base.archive import as_given
from drethtr.base.cache import address_of, name_of
from drethtr.base.errors import DataError
from drethtr.base.files import is_file
from drethtr.base.links import is_near
from drethtr.base.urls import joined, parts_of
from drethtr.base.wording import counted
from drethtr.documents.beside import DESCRIPTION, IMAGES
from drethtr.documents.markup import MAX_BYTES, Element, parse
from drethtr.documents.read import DESCRIBING, first_bytes, read_page
from drethtr.images.page import PageSource
from drethtr.images.page_file import MAX_PAGES
from drethtr.pages.volume import AbsentPage, RemotePage, VolumePage

BEST_IMAGES = ("OCR-D-IMG", "ORIGINAL", "MASTER", "MAX", "IMG", "IMAGE", "PRESENTATION", "DEFAULT")
"""File groups with the images of pages, the largest first."""

SMALL = re.compile(r"(?<![^\W_])(THUMB[A-Z]*|MIN|TEASER|PREVIEW)(?![^\W_])")
"""A word in the USE of images too small to read: `THUMBS`, `thumbnail image`, `OCR-D-THUMBS`."""

SMALL_PLACE = re.compile(r"thumb", re.IGNORECASE)
"""A word in addresses of small images, if nothing else distinguishes them from the image of the page."""

UNKNOWN_TYPES = ("", "application/octet-stream")
"""Media types that do not say what a file is."""

PAGE_TYPE = re.compile(r"page\b", re.IGNORECASE)
"""The type of a part of the structure that is a page: `page`, `SINGLE_PAGE`, but not `pages`."""

SHOWN = 3
"""Maximum number of files of a page to list in an error."""


class ListedFile(NamedTuple):
    """A file in a METS file: its use, in capitals, its type, and its path or address."""

    use: str
    type: str
    place: str

    @property
    def is_image(self) -> bool:
        """Whether it is an image to read. Image servers may give neither a type nor an extension."""
        has_no_type = self.type in UNKNOWN_TYPES and not PurePosixPath(parts_of(self.place).path).suffix
        return bool(self.place) and SMALL.search(self.use) is None and (has_no_type or self.is_of("image/", *IMAGES))

    def is_of(self, type: str, *others: str) -> bool:
        """Whether its media type or its extension is one of these."""
        name = parts_of(self.place).path.lower()
        return any(self.type.startswith(kind) or name.endswith(kind) for kind in (type, *others))

    def below(self, folder: Path) -> Path | None:
        """The local file, relative to a folder; None if it is missing, or neither in it nor in the folder above."""
        parts = parts_of(self.place)
        if parts.scheme == "file":
            from urllib.request import url2pathname  # with all of HTTP behind it

            places = [Path(url2pathname(parts.path))]
        elif "://" in self.place:
            return None
        else:
            places = [folder / self.place, folder / unquote(self.place)]
        return next((place for place in places if is_near(place, folder) and is_file(place)), None)


def pages_of_mets(path: Path) -> tuple[VolumePage, ...]:
    """The pages of a METS file in the order of its physical structure, each with its image and its PAGE or ALTO file.

    Of several groups of images the largest local one is used; several images of that group are several pages. Of
    several descriptions, PAGE is used, and of those the last group. A page without an image is an error only when it
    is read. If the METS file was fetched from an address, its images are fetched as well, and descriptions are ignored.

    Raises:
        DataError: if it cannot be read, or lists no pages.
    """
    root = parse(first_bytes(path, MAX_BYTES + 1), str(path)).root
    listed = {id: file for section in root.all("fileSec") for id, file in files_in(section, "")}
    # The physical structure first.
    structures = sorted(root.all("structMap"), key=lambda one: one.attributes.get("TYPE", "").upper() != "PHYSICAL")
    candidates = [list(divisions_of(structure)) for structure in structures]
    with_files = (parts for parts in candidates if any(part.all("fptr") for part in parts))
    divisions = next(with_files, next(filter(None, candidates), []))
    if not divisions:
        raise DataError(f"METS without pages: no structMap orders the {len(listed)} files that it lists", path)
    if not any(file.is_image for part in divisions for file in files_of(part, listed)[0]):
        raise DataError(f"METS without readable pages; page 1: {without_image(*files_of(divisions[0], listed))}", path)
    found = [page for part in divisions for page in pages_of(path, part, listed)]
    if len(found) > MAX_PAGES:
        raise DataError(f"has more than {MAX_PAGES:,} pages; split it", path)
    pages = (replace(page, number=number, pages=len(found)) for number, page in enumerate(found, start=1))
    first, *others = pages
    return (replace(first, remarks=(*on_no_page(path, divisions, listed), *first.remarks)), *others)


def files_in(group: Element, use: str) -> Iterator[tuple[str, ListedFile]]:
    """The files of a group with their ids, at any depth; the USE of a file comes before that of its group."""
    for child in group.children:
        own = child.attributes.get("USE", use).upper()
        if child.name == "fileGrp":
            yield from files_in(child, own)
        elif child.name == "file":
            places = (locator.attributes.get("xlink:href", "").strip() for locator in child.all("FLocat"))
            type = child.attributes.get("MIMETYPE", "").strip().lower()
            yield child.attributes.get("ID", ""), ListedFile(own, type, next(filter(None, places), ""))
            yield from files_in(child, own)


def divisions_of(structure: Element) -> Iterator[Element]:
    """The pages of a structure, in order.

    A part is a page if its type says so and it has files, else if nothing below it is a page and it has files, or at
    least the type. The volume itself, around all other parts, may have files, but is not a page.
    """
    inside = structure.all("div")
    # A stable sort by ORDER, a number of any size; if one part has no ORDER, all keep their places.
    if all(division.attributes.get("ORDER", "").isdecimal() for division in inside):
        inside.sort(key=lambda division: float(division.attributes["ORDER"]))
    for division in inside:
        has_files = bool(division.all("fptr"))
        has_type = PAGE_TYPE.search(division.attributes.get("TYPE", "").replace("_", " ")) is not None
        below = [] if has_files and has_type else list(divisions_of(division))
        is_volume = structure.name == "structMap" and division.all("div")
        if below:
            yield from below
        elif has_type or (has_files and not is_volume):
            yield division


def files_of(division: Element, listed: Mapping[str, ListedFile]) -> tuple[Sequence[ListedFile], Sequence[str]]:
    """The files of a page, and the ids it points to that no file has."""
    named = (part.attributes.get("FILEID", "") for pointer in division.all("fptr") for part in pointer.walk())
    ids = dict.fromkeys(filter(None, named))
    return [listed[id] for id in ids if id in listed], [id for id in ids if id not in listed]


def on_no_page(path: Path, divisions: Sequence[Element], listed: Mapping[str, ListedFile]) -> Iterator[str]:
    """Which images are on no page although other images of their group are, in a sentence."""
    used = [file for part in divisions for file in files_of(part, listed)[0] if file.is_image]
    groups, places = {file.use for file in used}, {file.place for file in used}
    rest = [file.place for file in listed.values() if file.is_image and file.use in groups and file.place not in places]
    if rest:
        number = counted(len(rest), "image")
        yield f"{as_given(str(path))}: {number} on no page of its structure, not read: {listing(rest)}"


def pages_of(path: Path, division: Element, listed: Mapping[str, ListedFile]) -> Iterator[VolumePage]:
    """The pages of a part of the structure: one, unless its best group has several images."""
    files, dangling = files_of(division, listed)
    images = best_images(path, files)
    if not images:
        yield AbsentPage(path, reason=without_image(files, dangling))
    elif (address := address_of(path)) is not None:
        for image in images:
            yield RemotePage(path, addresses=(joined(address, image.place),), image_name=name_of(image.place))
    else:
        yield from local_pages(path, images, *descriptions_among(path.parent, files))


def best_images(path: Path, files: Sequence[ListedFile]) -> Sequence[ListedFile]:
    """The images of the best group of a page; of images that differ in their extension only, the first.

    Groups with images on this machine come first, then those known as large. Libraries invent group names, so among
    groups with unknown names the largest image decides.
    """
    groups: dict[str, dict[str, ListedFile]] = {}
    for file in filter(lambda file: file.is_image, files):
        stem = file.place.removesuffix(PurePosixPath(file.place).suffix)
        groups.setdefault(file.use, {}).setdefault(stem, file)

    def order(use: str) -> tuple[bool, bool, int, int]:
        images = groups[use].values()
        here = [place for image in images if (place := image.below(path.parent)) is not None]
        pixels = max(map(pixels_of, here), default=0) if len(groups) > 1 and rank(use) == len(BEST_IMAGES) else 0
        is_elsewhere = not here and address_of(path) is None
        return is_elsewhere, all(SMALL_PLACE.search(image.place) for image in images), rank(use), -pixels

    best = list(groups[min(groups, key=order)].values()) if groups else []
    return [image for image in best if not SMALL_PLACE.search(image.place)] or best


def pixels_of(image: Path) -> int:
    """The pixels of an image, from its header; 0 if it is damaged."""
    try:
        width, height = PageSource(image).size()
    except DataError:
        return 0
    return width * height


def without_image(files: Sequence[ListedFile], dangling: Sequence[str]) -> str:
    """Why a page has no image, and what to do."""
    if dangling and not files:
        return f"it points to {listing(dangling)}, which the file section does not list"
    if not files:
        return "its part of the structure lists no files"
    names = listing([file.place or "a file without an address" for file in files])
    if all(SMALL.search(file.use) for file in files):
        return f"its images are too small to read, by their USE {files[0].use!r}: {names}"
    if pdf := next((file for file in files if file.is_of("application/pdf", ".pdf")), None):
        return f"it has no image, only a PDF; give that itself: {pdf.place}"
    return f"it has no image, only {names}"


def listing(names: Sequence[str]) -> str:
    """Some names for a message."""
    return ", ".join(names[:SHOWN]) + ", …" * (len(names) > SHOWN)


def local_pages(
    path: Path, images: Sequence[ListedFile], descriptions: Sequence[Path], unopened: Sequence[Path]
) -> Iterator[VolumePage]:
    """A page for each image, with its description; if there are several images, the description that names it."""
    # Later groups of OCR-D come from later steps, so the last description of a page is the most complete.
    unused = list(descriptions[-1:] if len(images) == 1 else (*descriptions, *unopened))
    instead = (f"{file}: cannot be opened; {unused[0]} is used instead" for file in unopened)
    remarks = tuple(map(as_given, instead)) if len(images) == 1 else ()
    named = {file: image_named_in(file) for file in unused if len(images) > 1}
    for image in images:
        place = image.below(path.parent)
        if place is None:
            yield AbsentPage(path, reason=missing(image))
            continue
        # Matched by the image that each names: they may be listed in another order than the images.
        own = next((file for file in unused if len(images) == 1 or named[file] == place.name), None)
        if own is not None:
            unused.remove(own)
        yield VolumePage(place, description=own, remarks=remarks)
    for file in unused:
        names = listing([image.place for image in images])
        yield AbsentPage(path, reason=f"{file} describes none of the images of its page, {names}")


def image_named_in(description: Path) -> str | None:
    """The name of the image in a description; None if it is damaged."""
    try:
        return read_page(description).image
    except DataError:
        return None


def rank(use: str) -> int:
    """The rank of a group of images, best first."""
    return next((place for place, name in enumerate(BEST_IMAGES) if use == name), len(BEST_IMAGES))


def missing(image: ListedFile) -> str:
    """Why an image is missing, and what to do."""
    if "://" in image.place and parts_of(image.place).scheme != "file":
        return f"its image is at {image.place}, and only the METS file is here; give the address of the METS file"
    return f"its image {image.place} is missing; put it into the folder of the METS file or the one above"


def descriptions_among(folder: Path, files: Sequence[ListedFile]) -> tuple[Sequence[Path], Sequence[Path]]:
    """The files that describe a page, and those that cannot be opened if others can.

    These are its PAGE files, else its ALTO files; of several groups the last, from the latest step.
    """
    found: dict[bytes, dict[str, list[Path]]] = {b"PcGts": {}, b"alto": {}, b"": {}}
    for file in files:
        is_xml = file.is_of("application/vnd.prima.page+xml", "application/alto+xml", "text/xml", DESCRIPTION)
        if is_xml and (place := file.below(folder)) is not None and (root := root_of(place)) is not None:
            found[root].setdefault(file.use, []).append(place)
    unopened = [file for group in found[b""].values() for file in group]
    if best := found[b"PcGts"] or found[b"alto"]:
        return list(best.values())[-1], unopened
    return unopened, ()


def root_of(description: Path) -> bytes | None:
    """The root element of a PAGE or ALTO file, empty if it cannot be opened; None for other files."""
    try:
        root = DESCRIBING.search(first_bytes(description).replace(b"\0", b""))
    except DataError:
        return b""
    return root[2] if root is not None else None
