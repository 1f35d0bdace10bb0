"""The answers for errors, in the words of the command line, as JSON."""

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.editing.page_files import Missing, Stale

STATUS = ((Missing, 404), (DataError, 422), (ConfigError, 400), (DrethtrError, 500))
"""Status of expected errors, the first that fits: faults of the image, of the request, of this server."""

MOST_TOLD = 10
"""Most addresses that are told to who has asked for a wrong one."""


def told(words: Callable[[object], str], request: Request, error: Exception) -> Response:
    """The answer for an expected error, in `words` for clients; a client that has left gets none."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    if isinstance(error, Stale):
        return JSONResponse({"error": words(error), error.kind: error.now}, 409)
    return JSONResponse({"error": words(error)}, next(status for kind, status in STATUS if isinstance(error, kind)))


def misdirected(request: Request, error: Exception) -> Response:
    """The answer for an unknown address or method: the known ones."""
    assert isinstance(error, HTTPException)
    routes = [route for route in request.app.routes if isinstance(route, Route) and route.include_in_schema]
    known = ", ".join(f"{min(route.methods or ())} {route.path}" for route in routes)  # of GET and HEAD the first
    told = f"known: {known}" if len(routes) < MOST_TOLD else "see /openapi.json"
    words = f"there is no {request.method} {request.url.path}; {told}"
    return JSONResponse({"error": words}, error.status_code, error.headers)


def failed(request: Request, error: Exception) -> Response:
    """The answer for an unexpected error; its cause is only in the log of the server that runs this."""
    return JSONResponse({"error": "the server failed on this request; see its log"}, 500)
