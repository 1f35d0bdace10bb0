"""All routes of the editor: its web page and its API."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from drethtr import editing
from drethtr.editing.session import Session
from drethtr.server.editor.comparing import TextComparison
from drethtr.server.editor.folder import Folder
from drethtr.server.editor.line_structure import LineStructure
from drethtr.server.editor.lines import Lines
from drethtr.server.editor.pages import Pages
from drethtr.server.editor.work import JobHandlers

STATIC = Path(editing.__file__).parent / "static"
"""The files of the web page."""


def routes_of(session: Session) -> list[BaseRoute]:
    """The routes of the editor."""
    return [
        Route("/", index, include_in_schema=False),
        Route("/p/{page}", index, include_in_schema=False),
        Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        *Folder(session).routes(),
        *JobHandlers(session).routes(),
        *Pages(session).routes(),
        *TextComparison(session).routes(),
        *LineStructure(session).routes(),
        *Lines(session).routes(),
    ]


async def index(request: Request) -> Response:
    """`GET /` and `GET /p/{page}`: the page that browsers show."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})
