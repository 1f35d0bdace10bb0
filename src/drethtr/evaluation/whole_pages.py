"""Evaluate on whole pages: open pages with known texts, find and read their lines, and compare."""

from collections.abc import Callable, Mapping, Sequence

from drethtr.base.errors import DataError
from drethtr.documents.page import Page
from drethtr.evaluation.end_to_end import PageCounts, compare_pages
from drethtr.pages.inputs import files_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original, open_originals
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer


def open_references(data: Sequence[str]) -> list[Original]:
    """The pages that files, folders and patterns describe.

    Raises:
        DataError: if one of them has no texts, or there is no PAGE, ALTO or JSON file.
    """
    files = [file for name in data for file in files_of(name)]
    described = [original for file in files for original in open_originals(file) if original.description is not None]
    if not described:
        raise DataError(f"{', '.join(data)}: no PAGE or ALTO files; whole pages are evaluated against their texts")
    for original in described:
        if not texts_of(original):
            raise DataError("has no text to compare with", original.name)
    return described


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
