"""Parse and check values in requests of the editor: revisions, texts, points, actions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeGuard

from starlette.exceptions import HTTPException
from starlette.requests import Request

from drethtr.base.errors import ConfigError
from drethtr.documents.page_xml.custom import OF_ELEMENTS, PLACE
from drethtr.documents.points import MAX_COORDINATE, Box, Points, box_around
from drethtr.documents.transcription import Review, Tag
from drethtr.editing.layout import Action
from drethtr.editing.repairs import ACTIONS

LINE = "/api/pages/{page}/lines/{line:path}"
"""The path of a line; its id may contain slashes."""

# Limits of one request: many times what a person does at once, but low enough that the resulting file can be read again
# (`documents/page.py MAX_LINES`, `documents/points.py MAX_CHARACTERS`).
MAX_TEXT_LENGTH = 10_000
MAX_ID_LENGTH = 1000
MAX_NAME_LENGTH = 80
MAX_POINTS = 1000
MAX_TAGS = 200
MAX_STROKES = 200
MAX_LINES = 10_000

WORD = re.compile(r"[A-Za-z]\w{0,40}")
"""The name of a tag or of one of its details."""


def page_id_of(request: Request) -> str:
    """The page id in the path."""
    return str(request.path_params["page"])


def line_of(request: Request) -> str:
    """The line id in the path."""
    return str(request.path_params["line"])


def revision_of(request: Request) -> str:
    """The revision in the header If-Match.

    Raises:
        HTTPException: if there is none.
    """
    given = request.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
    if not given:
        raise HTTPException(428, 'send the revision that you changed, as the header If-Match: "REVISION"')
    return given


def refuse_unknown(body: Mapping[str, Any], *known: str) -> None:
    """Refuse unknown keys.

    Raises:
        ConfigError: naming the first.
    """
    if unknown := [name for name in body if name not in known]:
        raise ConfigError(f"unknown value {unknown[0][:60]!r}; known: {', '.join(known)}")


def text_of(body: Mapping[str, Any], name: str, longest: int) -> str | None:
    """A text of a request; None if it is missing.

    Raises:
        ConfigError: if it is no text, or too long.
    """
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise ConfigError(f"{name} must be a string")
    if len(text) > longest:
        raise ConfigError(f"{name} has {len(text):,} characters; at most {longest:,} are taken")
    return text


def who_of(body: Mapping[str, Any]) -> str:
    """The name of the person who sends a request; "" if it is missing."""
    return text_of(body, "who", MAX_NAME_LENGTH) or ""


def review_of(body: Mapping[str, Any]) -> Review | None:
    """The status in a request; None if it is missing.

    Raises:
        ConfigError: if it is none that a person can give.
    """
    status = body.get("status")
    if status is None:
        return None
    if status not in list(Review):
        raise ConfigError(f"status must be {' or '.join(Review)}, not {str(status)[:60]!r}")
    return Review(status)


def tags_of(body: Mapping[str, Any]) -> tuple[Tag, ...] | None:
    """The tags in a request; None if they are missing.

    Raises:
        ConfigError: if they are no tags, or too many.
    """
    tags = body.get("tags")
    if tags is None:
        return None
    if not isinstance(tags, list) or len(tags) > MAX_TAGS or not all(map(is_tag, tags)):
        raise ConfigError('tags must be a list such as [{"name": "person", "start": 0, "length": 4, "details": {}}]')
    return tuple(Tag(tag["name"], tag["start"], tag["length"], tuple(tag.get("details", {}).items())) for tag in tags)


def is_tag(value: object) -> bool:
    """Whether a value of a request is a tag."""
    if not isinstance(value, dict) or value.keys() - {"name", "start", "length", "details"}:
        return False
    name, details = value.get("name"), value.get("details", {})
    places = value.get("start"), value.get("length")
    return (
        isinstance(name, str)
        and WORD.fullmatch(name) is not None
        and name not in OF_ELEMENTS
        and all(map(is_offset, places))
        and isinstance(details, dict)
        and all(
            WORD.fullmatch(key) and key not in PLACE and isinstance(detail, str) and len(detail) <= MAX_ID_LENGTH
            for key, detail in details.items()
        )
    )


def points_of(body: Mapping[str, Any], name: str, least: int) -> Points | None:
    """Points of a request; None if they are missing.

    Raises:
        ConfigError: if they are no points, or too few or too many.
    """
    points = body.get(name)
    if points is None:
        return None
    if not isinstance(points, list) or not least <= len(points) <= MAX_POINTS or not all(map(is_point, points)):
        raise ConfigError(f"{name} must be {least} to {MAX_POINTS:,} points, as [[12, 40], [380, 42]]")
    return tuple((round(x), round(y)) for x, y in points)


def strokes_of(body: Mapping[str, Any], name: str) -> tuple[Points, ...]:
    """Strokes of a request, none if they are missing; errors as of `points_of`."""
    strokes = body.get(name, [])
    if not isinstance(strokes, list) or len(strokes) > MAX_STROKES:
        raise ConfigError(f"{name} must be at most {MAX_STROKES} strokes, as [[[12, 40], [12, 380]]]")
    return tuple(points for stroke in strokes if (points := points_of({name: stroke}, name, 2)) is not None)


def ids_of(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Ids of a request, none if they are missing.

    Raises:
        ConfigError: if they are none, or too many.
    """
    ids = body.get(name, [])
    if not isinstance(ids, list) or len(ids) > MAX_LINES or not all(isinstance(id, str) for id in ids):
        raise ConfigError(f'{name} must be a list of ids, as ["r1l3"]')
    return tuple(dict.fromkeys(ids))


