"""Pages and lines as JSON, with the addresses of their pictures."""

from typing import Any
from urllib.parse import quote

from drethtr.base.errors import DataError
from drethtr.documents.page import Page
from drethtr.documents.points import Points
from drethtr.editing.overview import Summary
from drethtr.editing.page_files import OpenLine
from drethtr.editing.places import quarters_of_page
from drethtr.editing.scans import place_mark
from drethtr.editing.status import Status, status_of_page
from drethtr.editing.workspace import Workspace


def page_content(workspace: Workspace, page_id: str) -> dict[str, Any]:
    """A page with its lines, or with the reason why it has none, and the ids of its neighbors.

    Lines that wait to be read have their previous text as `earlier`.

    Raises:
        Missing: if there is no such page.
    """
    page, order = workspace.folder_page(page_id), list(workspace.folder_pages)
    opened, content, error = None, Page(page.name, 0, 0, ()), page.error
    try:
        opened = workspace.page_files.open(page)
        if opened is not None:
            content = opened.file.page
        elif page.source is not None:
            content = Page(page.name, *workspace.scans.size(page.source), ())
    except DataError as failed:
        error = str(failed)
    lines = () if opened is None else opened.lines
    earlier = workspace.journal.earlier_texts(page_id)
    [(_, summary)] = workspace.overview.of([page])
    summary = summary if isinstance(summary, Summary) else Summary()
    place = order.index(page_id)
    return {
        "id": page_id,
        "name": page.name,
        "status": status_of_page(
            [line.status for line in lines], made_here=opened is not None and opened.file.made_here
        ),
        "revision": "" if opened is None else opened.file.revision,
        "width": content.width,
        "height": content.height,
        "error": workspace.error_of(page_id, error),
        "quarters": quarters_of_page(content.lines),
        "regions": [
            {"id": region.id, "kind": region.kind, "polygon": pairs(region.polygon), "cell": region.cell}
            for region in content.regions
        ],
        "lines": [{**line_content(line), "earlier": earlier.get(line.id)} for line in lines],
        "unknown_hand": summary.has_unknown_hand(workspace.error_rate),
        "layout": round(summary.doubt.layout.expected, 4),
        "previous": order[place - 1] if place else None,
        "next": order[place + 1] if place + 1 < len(order) else None,
    }


def line_content(line: OpenLine) -> dict[str, Any]:
    """A line, with the address of its picture."""
    content, page, status = line.content, line.opened.page, line.status
    sure = [word.confidence for word in content.words if word.confidence is not None]
    known = status is Status.READ and sure and len(sure) == len(content.words)
    marks = place_mark(content) + line.opened.scan_mark
    address = f"/api/pages/{page.id}/lines/{quote(line.id, safe='')}/strip.jpg?v={marks}"
    has_strip = page.source is not None and content.is_placed
    return {
        "id": line.id,
        "region": line.region_id,
        "text": line.text,
        "status": status,
        "revision": line.revision,
        "confidence": content.confidence,
        "expected_wer": round(1 - sum(sure) / len(sure), 4) if known else None,
        "words": [
            {"text": word.text, "confidence": word.confidence, "doubtful": word.doubtful, "box": word.box}
            for word in content.words
        ],
        "tags": [
            {"name": tag.name, "start": tag.start, "length": tag.length, "details": dict(tag.details)}
            for tag in content.tags
            if tag.length
        ],
        "flags": [{"kind": flag.kind, "reason": flag.reason} for flag in content.flags],
        "baseline": pairs(content.baseline),
        "polygon": pairs(content.polygon),
        "strip": address if has_strip else None,
    }


def pairs(points: Points | None) -> list[list[int]] | None:
    """Points as lists of x and y."""
    return None if points is None else [list(point) for point in points]
