"""All addresses of a folder, and the page that browsers show there."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from drethtr import editing
from drethtr.editing.session import Session
from drethtr.server.editor.comparing import Comparing
from drethtr.server.editor.folder import Folder
from drethtr.server.editor.lines import Lines
from drethtr.server.editor.pages import Pages
from drethtr.server.editor.shapes import Shapes
from drethtr.server.editor.work import Work

STATIC = Path(editing.__file__).parent / "static"
"""The page that browsers show."""


def routes_of(session: Session) -> list[BaseRoute]:
    """The routes for a folder."""
    return [
        Route("/", index, include_in_schema=False),
        Route("/p/{page}", index, include_in_schema=False),
        Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        *Folder(session).routes(),
        *Work(session).routes(),
        *Pages(session).routes(),
        *Comparing(session).routes(),
        *Shapes(session).routes(),
        *Lines(session).routes(),
    ]


async def index(request: Request) -> Response:
    """`GET /` and `GET /p/{page}`: the page that browsers show."""
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})
