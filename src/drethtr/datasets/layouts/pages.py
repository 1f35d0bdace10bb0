"""Lines of whole pages in PAGE XML or ALTO: exports from Transkribus and eScriptorium, READ-2016.

Each line is cut out along its baseline and inside its polygon, straightened, and stored as a new PNG, since the bytes
of the page image cannot be kept. A page is one sample group (`page`), named after its file and the folders around it.
Lines that can only be read upside down are turned, since no model should learn from upside-down lines.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.layout import Layout, within
from drethtr.datasets.sample import Entry, LeftOut, Remark, Sample
from drethtr.datasets.splits import collection_of, split_named, split_of_folder
from drethtr.documents.beside import DESCRIPTION, image_of, page_stem, visible_below
from drethtr.documents.page import TextLine
from drethtr.documents.read import by_trust, first_bytes, is_description, made_here, read_page
from drethtr.documents.transcription import Review
from drethtr.images.line import Line
from drethtr.images.straighten import Strip, straighten
from drethtr.layout.finder import FoundLine
from drethtr.layout.given import GivenLine, Outlines, complete, misdrawn
from drethtr.layout.order import by_direction
from drethtr.layout.orientation import on_scan
from drethtr.layout.turn import half_turned
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring, marks_in

XML_FOLDERS = frozenset({"page", "alto"})
"""Folders that contain the XML for images above or beside them; they are not part of page or set names."""

BACKWARD = Remark("Baselines from right to left below upright letters were turned around")
HEAD_DOWN = Remark("Lines that can only be read upside down were turned")
REDRAWN = Remark("Outlines that were slivers or bands were redrawn; data import --outlines given keeps them")
READ = Remark("Texts that a program read, and that nobody has corrected or confirmed, were taken as they are")
LOST = "These passages of descriptions cannot be understood and were left out"

UNCONFIRMED = "not confirmed by a person"
"""Why lines are left out of a folder in which people have worked."""

PROBES = 2
"""Lines of a page that are read both ways: those with the longest texts."""

MIN_LETTERS = 6
"""Minimum characters of such a text."""

READ_WRONG = 0.5
"""The error rate above which a line is also read upside down.

