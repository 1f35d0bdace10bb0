"""What requests carry: parameters, uploaded images, JSON; all of it bounded in size and time."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError

MOST_BYTES = 64 << 20
"""The largest image or PDF."""

MOST_JSON = 1 << 20
"""The largest JSON."""

MOST_SECONDS = 60.0
"""How long an upload may take."""


def parameters_of(request: Request, *known: str) -> Mapping[str, str]:
    """The parameters of a request.

    Raises:
        ConfigError: for one that is unknown.
    """
    for name in request.query_params:
        if name not in known:
            takes = f"known: {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{request.url.path} has no parameter {name!r}{hint(name, known)}; {takes}")
    return request.query_params


async def body_of(request: Request) -> bytes:
    """The bytes of the image that a request uploads.

    Raises:
        HTTPException: if there are none or too many, if they come too slowly, or as a form.
    """
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise HTTPException(415, "send the bytes of the image itself, as curl --data-binary @line.png does, not a form")
    content = await received(request, "image", MOST_BYTES)
    if not content:
        raise HTTPException(400, "the request has no image; send its bytes, as curl --data-binary @line.png does")
    return content


async def json_of(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings; {} if it brings nothing.

    Raises:
        HTTPException: if it is too large, comes too slowly, or is no JSON object.
    """
    content = await received(request, "request", MOST_JSON)
    if not content:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the request is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise HTTPException(400, 'the request must be a JSON object, as {"text": "…"}')
    return found


async def received(request: Request, what: str, most: int) -> bytes:
    """The body of a request.

    Raises:
        HTTPException: if it has more bytes than `most`, or comes too slowly.
    """
    pieces, size = [], 0
    refuse_bytes(announced(request), what, most)
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                refuse_bytes(size, what, most)
    except TimeoutError as error:
        told = f"the {what} did not arrive within {MOST_SECONDS:g} seconds; try again, or send a smaller one"
        raise HTTPException(408, told, {"Connection": "close"}) from error
    return b"".join(pieces)


def announced(request: Request) -> int:
    """The length that a request announces; 0 if it announces none.

    Raises:
        HTTPException: if it is not a number.
    """
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal()):
        raise HTTPException(400, f"Content-Length is {length[:60]!r}; it must be the number of bytes of the image")
    return int(length[:20])  # Python refuses to convert thousands of digits


def refuse_bytes(size: int, what: str, most: int) -> None:
    """Refuse more bytes than may be sent."""
    if size > most:
        raise HTTPException(
            413,
            f"an {what} may have at most {most >> 20} MiB"
            if what == "image"
            else f"a {what} may have at most {most >> 20} MiB",
        )
