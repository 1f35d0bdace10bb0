"""A model loader for kraken 7: `kraken -i page.jpg page.xml segment -bl ocr -m model.safetensors`.

kraken finds the lines and writes the files; each line is straightened and read as by `drethtr transcribe`, and every
character has its position and confidence.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from kraken.containers import BaselineLine, BaselineOCRRecord, Segmentation
from kraken.models.base import RecognitionBaseModel
from PIL import Image

from drethtr.base.arrays import Floats
from drethtr.base.errors import DataError, DrethtrError
from drethtr.images.line import gray_from_image, name_of
from drethtr.images.straighten import Strip
from drethtr.layout.given import GivenLine, complete
from drethtr.pages.line_reading import ReadLine, read_found_lines
from drethtr.recognition.backends import CPU
from drethtr.recognition.model.file import load_model
from drethtr.recognition.recognizer import Recognizer


class DrethtrModel(RecognitionBaseModel):  # type: ignore[misc]
    """A drethtr model with kraken's interface; it reads lines with baselines (`segment -bl`)."""

    _kraken_min_version = "7.0.0"
    model_type = ("recognition",)
    one_channel_mode = "L"
    seg_type = "baselines"
    use_legacy_polygons = False

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.user_metadata = {"model": recognizer.model.identity}

    def prepare_for_inference(self, config: Any) -> None:
        """Do nothing: precision and device are chosen when the model is loaded."""

    def predict(self, im: Image.Image, segmentation: Segmentation) -> Iterator[BaselineOCRRecord]:
        """Yield a record for each line, in order; it is empty if the line cannot be read.

        Raises:
            DataError: if the segmentation has boxes instead of baselines, or the image cannot be used.
        """
        if segmentation.type != "baselines":
            raise DataError("drethtr reads lines with baselines; segment the page with: segment -bl")
        page = gray_from_image(im, name_of(im), upright=False)
        lines = segmentation.lines
        placed = [number for number, line in enumerate(lines) if line.baseline]
        given = complete(page, [GivenLine.at(lines[number].baseline, lines[number].boundary) for number in placed])
        read = {placed[number]: found for number, found in read_found_lines(page, given, self.recognizer)}
        for number, line in enumerate(lines):
            yield record(line, read.get(number))

    def state_dict(self) -> dict[str, Any]:
        """Not supported: drethtr trains and saves its models."""
        raise NotImplementedError("train this model with: drethtr model finetune")

    def load_state_dict(self, state: Any, **options: Any) -> None:
        """Not supported, as `state_dict`."""
        self.state_dict()


def record(line: BaselineLine, read: ReadLine | None) -> BaselineOCRRecord:
    """The record of a line; empty if it could not be read."""
    if read is None:
        return BaselineOCRRecord("", [], [], line, display_order=False)
    letters = [(letter, character) for character in read.reading.characters for letter in character.text]
    along = distances(read.strip, line.baseline)
    cuts = [tuple(np.interp((found.left, found.right), *along).round().astype(int).tolist()) for _, found in letters]
    sure = [found.confidence for _, found in letters]
    return BaselineOCRRecord("".join(text for text, _ in letters), cuts, sure, line, "L", display_order=False)


def distances(strip: Strip, baseline: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
    """The columns of a strip, and their distances along the line from the start of the baseline."""
    length = sum(math.dist(*pair) for pair in pairwise(baseline))
    away = np.hypot(*(strip.places - np.asarray(baseline[0], dtype=np.float64)).T)
    start = int(away.argmin())
    columns = np.arange(len(away), dtype=np.float64)
    return columns, (columns - start + away[start]).clip(0, length)


def load(path: "str | PathLike[str]", tasks: Sequence[str] | None = None) -> list[DrethtrModel]:
    """Load the model in a file, if it is a drethtr model and the task is recognition.

    Raises:
        ValueError: otherwise; kraken then tries its next loader.
    """
    if tasks is not None and "recognition" not in tasks:
        raise ValueError("a drethtr model only recognizes lines")
    try:
        model = load_model(Path(path))
    except DrethtrError as error:
        raise ValueError(str(error)) from error
    return [DrethtrModel(Recognizer(model, device=CPU))]
