"""Write a page as JSON, as described by `page.schema.json` in the package; `readers/json.py` reads it."""

import json
from typing import Any

from drethtr.documents.document import Document
from drethtr.documents.page import PageWord, Points, Region, TextLine

FORMAT = "drethtr page 1"
"""The format and its version, as in the title of the schema."""


def write_json(document: Document) -> bytes:
    """Write a single-page document."""
    [page] = document.pages
    content = {
        "format": FORMAT,
        "made_by": document.provenance.to_json(),
        "image": page.image,
        "width": page.width,
        "height": page.height,
        "regions": [region_content(region) for region in page.regions],
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def region_content(region: Region) -> dict[str, Any]:
    """A region with its lines."""
    lines = [line_content(line) for line in region.lines]
    return {"id": region.id, "polygon": points_content(region.polygon), "lines": lines}


def line_content(line: TextLine) -> dict[str, Any]:
    """A line; the text of an untranscribed line is null."""
    return {
        "id": line.id,
        "text": line.text if line.transcription is not None else None,
        "confidence": rounded(line.confidence),
        "calibrated": line.transcription.calibrated if line.transcription is not None else None,
        "review": line.transcription.review if line.transcription is not None else None,
        "flags": list(map(str, line.flags)),
        "polygon": points_content(line.polygon),
        "baseline": points_content(line.baseline),
        "words": [word_content(word) for word in line.words],
    }


def word_content(word: PageWord) -> dict[str, Any]:
    """A word."""
    return {
        "text": word.text,
        "confidence": rounded(word.confidence),
        "doubtful": word.doubtful,
        "polygon": points_content(word.polygon),
    }


def rounded(confidence: float | None) -> float | None:
    """A confidence rounded to four decimals."""
    return None if confidence is None else round(confidence, 4)


def points_content(points: Points | None) -> list[list[int]] | None:
    """Points as pairs."""
    return None if points is None else [[x, y] for x, y in points]
