"""HTTP handlers for pages: images, layout, what was done to them, a page beside another text."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError
from drethtr.documents.points import MAX_COORDINATE, Box
from drethtr.documents.running_text import running_text
from drethtr.editing.changes import Changed
from drethtr.editing.comparison import compare
from drethtr.editing.scans import THUMBNAIL
from drethtr.editing.session import Session
from drethtr.editing.status import Status
from drethtr.proofreading.rules import conventions_named
from drethtr.server.answers import packed
from drethtr.server.editor.content import page_content
from drethtr.server.editor.values import (
    MAX_NAME_LENGTH,
    action_of,
    box_of,
    page_id_of,
    refuse_unknown,
    revisions_of,
    who_of,
)
from drethtr.server.uploads import (
    MAX_PICTURES,
    HeavyWork,
    json_of,
    parameters_of,
    read_body,
    share_of,
    whole_number,
)

MAX_WIDTH = 10_000
"""Maximum width of an image that can be asked for, in pixels."""

MAX_TEXT_BYTES = 16 << 20
"""Maximum bytes of a text."""

PASTED = "text.txt"
"""The name of a text without one."""


class PageHandlers:
    """The handlers for pages."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader
        self.comparing = HeavyWork()
        self.drawing = HeavyWork(MAX_PICTURES)

    def routes(self) -> list[BaseRoute]:
        """Their routes."""
        page = "/api/pages/{page}"
        return [
            Route("/api/pages", self.pages),
            Route(page, self.page),
            Route(f"{page}/thumbnail.jpg", self.thumbnail),
            Route(f"{page}/image.jpg", self.image),
            Route(f"{page}/read", self.read_page, methods=["POST"]),
            Route(f"{page}/compare", self.compare_page, methods=["POST"]),
            Route(f"{page}/layout", self.change_layout, methods=["POST"]),
            Route(f"{page}/undo", self.undo, methods=["POST"]),
            Route(f"{page}/redo", self.redo, methods=["POST"]),
            Route(f"{page}/history", self.history),
        ]

    async def pages(self, request: Request) -> Response:
        """`GET /api/pages`: the overview."""
        return packed(request, await asyncio.to_thread(self.workspace.pages))

    async def page(self, request: Request) -> Response:
        """`GET /api/pages/{page}`: a page with its lines.

        A page that waits to be read has them at once if the index knows them; otherwise it is the next to be read.
        """
        content = await asyncio.to_thread(self.content, page_id_of(request))
        if content["status"] == Status.UNREAD:
            self.reader.prioritize(content["id"])
        return packed(request, content)

    def content(self, page_id: str) -> dict[str, Any]:
        """A page with its lines, even if only the index has them."""
        content = page_content(self.workspace, page_id)
        is_filled = content["status"] == Status.UNREAD and self.reader.fill(self.workspace.folder_page(page_id))
        self.workspace.viewed.append(page_id)
        return page_content(self.workspace, page_id) if is_filled else content

    async def thumbnail(self, request: Request) -> Response:
        """`GET /api/pages/{page}/thumbnail.jpg`: the scan, small."""
        return await self.picture(request, THUMBNAIL)

    async def image(self, request: Request) -> Response:
        """`GET /api/pages/{page}/image.jpg?width=1200`: the scan, or its part in a `box=4,8,90,60`."""
        asked = request.query_params
        if "box" in asked:
            box = [whole_number({"box": part}, "box", 0, MAX_COORDINATE, least=0) for part in asked["box"].split(",")]
            if len(box) != 4:
                raise ConfigError("box must be left,top,right,bottom in pixels of the page")
            return await self.picture(request, None, Box(*box))
        return await self.picture(request, whole_number(asked, "width", 1, MAX_WIDTH) if "width" in asked else None)

    async def picture(self, request: Request, width: int | None, box: Box | None = None) -> Response:
        """The response with a scan, or a part of it, as JPEG, or 304 if the browser has it."""
        page = self.workspace.folder_page(page_id_of(request))
        mark = await asyncio.to_thread(self.workspace.scans.mark, page)
        headers = {"ETag": f'"{mark}"', "Cache-Control": "private, no-cache"}
        if mark in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        scans = self.workspace.scans
        work = partial(scans.page, page, width) if box is None else partial(scans.part, page, box)
        content = await self.drawing.run(request, work)
        return Response(content, media_type="image/jpeg", headers=headers)

    async def read_page(self, request: Request) -> Response:
        """`POST /api/pages/{page}/read`: read again the lines of a page that no person has touched."""
        page = self.workspace.folder_page(page_id_of(request))
        job = await asyncio.to_thread(self.reader.read_pages, [page.id], again=True)
        return JSONResponse(job.to_json(), 202)

    async def compare_page(self, request: Request) -> Response:
        """`POST /api/pages/{page}/compare?name=theirs.md&allow=spelling`: a page beside the text in the body."""
        asked = parameters_of(request, "name", "allow")
        name = Path(asked.get("name", PASTED)[-MAX_NAME_LENGTH:]).name or PASTED
        allowed = conventions_named(asked.get("allow", ""))
        page = self.workspace.folder_page(page_id_of(request))
        with share_of(request) as share:
            content = await read_body(request, "text", MAX_TEXT_BYTES, share.add)

            def work() -> dict[str, Any]:
                return compare(self.reader, page.id, running_text(content, Path(name)), name, allowed)

            return JSONResponse(await self.comparing.run(request, work))

    async def change_layout(self, request: Request) -> Response:
        """`POST /api/pages/{page}/layout`: change the lines and regions of a page, see `ACTIONS`."""
        page_id, body = page_id_of(request), await json_of(request)
        who = who_of(body)
        if body.get("do") == "find":
            refuse_unknown(body, "do", "who", "box")
            done = await asyncio.to_thread(self.reader.find_again, page_id, box_of(body, "box"), 0, who)
        elif body.get("do") == "turn":
            refuse_unknown(body, "do", "who", "quarters")
            quarters = body.get("quarters")
            if quarters not in (0, 1, 2, 3):
                raise ConfigError("quarters must be 0 to 3: how often the scan is turned to the left to be upright")
            done = await asyncio.to_thread(self.reader.find_again, page_id, None, quarters, who)
        else:
            action, revisions = action_of(body), revisions_of(body)
            done = await asyncio.to_thread(self.workspace.act, page_id, action, revisions, who)
        return await self.page_response(page_id, done)

    async def undo(self, request: Request) -> Response:
        """`POST /api/pages/{page}/undo`: take back the last step of a person, or another one."""
        page_id, body = page_id_of(request), await json_of(request)
        refuse_unknown(body, "step", "who")
        step = body.get("step")
        if step is not None and type(step) is not int:
            raise ConfigError("step must be the number of a step")
        who = who_of(body)
        return await self.page_response(page_id, await asyncio.to_thread(self.workspace.undo, page_id, who, step))

    async def redo(self, request: Request) -> Response:
        """`POST /api/pages/{page}/redo`: do again what was undone last."""
        page_id, body = page_id_of(request), await json_of(request)
        refuse_unknown(body, "who")
        who = who_of(body)
        return await self.page_response(page_id, await asyncio.to_thread(self.workspace.redo, page_id, who))

    async def history(self, request: Request) -> Response:
        """`GET /api/pages/{page}/history`: what persons did to a page, newest first."""
        steps = await asyncio.to_thread(self.workspace.steps, page_id_of(request))
        return JSONResponse([step.to_json() for step in steps])

    async def page_response(self, page_id: str, done: Changed) -> Response:
        """The response with a changed page, of which new lines are read a second later."""
        self.reader.new_lines.read_soon(page_id, done.lines)
        content = await asyncio.to_thread(page_content, self.workspace, page_id)
        return JSONResponse({**content, "changed": list(done.lines)})
