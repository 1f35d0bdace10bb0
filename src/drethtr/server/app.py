"""The web application, for any ASGI server: with a folder to work in (`drethtr edit`), or without (`drethtr serve`)."""

from functools import partial
from mimetypes import add_type
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from drethtr import editing
from drethtr.base.errors import DrethtrError
from drethtr.editing.session import Session
from drethtr.pages.segmentation import Segmentation
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.answers import TellStopping, error_response, internal_error, unknown_route
from drethtr.server.connections import DrainBody
from drethtr.server.description import description
from drethtr.server.editor.folder import FolderHandlers
from drethtr.server.editor.jobs import JobHandlers
from drethtr.server.editor.lines import LineHandlers
from drethtr.server.editor.pages import PageHandlers
from drethtr.server.guard import Access, Guard
from drethtr.server.metrics import CountRequests, Metrics
from drethtr.server.service import SearchService, Service, without_index

HERE = Access()
"""Access from the same machine only."""

STATIC = Path(editing.__file__).parent / "static"
"""The files of the web page."""

KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Media types of these files by extension. On Windows any program may set others, and browsers would run no script."""


def make_app(
    recognizer: Recognizer,
    segmentation: Segmentation,
    *,
    session: Session | None = None,
    index: str | Path | None = None,
    access: Access = HERE,
) -> Starlette:
    """The application.

    Args:
        recognizer: Reads the lines.
        segmentation: How to get the lines of a page.
        session: The folder of `drethtr edit`; adds the editor and its API.
        index: The index that `GET /search` searches; without one, there is no search.
        access: Which requests are accepted; by default those of this machine.
    """
    service = Service(recognizer, segmentation, None if session is None else session.reader.executor)
    metrics = Metrics(lambda: len(service.request_queue.waiting), lambda: service.recognizer.model.identity)
    routes: list[BaseRoute] = [
        Route("/about", service.about),
        Route("/line", service.read_line_image, methods=["POST"]),
        Route("/page", service.read_page_image, methods=["POST"]),
        Route("/health", service.health),
        Route("/metrics", metrics.show),
        Route("/search", without_index if index is None else SearchService(index).search_index),
        Route("/openapi.json", describe),
    ]
    if session is None:
        routes.insert(0, Route("/", service.about))
    else:
        session.reader.on_model_change.append(service.use)
        folder = FolderHandlers(session, access)
        routes += routes_of(session, folder)
    message_of = str if session is None else session.workspace.without_private_paths
    expected = dict.fromkeys((HTTPException, DrethtrError, ClientDisconnect), partial(error_response, message_of))
    unknown = dict.fromkeys((404, 405), unknown_route)
    app = Starlette(
        routes=routes,
        exception_handlers={**expected, **unknown, Exception: internal_error},
        middleware=[
            Middleware(DrainBody),
            Middleware(CountRequests, metrics=metrics),
            Middleware(TellStopping),
            Middleware(Guard, access=access),
        ],
    )
    app.state.budget = service.budget
    app.state.endings = [] if session is None else [folder.end_streams]
    app.router.redirect_slashes = False  # a redirect would contain the host name that the client sent
    return app


def routes_of(session: Session, folder: FolderHandlers) -> list[BaseRoute]:
    """The routes of the editor."""
    for ending, kind in KINDS.items():
        add_type(kind, ending)
    return [
        Route("/", index),
        Route("/p/{page}", index),
        Route("/p/{page}/layout", index),
        Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
        *folder.routes(),
        *JobHandlers(session).routes(),
        *PageHandlers(session).routes(),
        *LineHandlers(session).routes(),
    ]


async def describe(request: Request) -> Response:
    """`GET /openapi.json`: what this server reads and searches."""
    return JSONResponse(description())


async def index(request: Request) -> Response:
    """`GET /` and `GET /p/{page}`: the page that browsers show."""
    return FileResponse(STATIC / "index.html")
