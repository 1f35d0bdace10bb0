"""An eScriptorium engine that finds and reads lines, through the entry point `escriptorium.engines`.

Its interface, `engines.base`, is part of the application and not published separately, so this module can only be
imported there. Characters (`graphemes`) have the form in which the application stores those of kraken.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from engines.base import (
    SOURCE_FILE,
    BaseEngine,
    EngineError,
    EngineSpec,
    Line,
    LineInput,
    ModelInfo,
    ModelValidationError,
    RecognitionResult,
    SegmentationResult,
)
from PIL import Image

from drethtr.base.arrays import Floats
from drethtr.base.errors import DrethtrError
from drethtr.images.line import Line as Gray
from drethtr.images.line import gray_from_image, name_of
from drethtr.layout.given import GivenLine, complete
from drethtr.layout.rapid import RapidDetector
from drethtr.pages.line_reading import ReadLine, read_found_lines
from drethtr.pages.placing import on_page
from drethtr.recognition.model.file import load_model
from drethtr.recognition.recognizer import Recognizer

MODELS = 2
"""Models that stay loaded, since users compare one with another."""


class DrethtrEngine(BaseEngine):  # type: ignore[misc]
    """Reads lines with baselines, with the user's model or the included one."""

    spec = EngineSpec(
        name="drethtr",
        label="drethtr",
        can_segment=True,
        can_recognize=True,
        can_train=False,
        model_sources=(SOURCE_FILE,),
        file_extensions=("safetensors",),
        has_default_segmenter=True,
    )

    def validate_model(self, path: str) -> ModelInfo:
        """Describe an uploaded model.

        Raises:
            ModelValidationError: if it is not a drethtr model.
        """
        try:
            model = load_model(Path(path))
        except DrethtrError as error:
            raise ModelValidationError(str(error)) from error
        return ModelInfo(job="recognition", architecture=f"drethtr {model.identity}", seg_type="baselines")

    def segment(self, image: Image.Image, *, model: Any = None, options: Any) -> SegmentationResult:
        """Find the lines of a page, without regions.

        Raises:
            EngineError: if the image cannot be used.
        """
        if options.steps == "regions":
            return SegmentationResult(lines=(), regions=())
        found = RapidDetector().find(gray_of(image))
        lines = (Line(baseline=points(one.baseline), boundary=points(one.polygon), typology=None) for one in found)
        return SegmentationResult(lines=tuple(lines), regions=())

    def recognize(
        self, image: Image.Image, lines: Iterable[LineInput], *, model: Any, options: Any
    ) -> Iterator[RecognitionResult]:
        """Yield the text of each readable line, in order.

        Raises:
            EngineError: if the model cannot be loaded, or the image cannot be used.
        """
        try:
            recognizer = recognizer_of(model.file.path if getattr(model, "file", None) else None)
        except DrethtrError as error:
            raise EngineError(str(error)) from error
        page = gray_of(image)
        placed = [line for line in lines if line.baseline or line.boundary]
        given = complete(page, [GivenLine.at(line.baseline, line.boundary) for line in placed])
        for number, read in read_found_lines(page, given, recognizer):
            graphemes = graphemes_of(read, image.size)
            yield RecognitionResult(line_id=placed[number].id, text=read.reading.text, graphemes=graphemes)


def gray_of(image: Image.Image) -> Gray:
    """The gray pixels of a page as stored, not rotated, since eScriptorium's coordinates refer to them."""
    try:
        return gray_from_image(image, name_of(image), upright=False)
    except DrethtrError as error:
        raise EngineError(str(error)) from error


def graphemes_of(read: ReadLine, size: tuple[int, int]) -> list[dict[str, Any]]:
    """Each letter of a line with its polygon on a page of this size (width, height) and its confidence."""
    return [
        {
            "c": letter,
            "poly": on_page(read.strip.outline(found.left, found.right), *size),
            "confidence": found.confidence,
        }
        for found in read.reading.characters
        for letter in found.text
    ]


@lru_cache(MODELS)
def recognizer_of(path: str | None) -> Recognizer:
    """Load the model in a file, or the included one."""
    return Recognizer.load(path)


def points(found: Floats) -> list[list[int]]:
    """An array as a list of points in whole pixels."""
    return [[round(x), round(y)] for x, y in found.tolist()]