def revisions_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The revisions of lines in a request.

    Raises:
        ConfigError: if they are none.
    """
    known = body.get("revisions", {})
    if not isinstance(known, dict) or len(known) > MAX_LINES or not all(isinstance(one, str) for one in known.values()):
        raise ConfigError('revisions must be given by lines, as {"r1l3": "c01d…"}')
    return known


def point_of(body: Mapping[str, Any], name: str) -> tuple[int, int] | None:
    """A point of a request; None if it is missing, errors as of `points_of`."""
    points = None if body.get(name) is None else points_of({name: [body[name]]}, name, 1)
    return None if points is None else points[0]


def offset_of(body: Mapping[str, Any], name: str) -> int | None:
    """A place in a text; None if it is missing.

    Raises:
        ConfigError: if it is none.
    """
    offset = body.get(name)
    if offset is None or is_offset(offset):
        return offset
    raise ConfigError(f"{name} must be a whole number from 0 to {MAX_TEXT_LENGTH:,}, not {str(offset)[:60]!r}")


def is_offset(value: object) -> TypeGuard[int]:
    """Whether a value of a request is a place in a text; true and false, which are numbers to Python, are none."""
    return type(value) is int and 0 <= value <= MAX_TEXT_LENGTH


def box_of(body: Mapping[str, Any], name: str) -> Box | None:
    """A box by two of its corners; None if it is missing.

    Raises:
        ConfigError: if it is none.
    """
    points = points_of(body, name, 2)
    box = box_around(points or ())
    if points is not None and (box is None or not (box.width and box.height)):
        raise ConfigError(f"{name} must have a width and a height, as [[12, 40], [380, 420]]")
    return box


def id_of(body: Mapping[str, Any], name: str) -> str | None:
    """An id in a request; None if it is missing, errors as of `text_of`."""
    return text_of(body, name, MAX_ID_LENGTH)


FIELDS: Mapping[str, Callable[[Mapping[str, Any], str], Any]] = {
    "lines": ids_of,
    "columns": strokes_of,
    "rows": strokes_of,
    "baseline": lambda body, name: points_of(body, name, 2),
    "polygon": lambda body, name: points_of(body, name, 3),
    "stroke": lambda body, name: points_of(body, name, 2),
    "point": point_of,
    "offset": offset_of,
    "kind": lambda body, name: text_of(body, name, MAX_NAME_LENGTH),
}
"""How fields of actions are parsed; the others are ids."""


def action_of(body: Mapping[str, Any]) -> Action:
    """The action in a request.

    Raises:
        ConfigError: if there is no such action, or a value of it is missing or wrong.
    """
    kind = ACTIONS.get(str(body.get("do")))
    if kind is None:
        raise ConfigError(f"do must be one of {', '.join(ACTIONS)}, find and turn, not {str(body.get('do'))[:60]!r}")
    refuse_unknown(body, "do", "who", "revisions", *(field.name for field in fields(kind)))
    values = {}
    for field in fields(kind):
        parse: Callable[[Mapping[str, Any], str], Any] = FIELDS.get(field.name, id_of)
        value = parse(body, field.name)
        if field.default is MISSING and value in (None, ()):
            raise ConfigError(f"to {body['do']}, give {field.name}")
        values[field.name] = value
    return kind(**values)


def is_point(value: object) -> bool:
    """Whether a value of a request is a point of a page."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_coordinate, value))


def is_coordinate(value: object) -> bool:
    """Whether a value of a request is a coordinate."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_COORDINATE
