"""Pages and lines as JSON values for clients."""

from typing import Any
from urllib.parse import quote

from drethtr.documents.page import TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Points
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.scans import place_mark
from drethtr.editing.status import Status, status_of, status_of_page


def line_content(page: FolderPage, file: PageFile, line: TextLine, region: str, *, made_here: bool) -> dict[str, Any]:
    """A line as JSON values."""
    status = status_of(line, made_here=made_here)
    sure = [word.confidence for word in line.words if word.confidence is not None]
    known = status is Status.READ and sure and len(sure) == len(line.words)
    address = f"/api/pages/{page.id}/lines/{quote(line.id, safe='')}/strip.jpg?v={place_mark(line)}"
    has_strip = page.source is not None and (line.baseline or line.polygon)
    return {
        "id": line.id,
        "region": region,
        "text": line.text,
        "status": status,
        "revision": file.revision_of(line.id),
        "confidence": line.confidence,
        "expected_wer": round(1 - sum(sure) / len(sure), 4) if known else None,
        "words": [
            {"text": word.text, "confidence": word.confidence, "doubtful": word.doubtful, "box": word.box}
            for word in line.words
        ],
        "flags": [{"kind": flag.kind, "reason": flag.reason} for flag in line.flags],
        "baseline": pairs(line.baseline),
        "polygon": pairs(line.polygon),
        "strip": address if has_strip else None,
    }


def page_content(page: FolderPage, file: PageFile, *, made_here: bool) -> dict[str, Any]:
    """A page with its lines as JSON values."""
    lines = [
        line_content(page, file, line, region.id, made_here=made_here)
        for region in file.page.regions
        for line in region.lines
    ]
    states = [line["status"] for line in lines]
    return {
        "id": page.id,
        "name": page.name,
        "status": status_of_page(states, made_here=made_here),
        "revision": file.revision,
        "width": file.page.width,
        "height": file.page.height,
        "error": page.error,
        "lines": lines,
    }


def unread_content(page: FolderPage, width: int, height: int, error: str | None) -> dict[str, Any]:
    """A page without a PAGE or ALTO file, as JSON values."""
    known = {"id": page.id, "name": page.name, "status": Status.UNREAD, "revision": ""}
    return {**known, "width": width, "height": height, "error": error or page.error, "lines": []}


def pairs(points: Points | None) -> list[list[int]] | None:
    """Points as lists of x and y."""
    return None if points is None else [list(point) for point in points]
