"""Readings as transcriptions, with the places of their words on the page."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeAlias

import numpy as np

from drethtr.documents.page import PageFlag, PageWord, Points, Transcription, box_around
from drethtr.images.straighten import Strip
from drethtr.layout.finder import Floats
from drethtr.recognition.reading import Reading, Word, is_doubtful

Witness: TypeAlias = Callable[[str, Strip, Reading], object]
"""Called for every line with its final reading: the line's id, its strip on the page, and the reading."""


def nobody(id: str, strip: Strip, reading: Reading) -> None:
    """A witness that ignores everything."""


def transcription_of(reading: Reading, strip: Strip, width: int, height: int) -> Transcription:
    """The text of a straightened line, its words and flags with their places on a page of this size."""
    words = tuple(word_of(word, reading, strip, width, height) for word in reading.words())
    flags = tuple(
        PageFlag(flag.kind, flag.reason, outline_on_page(strip, flag.left, flag.right, width, height))
        for flag in reading.flags
    )
    return Transcription(reading.text, reading.confidence, words, flags, reading.calibrated)


def word_of(word: Word, line: Reading, strip: Strip, width: int, height: int) -> PageWord:
    """A word of a line, with its place on a page of this size."""
    place = outline_on_page(strip, word.left, word.right, width, height)
    return PageWord(word.text, word.confidence, place, is_doubtful(word, line))


def outline_on_page(strip: Strip, left: float, right: float, width: int, height: int) -> Points | None:
    """The polygon of some columns of a line on a page of this size; None if it has no area there."""
    polygon = on_page(strip.outline(left, right), width, height)
    return polygon if (box := box_around(polygon)) is not None and box.width and box.height else None


def on_page(points: Floats | Iterable[tuple[float, float]], width: int, height: int) -> Points:
    """Points in whole pixels, clipped to the page, without consecutive repetitions."""
    whole = np.rint(np.asarray(list(points), dtype=np.float64).reshape(-1, 2)).clip(0, (width, height))
    places = ((int(x), int(y)) for x, y in whole)
    return tuple(place for place, _ in groupby(places))
