"""Lines of whole pages that PAGE XML or ALTO files describe: exports of Transkribus and eScriptorium, READ-2016.

Each line is cut out along its baseline and inside its polygon, straightened, and stored as PNG: a new image, for a
page cannot keep its bytes. A page is one sample group (`page`), named by its file and the folders around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from drethtr.data.importers.importer import Entry, Found, Importer, LeftOut, within
from drethtr.data.importers.splits import split_of_path
from drethtr.data.sample import Sample
from drethtr.documents.page import Page, TextLine
from drethtr.documents.read import image_beside, is_file, read_page
from drethtr.errors import DataError
from drethtr.images.line import Line
from drethtr.images.page import PageSource
from drethtr.images.straighten import straighten
from drethtr.layout.finder import FoundLine
from drethtr.layout.given import GivenLine, complete
from drethtr.text.normalize import nfc

XML_FOLDERS = frozenset({"page", "alto"})
"""Folders that hold the XML of the images above or beside them; they are no part of a page's name."""

IMAGE_FOLDERS = ("Images", "images", "img")


@dataclass(frozen=True)
class Pages(Importer):
    """Every line of every PAGE or ALTO file, at any depth; folders called train, val or test are splits."""

    name = "pages"
    layout = "PAGE or ALTO: .xml files with the images of their pages, at any depth"
    convention = "texts as transcribed on the page; lines cut along their baselines"
    set_name: ClassVar[str] = ""
    language: ClassVar[str | None] = None

    def recognizes(self, source: Path) -> bool:
        return source.is_dir() and any(is_page(path) for path in sorted(source.rglob("*.xml")))

    def entries(self, source: Path) -> Iterator[Entry]:
        files = sorted(source.rglob("*.xml")) if source.is_dir() else [source]
        if not files:
            raise DataError(f"{source}: holds no .xml file")
        for path in files:
            split = split_of_path(path.parent, source) if path.parent != source and source.is_dir() else ""
            name, page = self.set_name or source.resolve().stem, page_name(path, source)
            for found in lines_of(path):
                if isinstance(found, LeftOut):
                    yield found
                else:
                    sample = replace(found, text=nfc(found.text), set=name, language=self.language, page=page)
                    yield Found(split, sample)


@dataclass(frozen=True)
class Read2016(Pages):
    """READ-2016 (Ratsprotokolle, ICFHR 2016): German council minutes, in its official splits.

    PublicData/Training/Images and page, PublicData/Validation/Images and page, Test-ICFHR-2016/*.JPG and page; the
    page files may lie one folder deeper.

    Source: Sánchez, Romero, Toselli and Vidal, ICFHR 2016; the two archives of Zenodo record 1164045.
    """

    name = "read-2016"
    layout = "READ-2016: PublicData/Training, PublicData/Validation and Test-ICFHR-2016"
    set_name = "read2016"
    language = "de"
    known: ClassVar = {
        (8367, 1043, 1140): "official",
        (8349, 1040, 1138): "official, less lines without a text",
    }

    def recognizes(self, source: Path) -> bool:
        return within(source, "PublicData/Training") is not None


def is_page(path: Path) -> bool:
    """Whether a file can be read as a page; an export has other XML too, such as `mets.xml`."""
    try:
        read_page(path)
    except DataError:
        return False
    return True


def page_name(path: Path, source: Path) -> str:
    """The name of a page's file with the folders it lies in."""
    relative = path.relative_to(source) if source.is_dir() else Path(path.name)
    folders = [part for part in relative.parts[:-1] if part.lower() not in XML_FOLDERS]
    return "/".join([*folders, path.stem.removesuffix(".alto").removesuffix(".page")])


def lines_of(path: Path, *, empty: bool = True) -> Iterator[Sample | LeftOut]:
    """The lines that a PAGE or ALTO file describes, cut from its image, in reading order; texts as written.

    Args:
        empty: Whether lines without a text are among them.
    """
    try:
        page = read_page(path)
    except DataError as error:
        yield LeftOut(f"{path}: {error}", "not a page")
        return
    try:
        image = image_of(path, page)
        grey = PageSource(image).grey()
        page = page.on_image(image, *reversed(grey.shape))
    except DataError as error:
        yield LeftOut(f"{path}: {error}", "no image of the page")
        return
    lines = [line for line in page.lines if line.polygon or line.baseline]
    places = dict(zip((line.id for line in lines), complete(grey, [GivenLine.of(line) for line in lines]), strict=True))
    for line in page.lines:
        if empty or line.text.strip():
            place, key = places.get(line.id), key_of(path, line)
            yield LeftOut(key, "no place on the page") if place is None else cut(grey, line, place, key)


def image_of(path: Path, page: Page) -> Path:
    """The image of a page: beside its file or above, or in the images' own folder there."""
    folders = (folder / name for folder in path.parents[:3] for name in IMAGE_FOLDERS)
    own = next((folder / page.image for folder in folders if page.image and is_file(folder / page.image)), None)
    return own or image_beside(path, page.image)


def cut(grey: Line, line: TextLine, place: FoundLine, key: str) -> Sample | LeftOut:
    """A line as an image of its own."""
    try:
        strip = straighten(grey, place.baseline, place.polygon)
    except DataError as error:
        return LeftOut(f"{key}: {error}", "cannot be cut from the page")
    return Sample(strip.line, line.text, key=key)


def key_of(path: Path, line: TextLine) -> str:
    """What a line is called."""
    return f"{path} line {line.id}"
