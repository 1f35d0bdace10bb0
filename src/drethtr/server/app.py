"""The web application, for any ASGI server: with a folder to work in (`drethtr edit`), or without (`drethtr serve`)."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import DrethtrError
from drethtr.editing.session import Session
from drethtr.layout.finder import Finder
from drethtr.pages.source import Original
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.answers import failed, misdirected, told
from drethtr.server.editor import Editor
from drethtr.server.guard import Guard, Rules
from drethtr.server.service import Service

HERE = Rules()
"""Rules for a server that only its own machine can reach."""


def make_app(
    recognizer: Recognizer,
    finder: Callable[[Original], Finder],
    *,
    session: Session | None = None,
    rules: Rules = HERE,
) -> Starlette:
    """The application.

    Args:
        recognizer: Reads.
        finder: Chooses what finds the lines of a page.
        session: A folder to work in.
        rules: Who may ask.
    """
    service = Service(recognizer, finder, None if session is None else session.reader.turns)
    routes: list[BaseRoute] = [
        Route("/line", service.line, methods=["POST"]),
        Route("/page", service.page, methods=["POST"]),
    ]
    if session is None:
        routes.insert(0, Route("/", service.about))
    else:
        session.reader.told.append(service.use)
        routes = [*Editor(session).routes(), *routes]
    expected = dict.fromkeys((HTTPException, DrethtrError, ClientDisconnect), told)
    nowhere = dict.fromkeys((404, 405), misdirected)
    return Starlette(
        routes=routes,
        exception_handlers={**expected, **nowhere, Exception: failed},
        middleware=[Middleware(Guard, rules=rules)],
    )
