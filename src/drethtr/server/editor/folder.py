"""HTTP handlers for the folder as a whole (status, events, search, export)."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.document import About
from drethtr.editing.characters import special_characters
from drethtr.editing.export import Exported, about_of, export, keep_about, preview
from drethtr.editing.notes import user
from drethtr.editing.page_files import Missing
from drethtr.editing.search import MAX_HITS, judge, search
from drethtr.editing.session import Session
from drethtr.editing.workspace import Event
from drethtr.server.answers import packed
from drethtr.server.editor.downloads import Download, Downloads
from drethtr.server.editor.values import (
    MAX_ID_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TEXT_LENGTH,
    page_id_of,
    refuse_unknown,
    text_of,
    who_of,
)
from drethtr.server.guard import ROLE, Access, Role
from drethtr.server.uploads import HeavyWork, form_of, json_of, parameters_of, whole_number

BEAT = 15.0
"""Seconds between comments that keep an idle event stream open."""

MAX_EVENTS = 1000
"""Maximum events that wait for a slow client."""

GONE = 60.0
"""Seconds of silence after which a person is not shown any more."""

MAX_PEOPLE = 100
"""Maximum number of people to remember and show, the most recent ones."""

MAX_STREAMS = 32
"""Maximum event streams: one for each visible window."""


class FolderHandlers:
    """The handlers for the folder as a whole."""

    def __init__(self, session: Session, access: Access) -> None:
        self.session = session
        self.access = access
        self.workspace = session.workspace
        self.reader = session.reader
        self.people: dict[str, tuple[float, dict[str, Any]]] = {}  # when they were last heard of, and where
        self.streams: list[asyncio.Queue[Event | None]] = []
        self.searching, self.exporting = HeavyWork(), HeavyWork()
        self.downloads = Downloads()

    def routes(self) -> list[BaseRoute]:
        """Their routes."""
        return [
            Route("/api/status", self.status),
            Route("/api/events", self.events),
            Route("/api/here", self.here, methods=["POST"]),
            Route("/api/search", self.search),
            Route("/api/search/judge", self.judge_hit, methods=["POST"]),
            Route("/api/confirm", self.confirm, methods=["POST"]),
            Route("/api/export", self.export, methods=["GET", "POST"]),
            Route("/api/preview", self.preview, methods=["GET", "POST"]),
            Route("/api/edition", self.edition),
            Route("/api/edition", self.put_edition, methods=["PUT"]),
            Route("/api/pages/{page}/characters", self.characters),
            Route("/api/pages/{page}/export", self.export_page),
        ]

    async def status(self, request: Request) -> Response:
        """`GET /api/status`: the folder as a whole."""
        role = request.scope.get(ROLE, Role.MANAGE)
        about = {"role": role, "user": user(), "shared": self.access.addresses or len(self.access.hosts) > 1}
        about["links"] = self.access.tokens or None if role is Role.MANAGE else None
        return JSONResponse(await asyncio.to_thread(self.session.status) | about)

    async def here(self, request: Request) -> Response:
        """`POST /api/here`: report where a person is, and get where all are; silent ones are dropped after a minute."""
        body = await json_of(request)
        refuse_unknown(body, "id", "who", "page", "line")
        id, who = text_of(body, "id", MAX_NAME_LENGTH), who_of(body)
        page_id, line = text_of(body, "page", MAX_NAME_LENGTH), text_of(body, "line", MAX_ID_LENGTH)
        if id is None:
            raise ConfigError('say who is where, as {"id": "17", "who": "Ada", "page": "5f0c", "line": "r1l3"}')
        before, now = self.people.pop(id, None), monotonic()
        heard = {key: one for key, one in self.people.items() if now - one[0] < GONE}
        self.people = dict(islice(heard.items(), max(0, len(heard) - MAX_PEOPLE + 1), None))
        if body.get("page", "") is not None or who:
            self.people[id] = (now, {"id": id, "who": who, "page": page_id, "line": line})
        people = [one for _, one in self.people.values()]
        if before is None or before[1] != self.people.get(id, before)[1]:
            self.workspace.notify("people", people=people)
        return JSONResponse(people)

    async def events(self, request: Request) -> Response:
        """`GET /api/events`: what happens in the folder, as server-sent events; the oldest of too many streams ends."""
        if len(self.streams) >= MAX_STREAMS:
            end_stream(self.streams.pop(0))
        self.streams.append(asyncio.Queue(MAX_EVENTS))
        return StreamingResponse(
            self.stream_events(request, self.streams[-1]),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    def end_streams(self) -> None:
        """End all event streams, because the server stops."""
        for queue in self.streams:
            end_stream(queue)

    async def search(self, request: Request) -> Response:
        """`GET /api/search?q=haus&limit=100`: lines with these words; with `page=5f0c` those of one page."""
        asked = parameters_of(request, "q", "limit", "page")
        limit = whole_number(asked, "limit", 100, MAX_HITS)
        query = asked.get("q", "")[:MAX_TEXT_LENGTH]
        return packed(
            request, await self.searching.run(request, search, self.workspace, query, limit, asked.get("page"))
        )

    async def judge_hit(self, request: Request) -> Response:
        """`POST /api/search/judge`: record whether words are on a line that the index has found."""
        body = await json_of(request)
        refuse_unknown(body, "q", "page", "line", "stands")
        query, page_id, line = (text_of(body, name, MAX_TEXT_LENGTH) for name in ("q", "page", "line"))
        stands = body.get("stands")
        if query is None or page_id is None or line is None or not isinstance(stands, bool):
            raise ConfigError(
                "give the query, the line and the verdict, as "
                '{"q": "haus", "page": "…", "line": "r1l3", "stands": true}'
            )
        await self.searching.run(request, judge, self.workspace, query, page_id, line, stands=stands)
        return JSONResponse({"stands": stands})

    async def confirm(self, request: Request) -> Response:
        """`POST /api/confirm`: confirm whole pages; `lines` confirms the lines of one page that have these revisions.

        Pages that have not been read are left out, and `failed` says why others could not be changed.
        """
        body = await json_of(request)
        refuse_unknown(body, "pages", "lines", "who")
        page_ids, lines, who = body.get("pages"), body.get("lines"), who_of(body)
        if not isinstance(page_ids, list) or not (lines is None or (isinstance(lines, dict) and len(page_ids) == 1)):
            raise ConfigError('name pages, as {"pages": ["5f0c"]}, or one with its lines and their revisions')

        def work() -> dict[str, Any]:
            confirmed, failed = 0, list[str]()
            for page in [self.workspace.folder_page(str(page_id)) for page_id in page_ids]:
                try:
                    confirmed += len(self.workspace.confirm(page.id, lines, who))
                except Missing:
                    continue
                except DataError as error:
                    failed.append(self.workspace.without_private_paths(error))
            return {"confirmed": confirmed, **({"failed": failed} if failed else {})}

        return JSONResponse(await asyncio.to_thread(work))

    async def characters(self, request: Request) -> Response:
        """`GET /api/pages/{page}/characters`: characters that keyboards lack, those of the page's language first."""
        model = self.reader.recognizer.model
        return JSONResponse(await asyncio.to_thread(special_characters, self.workspace, page_id_of(request), model))

    async def export(self, request: Request) -> Response:
        """`GET /api/export?format=page&pages=ID,ID`, or `POST` a form: pages in a format; by default all."""
        return await self.export_response(request, *await self.chosen_in(request))

    async def preview(self, request: Request) -> Response:
        """`GET /api/preview?format=tei&pages=ID,ID`, or `POST` a form: what an export will hold, and its beginning."""
        page_ids, format = await self.chosen_in(request)
        shown = await self.exporting.run(request, preview, self.workspace, page_ids, format, self.reader.model)
        return JSONResponse(shown._asdict())

    async def chosen_in(self, request: Request) -> tuple[list[str], str]:
        """The ids of pages, each once, and the format that a request asks for; all pages, unless some are named."""
        asked = await form_of(request, "format", "pages")
        page_ids = asked["pages"].split(",") if asked.get("pages") else self.workspace.folder_pages
        return list(dict.fromkeys(page_ids)), asked.get("format", "page")

    async def edition(self, request: Request) -> Response:
        """`GET /api/edition`: the folder's data as an edition: title, author and so on."""
        return JSONResponse(asdict(await asyncio.to_thread(about_of, self.workspace)))

    async def put_edition(self, request: Request) -> Response:
        """`PUT /api/edition`: title, author, shelf mark, editors, license and language."""
        body = await json_of(request)
        names = list(asdict(About()))
        refuse_unknown(body, *names)
        about = About(**{name: text_of(body, name, MAX_TEXT_LENGTH) or "" for name in names})
        await asyncio.to_thread(keep_about, self.workspace, about)
        return JSONResponse(asdict(about))

    async def export_page(self, request: Request) -> Response:
        """`GET /api/pages/{page}/export?format=page`: a page in a format."""
        format = parameters_of(request, "format").get("format", "page")
        return await self.export_response(request, [page_id_of(request)], format)

    async def export_response(self, request: Request, page_ids: Sequence[str], format: str) -> Response:
        """The response with pages as a file to download."""

        def work() -> Exported:
            self.downloads.refuse_more()  # only now, as earlier exports have been made by then
            return export(self.workspace, page_ids, format, self.reader.model)

        return Download(await self.exporting.run(request, work), self.downloads)

    async def stream_events(self, request: Request, queue: asyncio.Queue[Event | None]) -> AsyncIterator[str]:
        """Server-sent events, until the client leaves or is too slow for them, or `end_stream`; clients reconnect."""
        loop = asyncio.get_running_loop()

        def put(event: Event) -> None:
            if queue.full():
                end_stream(queue)
            else:
                queue.put_nowait(event)

        def pass_on(event: Event) -> None:
            # Events come from any thread, and queues of asyncio belong to one.
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put, event)

        forget = self.workspace.listen(pass_on)
        try:
            yield ": hello\n\n"
            while not await request.is_disconnected():
                try:
                    event = await asyncio.wait_for(queue.get(), BEAT)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                name, data = event
                yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
        finally:
            forget()
            if queue in self.streams:
                self.streams.remove(queue)


def end_stream(queue: asyncio.Queue[Event | None]) -> None:
    """End the event stream of a queue."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)
