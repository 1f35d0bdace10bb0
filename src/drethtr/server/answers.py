"""JSON responses for errors, with the messages of the command line."""

import asyncio
import gzip
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.editing.learner import AlreadyLearning
from drethtr.editing.page_files import Missing, Stale
from drethtr.server.editor.content import line_content

STATUS = ((Missing, 404), (AlreadyLearning, 409), (DataError, 422), (ConfigError, 400), (DrethtrError, 500))
"""Status of expected errors, the first that fits: faults of the image, of the request, of this server."""

LONG = 10_000
"""Bytes from which a response is compressed."""

LEVEL = 3
"""Level of compression: an overview of 10,000 pages shrinks to a twentieth in 20 ms; higher levels gain little."""

MAX_LISTED = 10
"""Routes that the response for an unknown one lists at most."""


def error_response(message_of: Callable[[object], str], request: Request, error: Exception) -> Response:
    """The response for an expected error; `message_of` gives its message. None is sent to a client that has left."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    if isinstance(error, Stale):
        now = None if error.now is None else line_content(error.now)
        return JSONResponse({"error": message_of(error), error.kind: now}, 409)
    return JSONResponse(
        {"error": message_of(error)}, next(status for kind, status in STATUS if isinstance(error, kind))
    )


class TellStopping:
    """Middleware that responds to a request which the server cancels, because it has waited long enough to stop."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        except asyncio.CancelledError:
            if begun:
                raise
            stopping = {"error": "the server stopped before this request was finished; send it again"}
            await JSONResponse(stopping, 503, {"Retry-After": "1"})(scope, receive, send)


def packed(request: Request, content: Any) -> Response:
    """The response with JSON; compressed if it is long and the client accepts that."""
    response = JSONResponse(content)
    if len(response.body) > LONG and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(response.body, LEVEL)
        return Response(body, media_type="application/json", headers={"Content-Encoding": "gzip"})
    return response


def unknown_route(request: Request, error: Exception) -> Response:
    """The response for an unknown path or method: it lists the known ones."""
    assert isinstance(error, HTTPException)
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    known = ", ".join(f"{min(route.methods or ())} {route.path}" for route in routes)  # only the first of GET and HEAD
    hint = f"known: {known}" if len(routes) < MAX_LISTED else "see docs/edit.md"
    message = f"there is no {request.method} {request.url.path}; {hint}"
    return JSONResponse({"error": message}, error.status_code, error.headers)


def internal_error(request: Request, error: Exception) -> Response:
    """The response for an unexpected error; its cause is only in the log of the server."""
    return JSONResponse({"error": "the server failed on this request; see its log"}, 500)