On 31 pages of 16 collections, the error rate of the shipped model on such lines was 0 to 38 % upright, and 68 to 92 %
upside down.
"""

BETTER = 0.2
"""How much lower the error rate must be upside down."""


@dataclass(frozen=True)
class Pages(Layout):
    """Every line of every PAGE or ALTO file, at any depth; folders named train, val or test are splits.

    If people have worked in the folder with `drethtr edit`, only confirmed lines are used.

    unconfirmed  whether to use the other lines, too
    transcribed  whether to skip lines without a text, and XML files of other kinds
    outlines     which outlines of lines are used
    images       a folder in which the images of pages are looked for first
    """

    unconfirmed: bool = False
    transcribed: bool = False
    outlines: Outlines = Outlines.AUTO
    images: Path | None = None

    name = "pages"
    description = "PAGE or ALTO .xml files with the images of their pages, at any depth"
    convention = "texts as transcribed on the page; lines cut along their baselines"
    set_name: ClassVar[str] = ""
    language: ClassVar[str | None] = None

    def recognizes(self, source: Path) -> bool:
        if source.is_dir():
            return any(map(is_page, descriptions(source)))
        return source.suffix.lower() == DESCRIPTION

    def entries(self, source: Path) -> Iterator[Entry]:
        files = descriptions(source) if source.is_dir() else [source]
        if not files:
            raise DataError(f"contains no {DESCRIPTION} file", source)
        confirmed = not self.unconfirmed and any(map(is_reviewed, files))
        document = None if self.set_name else document_folder(source)
        of_set = self.set_name if document is None else document.name
        described: dict[str, Path] = {}
        found_any = False
        # Loaded for this source only: a forked process could not use its threads.
        reader = cache(partial(Recognizer.load, decoder="ctc", threads=1))
        for path in files:
            if self.transcribed and source.is_dir() and is_of_another_kind(path):
                continue
            split = self.split_of(path.parent, source) if source.is_dir() else ""
            page = page_name(path, source)
            if page in described and is_page(path):
                other = described[page].relative_to(source)
                detail = f"its page is already described by {other}; give one of them"
                yield LeftOut(str(path), "second description of a page", detail)
                continue
            for found in self.lines_of(path, reader, confirmed=confirmed):
                found_any = True
                if not isinstance(found, LeftOut) or found.reason == UNCONFIRMED:
                    described[page] = path
                if isinstance(found, LeftOut):
                    yield found
                else:
                    known = replace(found, page=page, split=split)
                    yield replace(known, set=of_set, named_after=document, language=self.language)
        if self.transcribed and not found_any:
            raise DataError(f"no line in its {len(files)} PAGE or ALTO files has a text; transcribe them first", source)

    def split_of(self, folder: Path, source: Path) -> str:
        """The split of the pages in a folder."""
        return split_of_folder(folder, source)

    def lines_of(self, path: Path, reader: Callable[[], Recognizer], *, confirmed: bool) -> Iterator[Entry]:
        """The lines of a PAGE or ALTO file, cut from its image, in reading order, with texts as written.

        Args:
            reader: Loads the recognizer that tells which way up they are.
            confirmed: Whether to leave out lines that no person has confirmed.
        """
        try:
            page = read_page(path, self.images)
        except DataError as error:
            yield LeftOut(str(path), "not a page", error.reason)
            return
        try:
            source = image_of(path, page.image, self.images)
            gray = source.gray()
            page = on_scan(page, source, gray)
        except DataError as error:
            yield LeftOut(str(path), "no image of the page", error.of(path).reason)
            return
        for region in page.regions:
            if region.text:
                why = "has text for the region only, not for its lines"
                yield LeftOut(f"{path} region {region.id}", why, f"{why}; drethtr align gives it to them")
        # Missing polygons are derived from the neighboring lines, so all lines are needed, with or without a text.
        lines = [line for line in page.lines if line.is_placed]
        places = dict(zip((line.id for line in lines), placed(gray, lines, self.outlines, reader), strict=True))
        odd = tuple(Remark(LOST, where) for where in page.oddities)  # once per page, with its first line
        for line in page.lines:
            if self.transcribed and not line.text.strip():
                continue
            key = key_of(path, line)
            if confirmed and not (line.transcription and line.transcription.review is Review.CONFIRMED):
                yield LeftOut(key, UNCONFIRMED)
            elif line.id not in places:
                yield LeftOut(key, "no position on the page")
            else:
                place, remarks = places[line.id]
                read = (READ,) if line.transcription and line.transcription.by_program else ()
                yield (entry := cut(gray, line, place, key, (*odd, *remarks, *read)))
                odd = () if isinstance(entry, Sample) else odd


@dataclass(frozen=True)
class Read2016(Pages):
    """READ-2016 (Ratsprotokolle, ICFHR 2016): German council minutes, in the official splits.

    PublicData/Training/Images and page, PublicData/Validation/Images and page, Test-ICFHR-2016/*.JPG and page; the
    page files may lie one folder deeper.

    Source: Sánchez, Romero, Toselli and Vidal, ICFHR 2016; the two archives of Zenodo record 1164045.
    """

    name = "read-2016"
    description = "PublicData/Training, PublicData/Validation and Test-ICFHR-2016"
    set_name = "read2016"
    language = "de"
    known: ClassVar = {
        (8367, 1043, 1140): "official",
        (8349, 1040, 1138): "official, without lines that have no text",
    }

    def recognizes(self, source: Path) -> bool:
        return within(source, "PublicData/Training") is not None

    def split_of(self, folder: Path, source: Path) -> str:
        return next(filter(None, map(split_named, reversed(folder.relative_to(source).parts))), "")


def descriptions(folder: Path) -> list[Path]:
    """The XML files in a folder, at any depth, the best of each page first."""
    found = (path for path in visible_below(folder) if path.suffix.lower() == DESCRIPTION)
    return sorted(found, key=lambda path: by_trust(path, is_ours(path)))


def is_ours(path: Path) -> bool:
    """Whether drethtr wrote a file; False if it cannot be read."""
    try:
        return made_here(first_bytes(path))
    except DataError:
        return False


def is_page(path: Path) -> bool:
    """Whether a file is a page."""
    try:
        read_page(path)
    except DataError:
        return False
    return True


def is_of_another_kind(path: Path) -> bool:
    """Whether an XML file is not a page, like `mets.xml` of an export; damaged or empty pages are pages."""
    try:
        head = first_bytes(path)
    except DataError:
        return False
    return bool(head) and not is_description(head) and not is_page(path)


def is_reviewed(path: Path) -> bool:
    """Whether a person has corrected or confirmed a line of a file with `drethtr edit`.

    Approved pages of Transkribus do not count: few people set that status, so other pages may be finished, too.
    """
    try:
        page = read_page(path)
    except DataError:
        return False
    return not page.approved and any(line.is_reviewed for line in page.lines)


def document_folder(path: Path) -> Path:
    """The folder of a path or, for the XML folder of an export or that of a split, the folder above it."""
    return collection_of(path if path.is_dir() else path.resolve().parent, XML_FOLDERS)


def page_name(path: Path, source: Path) -> str:
    """The name of a page's file with the folders of its document that it lies in: the same if a split is given."""
    place = source.resolve() / path.relative_to(source)
    folders = place.relative_to(document_folder(source)).parts[:-1]
    return "/".join([*(folder for folder in folders if folder.lower() not in XML_FOLDERS), page_stem(path)])


def placed(
    gray: Line, lines: Sequence[TextLine], outlines: Outlines, reader: Callable[[], Recognizer]
) -> list[tuple[FoundLine, tuple[Remark, ...]]]:
    """The place of each line of a page, upright and with an outline, and remarks on what was changed."""
    given = [GivenLine.of(line) for line in lines]
    places = complete(gray, given, outlines)
    redrawn = misdrawn(given) if outlines is Outlines.AUTO else set()
    turned = upside_down(gray, places, lines, reader)
    found = []
    for number, (line, place) in enumerate(zip(given, places, strict=True)):
        remarks = (
            *((BACKWARD,) if line.baseline is not None and not np.array_equal(line.baseline, place.baseline) else ()),
            *((HEAD_DOWN,) if number in turned else ()),
            *((REDRAWN,) if number in redrawn else ()),
        )
        found.append((turned.get(number, place), remarks))
    return found


def upside_down(
    gray: Line, places: Sequence[FoundLine], lines: Sequence[TextLine], reader: Callable[[], Recognizer]
) -> dict[int, FoundLine]:
    """The lines that can only be read upside down, by number, with their places turned.

    Lines of one direction are turned together. Lines that the model reads badly both ways stay unchanged.
    """
    found: dict[int, FoundLine] = {}
    for group in by_direction(places):
        texts = {number: for_scoring(lines[number].text) for number in group}
        long = [number for number in group if len(texts[number]) >= MIN_LETTERS]
        errors = []
        for number in sorted(long, key=lambda number: -len(texts[number]))[:PROBES]:
            try:
                strip = straightened(gray, places[number])
                errors.append([misread(strip.line, texts[number], reader())])
                if errors[-1][0] < READ_WRONG:
                    break
                other = straightened(gray, half_turned(places[number], strip))
                errors[-1].append(misread(other.line, texts[number], reader()))
            except DataError:
                continue
        if errors and all(len(both) == 2 and both[1] < both[0] - BETTER for both in errors):
            for number in group:
                with suppress(DataError):
                    found[number] = half_turned(places[number], straightened(gray, places[number]))
    return found


def straightened(gray: Line, place: FoundLine) -> Strip:
    """A line cut out of its page.

    Raises:
        DataError: if it has no area there.
    """
    return straighten(gray, place.baseline, place.polygon)


def misread(line: Line, text: str, recognizer: Recognizer) -> float:
    """The share of the characters of a text that the model reads differently.

    Raises:
        DataError: if the line cannot be read.
    """
    [reading] = recognizer.read_lines([recognizer.open_line(line)])
    return Levenshtein.normalized_distance(text, reading.text)


def cut(gray: Line, line: TextLine, place: FoundLine, key: str, remarks: tuple[Remark, ...]) -> Entry:
    """A line as an image of its own."""
    try:
        strip = straightened(gray, place)
    except DataError as error:
        return LeftOut(key, "cannot be cut from the page", f"cannot be cut from the page: {error}")
    return Sample(strip.line, line.text, clean=is_clean(line), key=key, id=line.id, remarks=remarks)


def is_clean(line: TextLine) -> bool:
    """Whether nobody has tagged a passage of the text as uncertain or missing, and drethtr has no open doubt."""
    text = line.transcription
    if text is None:
        return True
    tags = (tag.name for tag in text.tags)
    return not marks_in(text.text, tags) and not any(word.doubtful for word in text.settled.words)


def key_of(path: Path, line: TextLine) -> str:
    """The key of a line."""
    return f"{path} line {line.id}"
