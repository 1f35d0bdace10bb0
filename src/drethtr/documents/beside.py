"""What a page is called, and where its image is: known from the names of files."""

import re
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.images.page import PageSource, open_pages

DESCRIPTION = ".xml"
"""Ending of PAGE and ALTO files."""

KINDS = (".alto", ".page")
"""What files that describe pages may have before their ending."""

IMAGES = (
    *(".jpg", ".jpeg", ".jfif", ".png", ".tif", ".tiff", ".jp2", ".webp", ".bmp", ".gif"),
    *(".j2k", ".jpx", ".ppm", ".pgm", ".pbm", ".pnm"),
)
"""Endings of image files; where several lie beside a page, the first counts."""

IMAGE_FOLDERS = ("Images", "images", "img")
"""Folders with the images of pages that are described beside or below them."""

NUMBER = re.compile(r"_\d{4,}$")


def is_hidden(file: Path) -> bool:
    """Whether a file is hidden, as `._a.png` is, which macOS puts beside `a.png` on foreign disks."""
    return file.name.startswith(".")


def visible_below(folder: Path) -> list[Path]:
    """Files and folders at any depth, sorted, without hidden ones and their contents."""
    found = ((path.relative_to(folder), path) for path in folder.rglob("*"))
    return sorted(path for inside, path in found if not any(map(is_hidden, (inside, *inside.parents))))


def page_stem(path: Path) -> str:
    """The name of the page in a file: `0001` in `0001.jpg`, `0001.xml`, `0001.alto.xml` and `0001.page.xml`."""
    stem = path.stem
    if path.suffix.lower() == DESCRIPTION:
        for kind in KINDS:
            stem = stem.removesuffix(kind)
    return stem


def numbered(stem: str, number: int) -> str:
    """The name of a page of a file that holds several: `book_0012`."""
    return f"{stem}_{number:04}"


def without_number(stem: str) -> str:
    """The name of the file that such a page is in."""
    return NUMBER.sub("", stem)


def image_beside(path: Path, image: str) -> Path:
    """The image of the page in the file `path`, which calls it `image`.

    It is looked for by that name beside the file and one folder above, as Transkribus keeps pages in a folder `page`,
    then in `IMAGE_FOLDERS` there and one level higher; finally beside and above the file by the file's own name with
    the ending of an image, first by the whole name, then by less and less of it.

    Raises:
        DataError: if there is none.
    """
    near = path.parents[:2]
    folders = [*near, *(folder / name for folder in path.parents[:3] for name in IMAGE_FOLDERS)]
    named = [folder / image for folder in folders if image]
    stems = dict.fromkeys((path.stem, page_stem(path), path.name.split(".")[0]))
    endings = (*IMAGES, *map(str.upper, IMAGES))
    alike = [folder / f"{stem}{ending}" for stem in stems for folder in near for ending in endings]
    for place in (*named, *alike):
        if is_file(place) and place != path:
            return place
    called = f"image {image!r}" if image else "image"
    raise DataError(f"{path}: its {called} is missing; put it into {path.parent} or {path.parent.parent}")


def image_of(path: Path, image: str) -> PageSource:
    """The image of the page in the file `path`, which calls it `image`; its own number tells which of several pages.

    Raises:
        DataError: if there is none, it is damaged, or nothing tells which of several it is.
    """
    found = image_beside(path, image)
    sources = open_pages(found)
    if len(sources) == 1:
        return sources[0]
    names = [numbered(found.stem, source.number) for source in sources]
    if page_stem(path) not in names:
        raise DataError(
            f"{path}: describes one page, but {found} has {len(sources)}; "
            f"to tell which, call it {names[0]}{path.suffix} or so"
        )
    return sources[names.index(page_stem(path))]


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that is too long for a file has none."""
    try:
        return path.is_file()
    except OSError:
        return False
