"""The HTTP handler that compares a page with another text."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.documents.running_text import running_text
from drethtr.editing.comparison import compare
from drethtr.editing.session import Session
from drethtr.proofreading.conventions import conventions_named
from drethtr.server.editor.values import MAX_NAME_LENGTH, page_of
from drethtr.server.uploads import parameters_of, read_body

MAX_TEXT_BYTES = 16 << 20
"""Maximum bytes of a text."""

PASTED = "text.txt"
"""The name of a text without one."""


class TextComparison:
    """The handler that compares a page with another text."""

    def __init__(self, session: Session) -> None:
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """Its route."""
        return [Route("/api/pages/{page}/compare", self.compare_page, methods=["POST"])]

    async def compare_page(self, request: Request) -> Response:
        """`POST /api/pages/{page}/compare?name=theirs.md&allow=spelling`: a page beside a text, the bytes of a file."""
        asked = parameters_of(request, "name", "allow")
        name = Path(asked.get("name", PASTED)[-MAX_NAME_LENGTH:]).name or PASTED
        allowed = conventions_named(asked.get("allow", ""))
        page = self.workspace.folder_page(page_of(request))
        content = await read_body(request, "text", MAX_TEXT_BYTES)

        def work() -> dict[str, Any]:
            return compare(self.reader, page.id, running_text(content, Path(name)), name, allowed)

        return JSONResponse(await asyncio.to_thread(work))
