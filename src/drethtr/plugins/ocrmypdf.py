"""An engine for OCRmyPDF: `ocrmypdf --ocr-engine drethtr scan.pdf out.pdf`.

OCRmyPDF 17 rotates, cleans and compresses pages and writes PDF/A; this engine reads them. It is never the default:
without the option, OCRmyPDF uses Tesseract as before.
"""

from argparse import ArgumentParser
from functools import cache
from pathlib import Path
from typing import Any

from ocrmypdf import OcrEngine, OrientationConfidence, hookimpl
from ocrmypdf.models.ocr_element import Baseline, BoundingBox, OcrClass, OcrElement
from PIL import Image

from drethtr.base.version import __version__
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.points import Box
from drethtr.documents.transcription import PageWord
from drethtr.pages.transcribe import transcribe_page
from drethtr.recognition.recognizer import Recognizer

NAME = "drethtr"
LANGUAGES = frozenset({"eng", "fra", "deu", "ita", "spa", "por", "lat"})
"""Values that `--language` accepts; the model reads all of them in any case."""


class Engine(OcrEngine):  # type: ignore[misc]
    """Reads page images prepared by OCRmyPDF."""

    @staticmethod
    def version() -> str:
        """The version of drethtr."""
        return __version__

    @staticmethod
    def creator_tag(options: Any) -> str:
        """The version and model, for the metadata of the PDF."""
        return f"{NAME} {__version__}, model {recognizer().model.identity}"

    def __str__(self) -> str:
        return f"{NAME} {__version__}"

    @staticmethod
    def languages(options: Any) -> set[str]:
        """The accepted languages."""
        return set(LANGUAGES)

    @staticmethod
    def get_orientation(input_file: Path, options: Any) -> OrientationConfidence:
        """The rotation for `--rotate-pages`, which is unknown before a page is read."""
        return OrientationConfidence(angle=0, confidence=0.0)

    @staticmethod
    def supports_generate_ocr() -> bool:
        """Whether pages are returned as trees of elements."""
        return True

    @staticmethod
    def generate_ocr(input_file: Path, options: Any, page_number: int = 0) -> tuple[OcrElement, str]:
        """Read a page: its lines and words as elements, and its text."""
        page = transcribe_page(input_file, recognizer())
        with Image.open(input_file) as image:
            dpi = float(image.info.get("dpi", (300, 300))[0])  # written into every image; 300 is OCRmyPDF's default
        return page_element(page, dpi, page_number), page.text

    @staticmethod
    def generate_hocr(input_file: Path, output_hocr: Path, output_text: Path, options: Any) -> None:
        """Not called, as there is `generate_ocr`."""
        raise NotImplementedError("drethtr gives OCRmyPDF trees of elements; use --pdf-renderer auto or fpdf2")

    @staticmethod
    def generate_pdf(input_file: Path, output_pdf: Path, output_text: Path, options: Any) -> None:
        """Not called, as there is `generate_ocr`."""
        raise NotImplementedError("drethtr gives OCRmyPDF trees of elements; use --pdf-renderer auto or fpdf2")


@hookimpl  # type: ignore[untyped-decorator]
def add_options(parser: ArgumentParser) -> None:
    """Add this engine to the choices of `--ocr-engine`, if OCRmyPDF restricts them."""
    for action in parser._actions:
        if "--ocr-engine" in action.option_strings and action.choices is not None and NAME not in action.choices:
            action.choices = [*action.choices, NAME]


@hookimpl  # type: ignore[untyped-decorator]
def get_ocr_engine(options: Any) -> Engine | None:
    """The engine, if it was requested."""
    return Engine() if options is not None and options.ocr_engine == NAME else None


@cache
def recognizer() -> Recognizer:
    """The included model, loaded once per process; one thread, since `--jobs` reads pages in parallel."""
    return Recognizer.load(threads=1)


def page_element(page: Page, dpi: float, number: int) -> OcrElement:
    """A page as an OCRmyPDF element."""
    regions = [region_element(region) for region in page.regions if any(line.text for line in region.lines)]
    whole = BoundingBox(0, 0, page.width, page.height)
    return OcrElement(OcrClass.PAGE, bbox=whole, children=regions, dpi=dpi, page_number=number)


def region_element(region: Region) -> OcrElement:
    """The transcribed lines of a region as a paragraph."""
    lines = [line_element(line, line.box) for line in region.lines if line.text and line.box is not None]
    return OcrElement(OcrClass.PARAGRAPH, bbox=bounds(region.box), children=lines, direction="ltr")


def line_element(line: TextLine, box: Box) -> OcrElement:
    """A line with its words, on its baseline."""
    words = [word_element(word) for word in line.words if word.box is not None]
    return OcrElement(
        OcrClass.LINE,
        bbox=bounds(box),
        children=words,
        confidence=line.confidence,
        baseline=Baseline(slope=0.0, intercept=float(baseline_height(line, box) - box.bottom)),
    )


def baseline_height(line: TextLine, box: Box) -> float:
    """The mean y of the baseline; a quarter of the height above the bottom if unknown."""
    if not line.baseline:
        return box.bottom - box.height / 4
    return sum(y for _, y in line.baseline) / len(line.baseline)


def word_element(word: PageWord) -> OcrElement:
    """A word with its box and confidence."""
    return OcrElement(OcrClass.WORD, bbox=bounds(word.box), text=word.text, confidence=word.confidence)


def bounds(box: Box | None) -> BoundingBox | None:
    """A box as an OCRmyPDF bounding box."""
    return box and BoundingBox(box.left, box.top, box.right, box.bottom)
