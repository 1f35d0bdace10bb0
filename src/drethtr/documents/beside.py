"""Names of pages, and the locations of their images, from file names."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice
from pathlib import Path, PurePath

from drethtr.base.errors import DataError
from drethtr.base.links import is_near
from drethtr.documents.names import files_in, files_like, key_of, listed_file, similar_files
from drethtr.images.page import PageSource, open_pages

DESCRIPTION = ".xml"
"""Extension of PAGE and ALTO files."""

KINDS = (".alto", ".page")
"""Suffixes before the extension of PAGE and ALTO files."""

IMAGES = (
    *(".jpg", ".jpeg", ".jfif", ".png", ".tif", ".tiff", ".jp2", ".webp", ".bmp", ".gif"),
    *(".j2k", ".jpx", ".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".heic", ".heif"),
)
"""Extensions of image files; if a page has several images, the first in this order is used."""

PDF = ".pdf"

SEVERAL = (".tif", ".tiff", PDF)
"""Extensions of files that may hold several pages."""

IMAGE_FOLDERS = ("Images", "images", "img")
"""Names of image folders beside page files or above them."""

OF_IMAGES = frozenset(
    (
        *(ending.removeprefix(".") for ending in IMAGES),
        *("image", "images", "img", "imgs", "scan", "scans", "facsimile", "facsimiles", "photo", "photos"),
        *("master", "max"),
    )
)
"""Words in the names of folders of images."""

MAX_WORDS = 3
"""Maximum number of words of such a name: `jpg`, `scans_1914`, `OCR-D-IMG`."""

HERE = {Path(): "the current folder", Path(".."): "the one above"}
"""Words for folders in messages."""

NUMBER = re.compile(r"_\d{4,}$")

PART = re.compile(r"_\d{4,}[-+][-+\d]+$")


def is_hidden(file: Path) -> bool:
    """Whether a file is hidden, such as the `._a.png` files of macOS on other file systems."""
    return file.name.startswith(".")


def visible_below(folder: Path) -> list[Path]:
    """Files and folders at any depth, sorted, without hidden ones and their contents.

    Raises:
        DataError: if a folder cannot be opened.
    """

    def refuse(error: OSError) -> None:
        raise DataError(
            f"cannot be accessed: {error.strerror}; allow reading it, move it away, or give only the folders to read",
            error.filename or folder,
        ) from error

    return sorted(here / entry.name for here, entries in walk_visible(folder, refuse) for entry in entries)


def walk_visible(
    folder: Path, refused: Callable[[OSError], object] = lambda error: None
) -> Iterator[tuple[Path, list["os.DirEntry[str]"]]]:
    """The content of this folder and all folders below, without hidden entries; links to folders are not followed.

    Args:
        refused: Called with the error of a folder that cannot be opened.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as every:
                entries = [entry for entry in every if not entry.name.startswith(".")]
            waiting += [here / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            refused(error)
        else:
            yield here, entries


def page_stem(path: Path) -> str:
    """The page name of a file: `0001` for `0001.jpg`, `0001.xml`, `0001.alto.xml` and `0001.page.xml`."""
    stem = path.stem
    if path.suffix.lower() == DESCRIPTION:
        for kind in KINDS:
            stem = stem.removesuffix(kind)
    return stem


def numbered_stem(stem: str, number: int) -> str:
    """The name of a page of a multi-page file: `book_0012`."""
    return f"{stem}_{number:04}"


def stem_of_page(stem: str, source: PageSource) -> str:
    """The name of a page of any file, by the file's own: with the number of the page if the file has several."""
    return stem if source.pages == 1 else numbered_stem(stem, source.number)


def with_pages(stem: str, numbers: Sequence[int]) -> str:
    """A name for some pages of a file, in order: `book_0001-0020+0025` for the first twenty and one more."""
    in_a_row = groupby(enumerate(numbers), lambda entry: entry[1] - entry[0])
    groups = [[number for _, number in group] for _, group in in_a_row]
    ends = (dict.fromkeys((group[0], group[-1])) for group in groups)
    spans = "+".join("-".join(f"{number:04}" for number in span) for span in ends)
    return f"{stem}_{spans}"


def part_of(stem: str) -> str | None:
    """The stem that a name by `with_pages` was made from; None for other names."""
    return PART.sub("", stem) if PART.search(stem) else None


def without_number(stem: str) -> str:
    """The stem of the file that a numbered page belongs to."""
    return NUMBER.sub("", stem)


def image_beside(
    path: Path, image: str, find: Callable[[Path], Path | None] = listed_file, images: Path | None = None
) -> Path:
    """Find the image of the page in the file `path`, which names it `image`.

    The name is looked up beside the file, in the folder above (Transkribus keeps page files in a folder `page`), and in
    `IMAGE_FOLDERS` of these and the next folder above; first as it is, then in other spellings and with other
    extensions. Then the file's own name, and shorter parts of it, are tried with image extensions, beside the file and
    in the folder above; last, both names in folders of images beside a folder of descriptions. A name that leads out of
    these folders is ignored, since the file is not trusted. One exception comes first: if drethtr named the file after
    its image, but it now names another image, both were renamed together, and its own name is looked up first.

    Args:
        find: Finds a file; by default the file system is asked.
        images: A folder in which both names are tried first, in all spellings.

    Raises:
        DataError: if there is no image, or several fit equally well.
    """
    is_renamed = was_renamed(path, image)
    stems = dict.fromkeys((path.stem, page_stem(path), path.name.split(".")[0]))
    if images is not None:
        names = dict.fromkeys((*(own_names(path, ("",)) if is_renamed else ()), image, *stems))
        given = (found for name in names if name for found in images_called(images, name))
        if (found := next(given, None)) is not None:
            return found
    around, endings = folders_around(path), (*IMAGES, *map(str.upper, IMAGES))
    near = around[:2]
    # Its own name in the folder above (own[1:]) comes after the image that it names, if that is beside it.
    own = [[folder / name for name in own_names(path, endings)] for folder in near] if is_renamed else []
    if (found := next(filter(None, map(find, chain(*own[:1]))), None)) is not None:
        return found
    if image and os.path.basename(image) == image:  # noqa: PTH119 - by far the most usual, and a name alone
        place = path.parent / image
        if place != path and (found := find(place)) is not None:
            return found
    folders = [*near, *(folder / name for folder in around for name in IMAGE_FOLDERS)]
    named = (folder / image for folder in folders if image)
    alike = (folder / f"{stem}{ending}" for stem in stems for folder in near for ending in endings)
    respelled = (found for folder in folders if image for found in images_called(folder, image))
    elsewhere = (found for name in dict.fromkeys((image, *stems)) if name for found in in_image_folders(path, name))
    # Hundreds of paths, of which the first usually exists.
    for place in chain(*own[1:], named, respelled, alike, elsewhere):
        # Check nearness first: on Windows, merely testing for a name such as //host/x connects to that host.
        if is_near(place, near[-1]) and place != path and (found := find(place)) is not None:
            return found
    called = f"image {image!r}" if image else "image"
    among = near if images is None else (images,)
    close = [str(file) for folder in among for file in similar_files(folder, image or path.name, IMAGES)]
    there = f"; similar names: {', '.join(close)}" if close else ""
    places = " or ".join(HERE.get(folder, str(folder)) for folder in near)
    put = f"put it into {places}, or name its folder with --images"
    cure = put if images is None else f"it is not in {images}"
    raise DataError(f"its {called} is missing; {cure}{there}", path)


def folders_around(path: Path) -> list[Path]:
    """The folder of a file and the two above it, also those above the current one."""
    folders = [path.parent]
    for _ in range(2):
        last = folders[-1]
        folders.append(last / ".." if last == Path() or last.name == ".." else last.parent)
    return list(dict.fromkeys(folders))


def own_names(path: Path, endings: Sequence[str]) -> Iterator[str]:
    """Names of the image of a page file that is called after it, then of the file of several pages that has it."""
    stem = page_stem(path)
    yield from (f"{stem}{ending}" for ending in endings)
    if (whole := without_number(stem)) != stem:
        yield from (f"{whole}{ending}" for ending in (*SEVERAL, *map(str.upper, SEVERAL)))


def images_called(folder: Path, name: str) -> Iterator[Path]:
    """The images of a folder that have this name in another spelling, then with another extension or none given.

    A PDF only if the name is that of one, as most are made from images.
    """
    key = key_of(name)
    stem = key.removesuffix(ending) if (ending := PurePath(key).suffix) in IMAGES else key
    for other in dict.fromkeys((key, *(stem + ending for ending in IMAGES))):
        yield from (file for file in files_like(folder, other) if file.suffix.lower() in (*IMAGES, PDF))


def was_renamed(path: Path, image: str) -> bool:
    """Whether a file has one of our names, `0001.page.xml`, and names the image of another page."""
    stem, named = page_stem(path), key_of(image)
    own = {key_of(stem), key_of(without_number(stem))}  # that of its scan, or of a file with several pages
    return stem != path.stem and bool(named) and own.isdisjoint((named, PurePath(named).stem))


def in_image_folders(path: Path, name: str) -> Sequence[Path]:
    """The image of a name in folders beside that of the file `path`, as in `data/alto` and `data/jpg`.

    Only a folder of descriptions without images has its images elsewhere, and only in folders that are named after
    images and hold no descriptions, since volumes side by side have pages of the same names.

    Raises:
        DataError: if several folders have one.
    """
    if holds(path.parent, IMAGES):
        return ()
    with suppress(OSError):
        above = folders_around(path)[:2][-1]
        beside = sorted(folder for folder in above.iterdir() if folder.is_dir() and not is_hidden(folder))
        found = [
            image
            for folder in beside
            if is_called_after_images(folder) and not (folder.samefile(path.parent) or holds(folder, (DESCRIPTION,)))
            for image in islice(images_called(folder, name), 1)
        ]
        if len(found) > 1:
            places = ", ".join(map(str, found))
            raise DataError(f"its image may be any of {places}; put the right one beside it", path)
        return found
    return ()


def is_called_after_images(folder: Path) -> bool:
    """Whether the name of a folder says that it has images; names longer than `MAX_WORDS` do not count."""
    words = re.findall(r"jp2|j2k|[^\W\d_]+", folder.name.lower())
    return len(words) <= MAX_WORDS and not OF_IMAGES.isdisjoint(words)


def holds(folder: Path, endings: tuple[str, ...]) -> bool:
    """Whether a folder has a file with one of some extensions."""
    return any(name.endswith(endings) for name in files_in(folder))


def image_of(path: Path, image: str, images: Path | None = None) -> PageSource:
    """Open the image of the page in the file `path`, which names it `image`; see `image_beside`.

    Raises:
        DataError: if there is no image, it is damaged, or the page is ambiguous.
    """
    found = image_beside(path, image, images=images)
    return page_among(open_pages(found), path, found)


def page_among(sources: Sequence[PageSource], path: Path, found: Path) -> PageSource:
    """The page that the file `path` describes, of the pages of the image `found`: the one that its name selects.

    Raises:
        DataError: if it selects none of several, or one that the image lacks, as if the image once had more pages.
    """
    stem = page_stem(path)
    if found.suffix.lower() in SEVERAL and stem != found.stem and without_number(stem) == found.stem:
        number = int(stem.removeprefix(f"{found.stem}_"))
        if number > len(sources):
            raise DataError(
                f"describes page {number}, but {found} has only {len(sources)}; "
                "put the former scan back, or correct the number in the name of this file",
                path,
            )
    if len(sources) == 1:
        return sources[0]
    names = [numbered_stem(found.stem, source.number) for source in sources]
    if stem not in names:
        raise DataError(
            f"describes one page, but {found} has {len(sources)}; "
            f"add the number of the page to its name, such as {names[0]}{path.suffix}",
            path,
        )
    return sources[names.index(stem)]
