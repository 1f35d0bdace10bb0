"""Lines to read whose text nobody knows: images in folders, or the lines of data files."""

from pathlib import Path
from typing import TYPE_CHECKING

from drethtr.cli.files import images_of
from drethtr.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drethtr.data.sample import Sample


def lines_of(inputs: "Sequence[str]") -> "list[Sample]":
    """Every line of some folders, at any depth, of images, patterns and data files; a folder is a page.

    Raises:
        DataError: if there is nothing, naming where.
    """
    from drethtr.data.sample import Sample
    from drethtr.data.sources import READERS, open_samples
    from drethtr.data.sources.folder import IMAGES

    found: list[Sample] = []
    for name in inputs:
        path = Path(name)
        if path.suffix in READERS:
            found += open_samples(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in IMAGES) if path.is_dir() else []
        for image in inside or images_of(name):
            page = str(image.parent.relative_to(path)) if inside else image.parent.name
            folder = path.resolve().name if inside else image.parent.name
            found.append(Sample(image, "", folder, page="" if page == "." else page, key=str(image)))
    if not found:
        raise DataError(f"{', '.join(inputs)}: no lines to read")
    return found
