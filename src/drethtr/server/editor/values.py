"""Parse and check values in requests of the editor: revisions, texts, points."""

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from drethtr.base.errors import ConfigError
from drethtr.documents.points import Points
from drethtr.documents.transcription import Review

LINE = "/api/pages/{page}/lines/{line:path}"
"""The path of a line; its id may contain slashes."""

MAX_TEXT_LENGTH = 10_000
MAX_ID_LENGTH = 1000
MAX_NAME_LENGTH = 80
MAX_POINTS = 1000
MAX_COORDINATE = 1_000_000


def page_of(request: Request) -> str:
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


def is_point(value: object) -> bool:
    """Whether a value of a request is a point of a page."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_coordinate, value))


def is_coordinate(value: object) -> bool:
    """Whether a value of a request is a coordinate."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_COORDINATE
