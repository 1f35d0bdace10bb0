"""What a page is called, and where its image lies: known from the names of files."""

import re
from pathlib import Path

from drethtr.base.errors import DataError

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
    """Whether a file is none of a person's own: among others, macOS puts `._a.png` beside `a.png` on foreign disks."""
    return file.name.startswith(".")


def visible_below(folder: Path) -> list[Path]:
    """Files and folders at any depth, in order, without hidden ones and what those hold."""
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
    """What a page is called whose file holds several: `book_0012`."""
    return f"{stem}_{number:04}"


def without_number(stem: str) -> str:
    """What the file is called that such a page is in."""
    return NUMBER.sub("", stem)


def image_beside(path: Path, image: str) -> Path:
    """The image of the page in the file `path`, which calls it `image`.

    By that name it is looked for beside the file and, as Transkribus keeps pages in a folder `page`, one folder above,
    then in `IMAGE_FOLDERS` there and one higher; at last beside and above by the file's own name with the ending of an
    image, first the whole name, then less and less of it.

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


def is_file(path: Path) -> bool:
    """Whether there is such a file; there is none of a name that is too long for one."""
    try:
        return path.is_file()
    except OSError:
        return False
