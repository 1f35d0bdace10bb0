"""Write and read a page as JSON, as described by `page.schema.json` in the package."""

import json
from typing import Any

from drethtr.base.errors import DataError
from drethtr.documents.document import Document
from drethtr.documents.markup import clean, refuse_large
from drethtr.documents.page import CellPlace, Page, Region, TextLine, file_name, refuse_many
from drethtr.documents.points import MAX_COORDINATE, PageScale, Points, baseline_or_none, number, polygon_or_none
from drethtr.documents.transcription import PageFlag, PageWord, Review, Tag, Transcription

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
        "flags": list(map(str, page.flags)),
        "regions": [region_content(region) for region in page.regions],
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def region_content(region: Region) -> dict[str, Any]:
    """A region with its lines."""
    return {
        "id": region.id,
        "kind": region.kind,
        "cell": region.cell._asdict() if region.cell is not None else None,
        "polygon": points_content(region.polygon),
        "lines": [line_content(line) for line in region.lines],
    }


def line_content(line: TextLine) -> dict[str, Any]:
    """A line; the text of an untranscribed line is null."""
    return {
        "id": line.id,
        "kind": line.kind,
        "text": line.text if line.transcription is not None else None,
        "confidence": rounded(line.confidence),
        "calibrated": line.transcription.calibrated if line.transcription is not None else None,
        "review": line.review,
        "flags": list(map(str, line.flags)),
        "polygon": points_content(line.polygon),
        "baseline": points_content(line.baseline),
        "words": [word_content(word) for word in line.words],
        "tags": [tag_content(tag) for tag in line.tags],
    }


def word_content(word: PageWord) -> dict[str, Any]:
    """A word."""
    return {
        "text": word.text,
        "confidence": rounded(word.confidence),
        "doubtful": word.doubtful,
        "polygon": points_content(word.polygon),
    }


def tag_content(tag: Tag) -> dict[str, Any]:
    """What a person marked in a text."""
    return {"name": tag.name, "start": tag.start, "length": tag.length, "details": dict(tag.details)}


def rounded(confidence: float | None) -> float | None:
    """A confidence rounded to four decimals."""
    return None if confidence is None else round(confidence, 4)


def points_content(points: Points | None) -> list[list[int]] | None:
    """Points as pairs."""
    return None if points is None else [[x, y] for x, y in points]


def read_json(data: bytes, name: str) -> Page:
    """Read a page from a JSON file.

    Raises:
        DataError: if it is too large, not JSON, or not in this format.
    """
    refuse_large(data, name)
    try:
        content = json.loads(data)  # deep nesting raises RecursionError
    except (ValueError, RecursionError) as error:
        raise DataError(f"not valid JSON: {error}", name) from error
    try:
        if (format := content.get("format", FORMAT)) != FORMAT:
            raise DataError(
                f"its format is {str(format)[:60]!r}, not {FORMAT!r}; use the version of drethtr that wrote it"
            )
        width, height = (size(content[side]) for side in ("width", "height"))
        canvas = PageScale(width, height)
        refuse_many(sum(len(region["lines"]) for region in content["regions"]), name)
        regions = tuple(read_region(region, canvas) for region in content["regions"])
        flags = tuple(PageFlag.parse(str(flag)) for flag in content.get("flags", ()))  # missing in earlier versions
        return Page(file_name(str(content["image"])), width, height, regions, flags=flags)
    except DataError as error:
        raise error.of(name) from error
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"not a page written by drethtr: {type(error).__name__}: {error}", name) from error


def size(content: Any) -> int:
    """The width or height of a page, in pixels."""
    if not 0 <= content <= MAX_COORDINATE:
        raise DataError(f"the size of a page must be 0 to {MAX_COORDINATE:,} pixels, not {str(content)[:60]}")
    return int(content)


def read_region(content: Any, canvas: PageScale) -> Region:
    """A region with its lines."""
    lines = tuple(read_line(line, canvas) for line in content["lines"])
    polygon, kind = polygon_or_none(read_points(content["polygon"], canvas)), str(content.get("kind", ""))
    place = content.get("cell")  # missing in earlier versions, as the kind
    cell = None if place is None else CellPlace(str(place["table"]), index(place["row"]), index(place["column"]))
    return Region(str(content["id"]), lines, polygon, kind, cell)


def index(content: Any) -> int:
    """The number of a row or column of a table, or of a character."""
    if not 0 <= content <= MAX_COORDINATE:
        raise DataError(
            f"rows, columns and characters are numbered from 0 to {MAX_COORDINATE:,}, not {str(content)[:60]}"
        )
    return int(content)


def read_line(content: Any, canvas: PageScale) -> TextLine:
    """Read a line; the text of an untranscribed line is null."""
    transcription = None
    if content["text"] is not None:
        words = tuple(read_word(word, canvas) for word in content["words"])
        flags = tuple(PageFlag.parse(str(flag)) for flag in content.get("flags", ()))  # missing in earlier versions
        confidence, calibrated = read_confidence(content["confidence"]), content.get("calibrated")  # likewise
        known = None if calibrated is None else bool(calibrated)
        review = Review(content["review"]) if content.get("review") is not None else None  # likewise
        tags = tuple(map(read_tag, content.get("tags", ())))  # likewise
        transcription = Transcription(clean(str(content["text"])), confidence, words, flags, known, review, tags)
    polygon, baseline = (read_points(content[place], canvas) for place in ("polygon", "baseline"))
    kind = str(content.get("kind", ""))  # likewise
    return TextLine(str(content["id"]), polygon_or_none(polygon), baseline_or_none(baseline), transcription, kind)


def read_word(content: Any, canvas: PageScale) -> PageWord:
    """A word."""
    text, polygon = clean(str(content["text"])), polygon_or_none(read_points(content["polygon"], canvas))
    return PageWord(text, read_confidence(content["confidence"]), polygon, bool(content["doubtful"]))


def read_tag(content: Any) -> Tag:
    """What a person marked in a text."""
    details = tuple((str(name), str(value)) for name, value in dict(content["details"]).items())
    return Tag(str(content["name"]), index(content["start"]), index(content["length"]), details)


def read_confidence(content: Any) -> float | None:
    """A confidence, or null."""
    return None if content is None else min(max(number(str(content), "confidence"), 0.0), 1.0)


def read_points(content: Any, canvas: PageScale) -> Points:
    """Pairs of coordinates, clipped to the page; none for null."""
    return tuple(canvas.inside(x, y) for x, y in content or ())


def write_line_json(document: Document) -> bytes:
    """Write a line as an indented JSON object."""
    return (json.dumps(content_of(document), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def line_json_row(document: Document) -> bytes:
    """A line as a JSON object in one row."""
    return (json.dumps(content_of(document), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def content_of(document: Document) -> dict[str, Any]:
    """The details of the reading, with the name of the file and the provenance."""
    [sheet] = document.sheets
    return {"file": document.name, **sheet.details, "made_by": document.provenance.to_json()}
