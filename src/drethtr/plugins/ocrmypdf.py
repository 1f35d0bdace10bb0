"""An engine of OCRmyPDF: `ocrmypdf --ocr-engine drethtr scan.pdf out.pdf`.

OCRmyPDF 17 turns, cleans and compresses pages and makes PDF/A of them; this engine says what is written on each. It is
never the default: whoever does not ask for it gets Tesseract as before.
"""

from argparse import ArgumentParser
from functools import cache
from pathlib import Path
from typing import Any

from ocrmypdf import OcrEngine, OrientationConfidence, hookimpl
from ocrmypdf.models.ocr_element import Baseline, BoundingBox, OcrClass, OcrElement
from PIL import Image

from drethtr.base.version import __version__
from drethtr.documents.page import Box, Page, PageWord, Region, TextLine
from drethtr.pages.transcribe import transcribe_page
from drethtr.recognition.recognizer import Recognizer

NAME = "drethtr"
LANGUAGES = frozenset({"eng", "fra", "deu"})
"""What `--language` may say. The model reads them all without being told."""


class Engine(OcrEngine):  # type: ignore[misc]
    """Reads the image of a page that OCRmyPDF has prepared."""

    @staticmethod
    def version() -> str:
        """Our version."""
        return __version__

    @staticmethod
    def creator_tag(options: Any) -> str:
        """What made the text, for the metadata of the PDF."""
        return f"{NAME} {__version__}, model {recognizer().model.identity}"

    def __str__(self) -> str:
        return f"{NAME} {__version__}"

    @staticmethod
    def languages(options: Any) -> set[str]:
        """The languages that may be asked for."""
        return set(LANGUAGES)

    @staticmethod
    def get_orientation(input_file: Path, options: Any) -> OrientationConfidence:
        """How a page must be turned to be upright, for `--rotate-pages`: not known before it is read."""
        return OrientationConfidence(angle=0, confidence=0.0)

    @staticmethod
    def supports_generate_ocr() -> bool:
        """Whether pages are returned as trees of elements."""
        return True

    @staticmethod
    def generate_ocr(input_file: Path, options: Any, page_number: int = 0) -> tuple[OcrElement, str]:
        """The lines and words of a page, and its text."""
        page = transcribe_page(input_file, recognizer())
        with Image.open(input_file) as image:
            dpi = float(image.info.get("dpi", (300, 300))[0])
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
    """Let `--ocr-engine` take our name, if OCRmyPDF lists the names it takes."""
    for action in parser._actions:
        if "--ocr-engine" in action.option_strings and action.choices is not None and NAME not in action.choices:
            action.choices = [*action.choices, NAME]


@hookimpl  # type: ignore[untyped-decorator]
def get_ocr_engine(options: Any) -> Engine | None:
    """The engine, for those who asked for it."""
    return Engine() if options is not None and options.ocr_engine == NAME else None


@cache
def recognizer() -> Recognizer:
    """The model in the package, loaded once in each process; one thread, as `--jobs` reads pages side by side."""
    return Recognizer.load(threads=1)


def page_element(page: Page, dpi: float, number: int) -> OcrElement:
    """A page as OCRmyPDF has it."""
    regions = [region_element(region) for region in page.regions if any(line.text for line in region.lines)]
    whole = BoundingBox(0, 0, page.width, page.height)
    return OcrElement(OcrClass.PAGE, bbox=whole, children=regions, dpi=dpi, page_number=number)


def region_element(region: Region) -> OcrElement:
    """The written lines of a region as a paragraph."""
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
    """The mean height of the baseline; a quarter above the bottom if it is unknown."""
    if not line.baseline:
        return box.bottom - box.height / 4
    return sum(y for _, y in line.baseline) / len(line.baseline)


def word_element(word: PageWord) -> OcrElement:
    """A word."""
    return OcrElement(OcrClass.WORD, bbox=bounds(word.box), text=word.text, confidence=word.confidence)


def bounds(box: Box | None) -> BoundingBox | None:
    """A box as OCRmyPDF has it."""
    return box and BoundingBox(box.left, box.top, box.right, box.bottom)
