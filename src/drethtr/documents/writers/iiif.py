"""Write IIIF annotations: the lines and words of a page as annotations of its canvas.

Sources: https://iiif.io/api/presentation/3.0/#55-annotation-page, https://iiif.io/api/extension/text-granularity/
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from drethtr.documents.document import Document, address
from drethtr.documents.page import TextLine
from drethtr.documents.points import Box

CONTEXTS = (
    "http://iiif.io/api/extension/text-granularity/context.json",
    "http://iiif.io/api/presentation/3/context.json",
)


class Target(NamedTuple):
    """The target of annotations, a canvas or else the image of a page; `maker` makes their ids unique."""

    target: str
    maker: str

    def id(self, *names: str) -> str:
        """A unique, reproducible id for an annotation."""
        whole = "\n".join((self.target, self.maker, *names))
        return uuid5(NAMESPACE_URL, whole.encode("utf-8", "replace").decode()).urn

    def part(self, box: Box | None) -> str:
        """The URL of a part of the canvas, or of all of it if the box is unknown."""
        if box is None:
            return self.target
        joint = "&" if "#" in self.target else "#"
        return f"{self.target}{joint}xywh={box.left},{box.top},{box.width},{box.height}"


def write_iiif(document: Document) -> bytes:
    """Write a single-page document as an annotation page."""
    [sheet], [number], [title] = document.sheets, document.numbers, document.titles
    made_by = document.provenance
    page, canvas = sheet.page, sheet.canvas
    if canvas is not None and canvas.width and canvas.height:
        page = page.resized(canvas.width, canvas.height)
    place = Target(canvas.id if canvas is not None else address(page, number), f"{made_by} {made_by.timestamp}")
    content = {
        "@context": CONTEXTS,
        "id": place.id(),
        "type": "AnnotationPage",
        "label": {"none": [title]},
        "generator": {"type": "Software", "name": str(made_by)},
        "generated": made_by.timestamp,
        "items": [annotation for line in page.lines for annotation in annotations(line, place)],
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def annotations(line: TextLine, place: Target) -> Iterator[dict[str, Any]]:
    """Annotations with the text of a line and of its words, if placed, and comments for flags and doubtful words."""
    whole = place.part(line.box)
    if line.text:
        yield annotation(place.id(line.id), line.text, whole, "line")
    for flag in line.flags:
        yield annotation(place.id(line.id, str(flag)), str(flag), whole)
    for number, word in enumerate(line.words, 1):
        if word.box is not None:
            part = place.part(word.box)
            yield annotation(place.id(line.id, str(number)), word.text, part, "word")
            if word.doubtful:
                sure = "" if word.confidence is None else f", confidence {word.confidence:.0%}"
                yield annotation(place.id(line.id, str(number), "doubtful"), f"doubtful{sure}", part)


def annotation(id: str, text: str, target: str, granularity: str | None = None) -> dict[str, Any]:
    """An annotation of a part of the canvas: its transcription, or, without granularity, a comment."""
    purpose = {"motivation": "commenting"}
    if granularity is not None:
        purpose = {"motivation": "supplementing", "textGranularity": granularity}
    body = {"type": "TextualBody", "value": text, "format": "text/plain"}
    return {"id": id, "type": "Annotation", **purpose, "body": body, "target": target}
