"""Folders of line images beside `.gt.txt` files of the same name: kraken, OCRopus, Tesseract, Calamari, OCR-D.

Folders may be nested. One named train, val or test is a split; any other is the page of its lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.beside import IMAGES, is_hidden, visible_below
from drethtr.lines.importers.importer import Entry, ImportedLine, Importer
from drethtr.lines.importers.splits import split_of_path
from drethtr.lines.sample import LeftOut, Sample
from drethtr.lines.sources.folder import read_transcription
from drethtr.lines.split_names import split_named

TEXT = ".gt.txt"
BINARY = (".nrm", ".bin", ".dew", ".raw", "")
"""Suffixes that OCRopus puts before `.png`; the first that exists is used, the scanned line last."""


@dataclass(frozen=True)
class Kraken(Importer):
    """Every `.gt.txt` at any depth."""

    name = "kraken"
    layout = "kraken: line images beside .gt.txt files, at any depth"

    def recognizes(self, source: Path) -> bool:
        return source.is_dir() and any(path.name.endswith(TEXT) for path in visible_below(source))

    def entries(self, source: Path) -> Iterator[Entry]:
        if not source.is_dir():
            raise DataError("is a file; give the folder of line images", source)
        name = source.resolve().name
        used: set[Path] = set()
        for folder in [source, *(path for path in visible_below(source) if path.is_dir())]:
            files = [path for path in sorted(folder.iterdir()) if path.is_file() and not is_hidden(path)]
            pictures = {path.stem + path.suffix.lower(): path for path in files if path.suffix.lower() in IMAGES}
            for text in [path for path in files if path.name.endswith(TEXT)]:
                images = images_of(text.name.removesuffix(TEXT), pictures)
                used.update(images)
                yield entry(images, text, name, source)
            for image in [path for path in files if path.suffix.lower() in IMAGES and path not in used]:
                yield LeftOut(str(image), f"no {TEXT} beside it")


def images_of(stem: str, pictures: dict[str, Path]) -> list[Path]:
    """The images of a line, the preferred one first; `pictures` has all images by name with lower-case extension."""
    names = [stem + middle + ending for middle in reversed(BINARY) for ending in sorted(IMAGES)]
    return [pictures[name] for name in names if name in pictures]


def entry(images: list[Path], text: Path, name: str, source: Path) -> Entry:
    """One line."""
    if not images:
        return LeftOut(str(text), "no image beside it")
    try:
        written = read_transcription(text)
    except DataError:
        return LeftOut(str(text), "not one line of UTF-8 text")
    stem = text.name.removesuffix(TEXT)
    inside = [part for part in text.parent.relative_to(source).parts if not split_named(part)]
    sample = Sample(images[0], written, name, page="/".join(inside) or None, key=str(images[0]), id=stem)
    return ImportedLine(split_of_path(text.parent, source) if text.parent != source else "", sample)
