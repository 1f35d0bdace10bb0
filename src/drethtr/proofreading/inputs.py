"""The inputs of a check: scans or lines, with their given texts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from drethtr.base.errors import DataError
from drethtr.base.files import is_file
from drethtr.datasets.layouts.folder import TRANSCRIPTIONS
from drethtr.datasets.open import TABLES
from drethtr.documents.beside import DESCRIPTION, IMAGES, PDF, image_beside, page_stem
from drethtr.documents.read import read_page
from drethtr.documents.running_text import READERS, read_running_text
from drethtr.images.page import PageSource
from drethtr.pages.catalog import Catalog, Kind
from drethtr.pages.inputs import find_inputs
from drethtr.pages.source import Original, open_originals

BOTH = frozenset({DESCRIPTION, ".json"})
"""Extensions of files that may describe a page, or contain only a text."""


@dataclass(frozen=True)
class ProofInput:
    """Pages and their running text.

    files  the pages of each file
    text   of all pages together; None if the pages have texts in their lines
    texts  the files that hold the running text
    """

    files: Mapping[Path, tuple[Original, ...]]
    text: str | None = None
    texts: tuple[Path, ...] = ()

    @property
    def source(self) -> str:
        """Where the text comes from, for messages."""
        return ", ".join(map(str, self.texts or self.files))

    @property
    def originals(self) -> tuple[Original, ...]:
        """The pages of all files."""
        return tuple(original for pages in self.files.values() for original in pages)


def open_proof_inputs(inputs: Sequence[str], *, texts_needed: bool, catalog: Catalog | None = None) -> list[ProofInput]:
    """Match pages and texts.

    A text file belongs to the page with the same name. If no text has the name of a page, all texts together are the
    running text of all pages, in the given order. A PAGE, ALTO or JSON file is a page, unless its image is given as
    well: then it is a text.

    Args:
        inputs: Scans, descriptions of pages, texts, folders of scans, and patterns.
        texts_needed: Whether every page needs a text file, rather than text in its lines.
        catalog: Knows what files are; by default they are opened.

    Raises:
        DataError: if a file is missing or of an unknown kind, or pages and texts do not match.
    """
    catalog = catalog or Catalog()
    files, errors = find_inputs(inputs, catalog=catalog)
    if errors:
        raise errors[0]
    texts = dict.fromkeys(path for path in files if is_text(path, catalog))
    pages = [path for path in files if path not in texts]
    scans = Scans.of(path for path in pages if path.suffix.lower() not in BOTH)
    texts |= dict.fromkeys(path for path in pages if path.suffix.lower() in BOTH and scans.have(path, catalog))
    pages = [path for path in pages if path not in texts]
    if not pages:
        raise DataError(f"{', '.join(inputs)}: no scans among these; give the images, or PAGE or ALTO files, as well")
    if not texts:
        if texts_needed:
            raise DataError(f"{', '.join(inputs)}: no text to align with the pages; give it as {', '.join(READERS)}")
        return [given_in_lines(path, catalog) for path in pages]
    named = {page_stem(path).removesuffix(".gt"): path for path in texts}
    stems = [page_stem(path) for path in pages]
    if named.keys().isdisjoint(stems):
        text = "\n".join(map(read_running_text, texts))
        return [ProofInput({path: opened(path, catalog) for path in pages}, text, tuple(texts))]
    if len(named) < len(texts):
        raise DataError(f"{', '.join(map(str, texts))}: two texts have the same name; give one for each page")
    if without := [str(path) for path, stem in zip(pages, stems, strict=True) if stem not in named]:
        raise DataError(f"{without[0]}: no text named after this page; name texts after their pages")
    if alone := named.keys() - stems:
        raise DataError(f"{named[min(alone)]}: no page named after this text; name texts after their pages")
    return [
        ProofInput({path: opened(path, catalog)}, read_running_text(named[stem]), (named[stem],))
        for path, stem in zip(pages, stems, strict=True)
    ]


def opened(path: Path, catalog: Catalog) -> tuple[Original, ...]:
    """The pages of a file; if it cannot be opened, one page whose reading fails, so that others are checked."""
    try:
        return open_originals(path, catalog)
    except DataError as error:
        return (Original(PageSource(path), error=error),)


class Scans(NamedTuple):
    """The names of some scans, and which files they are."""

    stems: frozenset[str]
    files: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """The scans at some paths."""
        known = list(paths)
        return cls(frozenset(map(page_stem, known)), frozenset(map(identity_of, filter(is_file, known))))

    def have(self, path: Path, catalog: Catalog) -> bool:
        """Whether a description is of one of the scans: it has its name, or names it as its image."""
        if page_stem(path) in self.stems:
            return True
        with suppress(DataError):
            return identity_of(image_beside(path, read_page(path).image, images=catalog.images)) in self.files
        return False


def identity_of(path: Path) -> tuple[int, int]:
    """Which file is at a path; the same for all its names."""
    found = path.stat()
    return found.st_dev, found.st_ino


def is_text(path: Path, catalog: Catalog) -> bool:
    """Whether a file contains a text, rather than a page.

    Raises:
        DataError: if it is neither.
    """
    ending = path.suffix.lower()
    if ending in {*IMAGES, PDF}:
        return False
    if ending not in READERS:
        raise DataError(f"neither a scan nor a text; texts are {', '.join(READERS)}", path)
    if ending not in BOTH:
        return True
    kind = catalog.kind(path)
    return kind is Kind.OTHER or (kind is None and ending == ".json")  # damaged XML is a page that cannot be read


def given_in_lines(path: Path, catalog: Catalog) -> ProofInput:
    """A page with text in its lines.

    Raises:
        DataError: if it has none.
    """
    originals = opened(path, catalog)
    sound = [original for original in originals if original.error is None]
    if sound and not any(line.text.strip() for original in sound for line in original.given_lines()):
        raise DataError("has no text to check; give the text as well, or PAGE or ALTO with text in its lines", path)
    return ProofInput({path: originals})


def are_lines(inputs: Sequence[str]) -> bool:
    """Whether some inputs are tables of lines, or folders of line images with their texts."""
    return any(Path(name).suffix.lower() in TABLES or holds_lines(Path(name)) for name in inputs)


def holds_lines(path: Path) -> bool:
    """Whether a folder contains a table, or a line image with its text."""
    if not path.is_dir():
        return False
    files = set(path.iterdir())
    if any(file.suffix.lower() in TABLES for file in files):
        return True
    images = (file for file in sorted(files) if file.suffix.lower() in IMAGES)
    described = (image for image in images if any(image.with_suffix(ending) in files for ending in TRANSCRIPTIONS))
    return any(original.is_line for image in islice(described, 1) for original in open_originals(image))
