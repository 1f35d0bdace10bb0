"""The JSON that `writers/json.py` writes; `page.schema.json` describes it."""

import json
from typing import Any

from drethtr.documents.page import Page, Points, Region, TextLine, Transcription, Word
from drethtr.errors import DataError


def read_json(data: bytes, name: str) -> Page:
    """The page of a JSON file.

    Raises:
        DataError: if it is no JSON, or not of that form.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not valid JSON: {error}") from error
    try:
        regions = tuple(read_region(region) for region in content["regions"])
        return Page(str(content["image"]), int(content["width"]), int(content["height"]), regions)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{name}: not a page as drethtr writes it: {type(error).__name__}: {error}") from error


def read_region(content: Any) -> Region:
    """A region with its lines."""
    lines = tuple(read_line(line) for line in content["lines"])
    return Region(str(content["id"]), lines, read_points(content["polygon"]))


def read_line(content: Any) -> TextLine:
    """A line; its text is null before it is read."""
    transcription = None
    if content["text"] is not None:
        words = tuple(read_word(word) for word in content["words"])
        transcription = Transcription(str(content["text"]), read_confidence(content["confidence"]), words)
    baseline = read_points(content["baseline"])
    return TextLine(str(content["id"]), read_points(content["polygon"]), baseline, transcription)


def read_word(content: Any) -> Word:
    """A word."""
    confidence = read_confidence(content["confidence"])
    return Word(str(content["text"]), confidence, read_points(content["polygon"]), bool(content["doubtful"]))


def read_confidence(content: Any) -> float | None:
    """A confidence, or null."""
    return None if content is None else float(content)


def read_points(content: Any) -> Points | None:
    """Pairs of coordinates, or null."""
    return None if content is None else tuple((int(x), int(y)) for x, y in content)
