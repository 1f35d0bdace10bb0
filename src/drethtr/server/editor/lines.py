"""HTTP handlers for lines: texts, places, alternatives, history."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError
from drethtr.editing.changes import LineEdit
from drethtr.editing.notes import user
from drethtr.editing.page_files import OpenLine
from drethtr.editing.session import Session
from drethtr.server.editor.content import line_content
from drethtr.server.editor.values import (
    LINE,
    MAX_TEXT_LENGTH,
    line_of,
    offset_of,
    page_id_of,
    points_of,
    refuse_unknown,
    review_of,
    revision_of,
    tags_of,
    text_of,
    who_of,
)
from drethtr.server.uploads import MAX_PICTURES, HeavyWork, json_of

FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


class LineHandlers:
    """The handlers for lines."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader
        self.words = session.alternatives
        self.drawing, self.trying = HeavyWork(MAX_PICTURES), HeavyWork()

    def routes(self) -> list[BaseRoute]:
        """Their routes; that of a line matches all others, as an id may contain slashes, and so comes last."""
        return [
            Route(f"{LINE}/strip.jpg", self.strip),
            Route(f"{LINE}/history", self.history),
            Route(f"{LINE}/alternatives", self.alternatives, methods=["POST"]),
            Route(f"{LINE}/read", self.read_line, methods=["POST"]),
            Route(LINE, self.line),
            Route(LINE, self.put_line, methods=["PUT"]),
        ]

    async def line(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}`: a line."""
        opened = await asyncio.to_thread(self.workspace.opened, page_id_of(request))
        return await line_response(opened.line(line_of(request)))

    async def put_line(self, request: Request) -> Response:
        """`PUT /api/pages/{page}/lines/{line}`: change the text, the status or the place of a line."""
        revision, body = revision_of(request), await json_of(request)
        refuse_unknown(body, "text", "status", "baseline", "polygon", "tags", "who")
        edit = LineEdit(
            text_of(body, "text", MAX_TEXT_LENGTH),
            review_of(body),
            points_of(body, "baseline", 2),
            points_of(body, "polygon", 3),
            tags_of(body),
        )
        who = who_of(body)
        page_id, line_id = page_id_of(request), line_of(request)
        if edit.status is not None and not edit.text:  # a line that waits for its reading is not empty
            await asyncio.to_thread(self.reader.new_lines.finish, page_id, line_id)
        line = await asyncio.to_thread(self.workspace.edit_line, page_id, line_id, revision, edit, who)
        if edit.baseline is not None or edit.polygon is not None:
            self.reader.new_lines.read_soon(page_id, [line.id])
        return await line_response(line)

    async def strip(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/strip.jpg`: the straightened line."""
        content = await self.drawing.run(request, self.workspace.strip, page_id_of(request), line_of(request))
        headers = FOREVER if "v" in request.query_params else {"Cache-Control": "private, no-cache"}
        return Response(content, media_type="image/jpeg", headers=headers)

    async def history(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/history`: the changes of a line, newest first."""
        changes = await asyncio.to_thread(self.workspace.history, page_id_of(request), line_of(request))
        return JSONResponse([change.to_json() for change in changes])

    async def alternatives(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/alternatives`: other readings of a word of a line, likeliest first."""
        body = await json_of(request)
        refuse_unknown(body, "text", "start", "end")
        text, start, end = text_of(body, "text", MAX_TEXT_LENGTH), offset_of(body, "start"), offset_of(body, "end")
        if text is None or start is None or end is None or not start < end <= len(text):
            raise ConfigError('name a word of the text, as {"text": "Deer Sir", "start": 0, "end": 4}')
        word = page_id_of(request), line_of(request), text, start, end
        found = await self.trying.run(request, self.words.of_word, *word)
        return JSONResponse({"alternatives": found})

    async def read_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/read`: the machine's text in the place of a person's."""
        revision, body = revision_of(request), await json_of(request)
        refuse_unknown(body, "who")
        who = who_of(body) or user()  # it counts as a step of the person, who can undo it
        page_id, line = page_id_of(request), line_of(request)
        return await line_response(await asyncio.to_thread(self.reader.read_again, page_id, line, revision, who))


async def line_response(line: OpenLine) -> Response:
    """The response with a line, and its revision as ETag."""
    content = await asyncio.to_thread(line_content, line)  # which looks at the file of the scan
    return JSONResponse(content, headers={"ETag": f'"{line.revision}"'})
