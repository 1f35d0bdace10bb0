"""HTTP handlers for the texts of lines: reading, alternatives, edits, history."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.editing.changes import LineEdit
from drethtr.editing.session import Session
from drethtr.server.editor.values import (
    LINE,
    MAX_NAME_LENGTH,
    MAX_TEXT_LENGTH,
    line_of,
    page_of,
    points_of,
    refuse_unknown,
    review_of,
    revision_of,
    text_of,
)
from drethtr.server.uploads import json_of

FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


class Lines:
    """The handlers for the texts of lines."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """Their routes; that of a line matches all others, as an id may contain slashes, and so comes last."""
        return [
            Route(f"{LINE}/strip.jpg", self.strip),
            Route(f"{LINE}/history", self.history),
            Route(f"{LINE}/alternatives", self.alternatives),
            Route(f"{LINE}/read", self.read_line, methods=["POST"]),
            Route(LINE, self.line),
            Route(LINE, self.put_line, methods=["PUT"]),
        ]

    async def line(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}`: a line."""
        return line_response(await asyncio.to_thread(self.workspace.line, page_of(request), line_of(request)))

    async def put_line(self, request: Request) -> Response:
        """`PUT /api/pages/{page}/lines/{line}`: change the text, the status or the place of a line."""
        revision, body = revision_of(request), await json_of(request)
        refuse_unknown(body, "text", "status", "baseline", "polygon", "who")
        edit = LineEdit(
            text_of(body, "text", MAX_TEXT_LENGTH),
            review_of(body),
            points_of(body, "baseline", 2),
            points_of(body, "polygon", 3),
        )
        who = text_of(body, "who", MAX_NAME_LENGTH) or ""
        line = await asyncio.to_thread(
            self.workspace.edit_line, page_of(request), line_of(request), revision, edit, who
        )
        return line_response(line)

    async def strip(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/strip.jpg`: the straightened line."""
        content = await asyncio.to_thread(self.workspace.strip, page_of(request), line_of(request))
        headers = FOREVER if "v" in request.query_params else {"Cache-Control": "private, no-cache"}
        return Response(content, media_type="image/jpeg", headers=headers)

    async def history(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/history`: the changes of a line, newest first."""
        return JSONResponse(await asyncio.to_thread(self.workspace.history, page_of(request), line_of(request)))

    async def alternatives(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/alternatives`: other texts that a line may have, best first."""
        found = await asyncio.to_thread(self.reader.other_texts, page_of(request), line_of(request))
        return JSONResponse({"alternatives": found})

    async def read_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/read`: the machine's text in the place of a person's."""
        revision = revision_of(request)
        return line_response(
            await asyncio.to_thread(self.reader.read_again, page_of(request), line_of(request), revision)
        )


def line_response(line: dict[str, Any]) -> Response:
    """The response with a line, and its revision as ETag."""
    return JSONResponse(line, headers={"ETag": f'"{line["revision"]}"'})
