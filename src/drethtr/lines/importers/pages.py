"""Lines of whole pages in PAGE XML or ALTO: exports from Transkribus and eScriptorium, READ-2016.

Each line is cut out along its baseline and inside its polygon, straightened, and stored as a new PNG, since the bytes
of the page image cannot be kept. A page is one sample group (`page`), named after its file and the folders around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, visible_below
from drethtr.documents.read import by_trust
from drethtr.lines.importers.importer import Entry, ImportedLine, Importer, within
from drethtr.lines.importers.splits import split_of_path
from drethtr.lines.sample import LeftOut
from drethtr.lines.sources.pages import document_name, is_page, is_reviewed, lines_of, page_name
from drethtr.text.normalize import nfc


@dataclass(frozen=True)
class Pages(Importer):
    """Every line of every PAGE or ALTO file, at any depth; folders named train, val or test are splits.

    If people have worked in the folder with `drethtr edit`, only lines that they have confirmed are taken.

    unconfirmed  whether to take the others, too
    """

    unconfirmed: bool = False

    name = "pages"
    layout = "PAGE or ALTO: .xml files with the images of their pages, at any depth"
    convention = "texts as transcribed on the page; lines cut along their baselines"
    set_name: ClassVar[str] = ""
    language: ClassVar[str | None] = None

    def recognizes(self, source: Path) -> bool:
        return source.is_dir() and any(map(is_page, descriptions(source)))

    def entries(self, source: Path) -> Iterator[Entry]:
        files = descriptions(source) if source.is_dir() else [source]
        if not files:
            raise DataError(f"contains no {DESCRIPTION} file", source)
        confirmed = not self.unconfirmed and any(map(is_reviewed, files))
        described: dict[str, Path] = {}
        for path in files:
            split = split_of_path(path.parent, source) if path.parent != source and source.is_dir() else ""
            name, page = self.set_name or document_name(source), page_name(path, source)
            if page in described and is_page(path):
                yield LeftOut(str(path), f"its page is already described by {described[page].relative_to(source)}")
                continue
            for found in lines_of(path, confirmed=confirmed):
                if isinstance(found, LeftOut):
                    yield found
                else:
                    described[page] = path
                    sample = replace(found, text=nfc(found.text), set=name, language=self.language, page=page)
                    yield ImportedLine(split, sample)


def descriptions(folder: Path) -> list[Path]:
    """The XML files in a folder, at any depth, the best of each page first."""
    return sorted((path for path in visible_below(folder) if path.suffix.lower() == DESCRIPTION), key=by_trust)


@dataclass(frozen=True)
class Read2016(Pages):
    """READ-2016 (Ratsprotokolle, ICFHR 2016): German council minutes, in the official splits.

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
        (8349, 1040, 1138): "official, without lines that have no text",
    }

    def recognizes(self, source: Path) -> bool:
        return within(source, "PublicData/Training") is not None
