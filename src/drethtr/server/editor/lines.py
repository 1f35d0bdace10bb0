"""HTTP handlers for lines: texts, alternatives and history; adding, deleting, splitting, merging and moving them."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError
from drethtr.documents.page import TextLine
from drethtr.documents.transcription import Review
from drethtr.editing import changes
from drethtr.editing.changes import Changed, LineEdit
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.page_files import OpenPage
from drethtr.editing.session import Session
from drethtr.server.editor.values import (
    LINE,
    MAX_ID_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TEXT_LENGTH,
    is_point,
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
    """The handlers for lines."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """Their routes; that of a line matches all others, as an id may contain slashes, and so comes last."""
        return [
            Route("/api/pages/{page}/lines", self.add_line, methods=["POST"]),
            Route(f"{LINE}/strip.jpg", self.strip),
            Route(f"{LINE}/history", self.history),
            Route(f"{LINE}/alternatives", self.alternatives),
            Route(f"{LINE}/read", self.read_line, methods=["POST"]),
            Route(f"{LINE}/split", self.split_line, methods=["POST"]),
            Route(f"{LINE}/merge", self.merge_lines, methods=["POST"]),
            Route(f"{LINE}/move", self.move_line, methods=["POST"]),
            Route(LINE, self.line),
            Route(LINE, self.put_line, methods=["PUT"]),
            Route(LINE, self.delete_line, methods=["DELETE"]),
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

    # Which lines there are.

    async def add_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines`: a new line, which is read at once unless its text is given."""
        body = await json_of(request)
        refuse_unknown(body, "baseline", "polygon", "after", "text", "status", "who")
        baseline, polygon = points_of(body, "baseline", 2), points_of(body, "polygon", 3)
        if baseline is None and polygon is None:
            raise ConfigError("a new line needs a baseline, as [[12, 40], [380, 42]]")
        after = text_of(body, "after", MAX_ID_LENGTH)
        text, status = text_of(body, "text", MAX_TEXT_LENGTH), review_of(body)
        if status is not None and text is None:
            raise ConfigError("a new line with a status needs its text")
        given = None if text is None else changes.with_review(None, changes.tidy(text), status or Review.CORRECTED)

        def work(page: FolderPage, opened: OpenPage) -> Changed:
            drawn, outline = TextLine("", polygon, baseline, given), self.workspace.outline_of(page)
            return changes.add_line(opened.file, drawn, after, page.id, placed=after is not None, outline=outline)

        return await self.change_response(request, work, {}, body)

    async def delete_line(self, request: Request) -> Response:
        """`DELETE /api/pages/{page}/lines/{line}`: remove a line."""
        line, revision = line_of(request), revision_of(request)
        return await self.change_response(
            request, lambda page, opened: changes.delete_line(opened.file, line, page.id), {line: revision}, {}
        )

    async def split_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/split`: cut a line in two at a point of the scan."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "x", "y", "offset", "who")
        if not is_point([body.get("x"), body.get("y")]):
            raise ConfigError('a line is split at a point, as {"x": 812, "y": 640}')
        point, offset = (round(body["x"]), round(body["y"])), body.get("offset")
        if offset is not None and not (isinstance(offset, int) and 0 <= offset <= MAX_TEXT_LENGTH):
            raise ConfigError(f"offset must be a whole number from 0 to {MAX_TEXT_LENGTH:,}, not {str(offset)[:60]!r}")

        def work(page: FolderPage, opened: OpenPage) -> Changed:
            return changes.split_line(opened.file, line, point, offset, page.id, made_here=opened.made_here)

        return await self.change_response(request, work, {line: revision}, body)

    async def merge_lines(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/merge`: join two pieces of a line."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "with", "revision", "who")
        other, its_revision = text_of(body, "with", MAX_ID_LENGTH), text_of(body, "revision", MAX_NAME_LENGTH)
        if other is None or its_revision is None:
            raise ConfigError('name the other line and its revision, as {"with": "r1l3", "revision": "…"}')

        def work(page: FolderPage, opened: OpenPage) -> Changed:
            outline = self.workspace.outline_of(page)
            return changes.merge_lines(opened.file, line, other, page.id, made_here=opened.made_here, outline=outline)

        return await self.change_response(request, work, {line: revision, other: its_revision}, body)

    async def move_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/move`: move a line after another one, or to the beginning."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "after", "who")
        after = text_of(body, "after", MAX_ID_LENGTH)
        return await self.change_response(
            request, lambda page, opened: changes.move_line(opened.file, line, after, page.id), {line: revision}, body
        )

    async def change_response(
        self,
        request: Request,
        work: Callable[[FolderPage, OpenPage], Changed],
        revisions: Mapping[str, str],
        body: Mapping[str, Any],
    ) -> Response:
        """Change the lines of a page, read new ones, and respond with the page."""
        page, who = page_of(request), text_of(body, "who", MAX_NAME_LENGTH) or ""
        done = await asyncio.to_thread(self.workspace.change, page, work, revisions, who)
        self.reader.read_urgently(page, done.lines)
        content = await asyncio.to_thread(self.workspace.page, page)
        return JSONResponse({**content, "changed": list(done.lines)})


def line_response(line: dict[str, Any]) -> Response:
    """The response with a line, and its revision as ETag."""
    return JSONResponse(line, headers={"ETag": f'"{line["revision"]}"'})
