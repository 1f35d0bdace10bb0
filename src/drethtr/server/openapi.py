"""`GET /openapi.json`: the description of the API.

Paths, methods and summaries come from the routes and their handlers; parameters and bodies from `openapi.schemas.json`.
"""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.version import __version__
from drethtr.documents.formats import FORMATS

SCHEMAS = Path(__file__).with_name("openapi.schemas.json")
"""Schemas, and for each handler its parameters, request body and response."""

SUMMARY = re.compile(r"`[A-Z]+ [^`]*`(?: and `[^`]*`)?[:.]?\s*(.*)", re.DOTALL)

ERRORS = {
    "400": "the request is invalid",
    "403": "the request comes from another web page",
    "404": "there is no such page, line or job",
    "408": "the image came too slowly",
    "409": "the line has changed in the meantime; the response has the current one",
    "413": "the image is too large",
    "422": "a file or image cannot be used",
    "428": "the header If-Match is missing",
    "503": "the server has too much to do; the header Retry-After says when to try again",
}


def openapi_handler(routes: Sequence[BaseRoute], task: str) -> Callable[[Request], Awaitable[Response]]:
    """The handler for a description of these routes, of a server for a task: `reading`, `searching` or `editing`."""
    description = describe(routes, task)

    async def openapi(request: Request) -> Response:
        """`GET /openapi.json`: this description."""
        return JSONResponse(description)

    return openapi


def describe(routes: Sequence[BaseRoute], task: str) -> dict[str, Any]:
    """Routes as OpenAPI 3.1."""
    known = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Route) and route.include_in_schema:
            path = route.path.replace(":path}", "}")
            for method in sorted((route.methods or set()) - {"HEAD"}):
                paths.setdefault(path, {})[method.lower()] = operation(route, path, known)
    about = {"title": "drethtr", "version": __version__, "description": known["description"][task]}
    formats = {"type": "string", "enum": list(FORMATS), "description": "A format of pages."}
    schemas = {**known["schemas"], **page_file(), "Format": formats}
    return {"openapi": "3.1.0", "info": about, "paths": paths, "components": {"schemas": schemas}}


def page_file() -> dict[str, Any]:
    """The schema of a page as JSON, and those of its parts, under names of their own."""
    text = (files("drethtr.documents") / "page.schema.json").read_text(encoding="utf-8")
    page = json.loads(text.replace("#/$defs/", "#/components/schemas/PageFile_"))
    return {"PageFile": page, **{f"PageFile_{name}": part for name, part in page.pop("$defs").items()}}


def operation(route: Route, path: str, known: dict[str, Any]) -> dict[str, Any]:
    """The description of one route."""
    name = route.endpoint.__name__
    about = known["handlers"].get(name, {})
    summary = SUMMARY.match(route.endpoint.__doc__ or "")
    in_path = [
        {"name": part, "in": "path", "required": True, "schema": {"type": "string"}}
        for part in re.findall(r"{(\w+)}", path)
    ]
    found: dict[str, Any] = {
        "operationId": name,
        "summary": first_large(" ".join((summary[1] if summary else "").split())),
        "parameters": [*in_path, *about.get("parameters", [])],
        "responses": {
            about.get("status", "200"): {"description": "the answer", "content": about.get("gives", {})},
            **{
                status: {"description": ERRORS[status], "content": known["error"]} for status in about.get("errors", [])
            },
        },
    }
    if "takes" in about:
        found["requestBody"] = {"content": about["takes"]}
    return found


def first_large(sentence: str) -> str:
    """A sentence that begins with a capital letter."""
    return sentence[:1].upper() + sentence[1:]
