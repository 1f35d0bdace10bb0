"""HTTP handlers that add, delete, split, merge and reorder lines."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError
from drethtr.documents.page import TextLine
from drethtr.documents.transcription import Review
from drethtr.editing import changes
from drethtr.editing.changes import Changed
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


class LineStructure:
    """The handlers that change the lines of a page, not their texts."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """Their routes."""
        return [
            Route("/api/pages/{page}/lines", self.add_line, methods=["POST"]),
            Route(f"{LINE}/split", self.split_line, methods=["POST"]),
            Route(f"{LINE}/merge", self.merge_lines, methods=["POST"]),
            Route(f"{LINE}/move", self.move_line, methods=["POST"]),
            Route(LINE, self.delete_line, methods=["DELETE"]),
        ]

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
            drawn = TextLine("", polygon, baseline, given)
            if polygon is None:
                drawn = replace(drawn, polygon=self.workspace.outline_of(page)(drawn, opened.file))
            return changes.add_line(opened.file, drawn, after, page.id, placed=after is not None)

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
            raise ConfigError("offset must be a number of characters of the text")

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
