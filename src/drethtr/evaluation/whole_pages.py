"""Evaluate on whole pages: open pages with known lines and texts, find and read their lines, and compare."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

from drethtr.base.errors import DataError
from drethtr.base.processors import free_processors
from drethtr.documents.page import Page
from drethtr.evaluation.end_to_end import PageCounts, compare_pages
from drethtr.evaluation.layout import KnownLine, PageLayout, compare_layout
from drethtr.images.line import Line
from drethtr.layout.finder import FoundLine, Layout
from drethtr.layout.given import GivenLine, complete
from drethtr.layout.order import arranged
from drethtr.pages.inputs import files_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original, open_originals
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer

NUMBER_AT_END = re.compile(r"(?<![-_ \d])[-_ ]*+\d++$|(?<=\d)[-_ ]++\d++$")


def open_references(data: Sequence[str], *, texts: bool = True) -> list[Original]:
    """The pages that files, folders and patterns describe.

    Raises:
        DataError: if one of them has no lines, or no texts where these are needed, or there is no PAGE, ALTO or JSON
            file.
    """
    files = [file for name in data for file in files_of(name)]
    described = [original for file in files for original in open_originals(file) if original.description is not None]
    if not described:
        raise DataError(f"{', '.join(data)}: no PAGE or ALTO files; whole pages are evaluated against their texts")
    for original in described:
        if texts and not texts_of(original):
            raise DataError("has no text to compare with", original.name)
        if not original.has_lines:
            raise DataError("has no lines to compare with", original.name)
    return described


def collections_of(names: Sequence[str]) -> dict[str, list[str]]:
    """Files by collection: those of a folder whose names differ only in a number at the end, else all of the folder."""
    series: dict[tuple[Path, str], list[str]] = {}
    for name in names:
        path = Path(name)
        series.setdefault((path.parent, NUMBER_AT_END.sub("", path.name.partition(".")[0])), []).append(name)
    collections: dict[str, list[str]] = {}
    for (folder, stem), members in series.items():
        collections.setdefault(stem if stem and len(members) > 1 else folder.name, []).extend(members)
    return collections


def texts_of(original: Original) -> list[str]:
    """The texts in the file of a page, line by line."""
    page = original.given()
    return [line.text for line in page.lines if line.text.strip()] if page is not None else []


def read_and_compare(
    recognizer: Recognizer,
    pages: Sequence[Original],
    segmentation: Segmentation,
    report: Callable[[Original, Page], object] = lambda original, page: None,
) -> Mapping[str, PageCounts]:
    """The errors on each page, by the name of its file.

    Args:
        report: Called with every page that was read.

    Raises:
        DataError: if `segmentation` needs lines that a page does not have.
    """
    counts = {}
    for original in pages:
        reference = texts_of(original)
        read = transcribe(segmentation.prepare(original), recognizer, segmentation.finder(original))
        report(original, read)
        counts[str(original.description)] = compare_pages(reference, [line.text for line in read.lines if line.text])
    return counts


def find_and_compare(
    pages: Sequence[Original],
    segmentation: Segmentation,
    threads: int | None = None,
    report: Callable[[], object] = lambda: None,
) -> Mapping[str, PageLayout]:
    """How well the lines of each page are found, by the name of its file.

    Args:
        threads: To find lines with; by default one for each free processor.
        report: Called after every page.

    Raises:
        DataError: if an image is damaged, or not the one that was described.
    """
    layouts = {}
    for original in pages:
        gray = original.source.gray()
        known = known_lines(original, gray)
        finder = segmentation.finder(original).with_threads(threads or free_processors())
        start = process_time()
        layout = arranged(Layout.of(finder.find(gray)))
        ordered = [layout.lines[number] for region in layout.regions or () for number in region.lines]
        seconds = process_time() - start
        layouts[str(original.description)] = replace(compare_layout(known, ordered), seconds=seconds)
        report()
    return layouts


def known_lines(original: Original, gray: Line) -> list[KnownLine]:
    """The described lines of a page that have a place, in reading order."""
    page = original.given_for(gray)
    placed = [line for line in page.lines if line.baseline or line.polygon] if page is not None else []
    lines: list[FoundLine] = complete(gray, [GivenLine.of(line) for line in placed])
    return [KnownLine(line, max(1, len(given.text))) for line, given in zip(lines, placed, strict=True)]
