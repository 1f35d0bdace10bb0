"""Read an image of a single line as a page with one line, from the same pixels as a line image."""

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import Page, Region, TextLine
from drethtr.images.line import Line
from drethtr.images.line_file import open_line
from drethtr.images.straighten import Strip
from drethtr.layout.given import FOOT
from drethtr.layout.whole import Whole
from drethtr.pages.place import Witness, nobody, on_page, transcription_of
from drethtr.pages.source import Original
from drethtr.recognition.recognizer import Recognizer

LINE_ID = "r1l1"
"""The id of the only line."""


def read_whole(original: Original, recognizer: Recognizer, witness: Witness = nobody) -> Page:
    """The page whose only line is its image, neither straightened nor cropped.

    Raises:
        DataError: if the image is damaged, not the one that was described, or too long for its height.
    """
    source = original.source
    line = open_line(source.path if original.is_alone else source.gray())
    given = original.given_for(line)
    height, width = line.shape
    try:
        recognizer.refuse_unreadable(line)
    except DataError as error:
        raise error.of(original.name) from error
    [reading] = recognizer.read_lines([line])
    [found] = Whole().find(line)
    strip = strip_of(line)
    witness(LINE_ID, strip, reading)
    text = transcription_of(reading, strip, width, height)
    polygon, baseline = (on_page(points, width, height) for points in (found.polygon, found.baseline))
    name = source.image_name if given is None else given.image
    return Page(name, width, height, (Region("r1", (TextLine(LINE_ID, polygon, baseline, text),)),))


def strip_of(line: Line) -> Strip:
    """The strip that covers the image of a line."""
    height, width = line.shape
    above = round(FOOT * height)
    places = np.column_stack((np.linspace(0, width, width), np.full(width, above, dtype=np.float64)))
    return Strip(line, places, np.tile((0.0, 1.0), (width, 1)), above, (0, width))
