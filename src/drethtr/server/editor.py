"""The addresses of a folder that is worked in: pages, lines, pictures, jobs, events."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from drethtr import editing
from drethtr.base.errors import ConfigError
from drethtr.documents.page import Points, Review, TextLine
from drethtr.editing import changes
from drethtr.editing.changes import Changed, LineEdit
from drethtr.editing.characters import special_characters
from drethtr.editing.export import export
from drethtr.editing.jobs import Job
from drethtr.editing.learner import LEARN
from drethtr.editing.leaves import Leaf
from drethtr.editing.scans import THUMBNAIL
from drethtr.editing.search import search
from drethtr.editing.session import Session
from drethtr.editing.status import Status
from drethtr.editing.workspace import Event, Missing, Truth, Workspace
from drethtr.server.uploads import json_of, parameters_of

STATIC = Path(editing.__file__).parent / "static"
"""The page that browsers show."""

LONGEST_TEXT = 10_000
LONGEST_NAME = 80
MOST_POINTS = 1000
FARTHEST = 1_000_000
WIDEST = 10_000
MOST_HITS = 1000

BEAT = 15.0
"""Seconds between signs of life to those who wait for events."""

MOST_EVENTS = 1000
"""Events that wait for a slow client."""

FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


class Editor:
    """The handlers for one folder."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """All addresses."""
        page, line, job = "/api/pages/{page}", "/api/pages/{page}/lines/{line:path}", "/api/jobs/{job}"
        return [
            Route("/", self.index, include_in_schema=False),
            Route("/p/{page}", self.index, include_in_schema=False),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
            Route("/api/status", self.status),
            Route("/api/pages", self.pages),
            Route(page, self.page),
            Route(f"{page}/thumbnail.jpg", self.thumbnail),
            Route(f"{page}/image.jpg", self.image),
            Route(f"{page}/export", self.export_page),
            Route(f"{page}/read", self.read_page, methods=["POST"]),
            Route(f"{page}/lines", self.add_line, methods=["POST"]),
            Route(f"{line}/strip.jpg", self.strip),
            Route(f"{line}/history", self.history),
            Route(f"{line}/alternatives", self.alternatives),
            Route(f"{line}/read", self.read_line, methods=["POST"]),
            Route(f"{line}/split", self.split_line, methods=["POST"]),
            Route(f"{line}/merge", self.merge_lines, methods=["POST"]),
            Route(f"{line}/move", self.move_line, methods=["POST"]),
            Route(line, self.line),  # behind the others, as an id may hold slashes
            Route(line, self.put_line, methods=["PUT"]),
            Route(line, self.delete_line, methods=["DELETE"]),
            Route("/api/read", self.read_pages, methods=["POST"]),
            Route("/api/learn", self.learn, methods=["POST"]),
            Route("/api/jobs", self.jobs),
            Route(job, self.job),
            Route(job, self.end_job, methods=["DELETE"]),
            Route(f"{job}/adopt", self.adopt, methods=["POST"]),
            Route("/api/events", self.events),
            Route("/api/search", self.search),
            Route("/api/characters", self.characters),
            Route("/api/export", self.export),
        ]

    async def index(self, request: Request) -> Response:
        """`GET /` and `GET /p/{page}`: the page that browsers show."""
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    async def pages(self, request: Request) -> Response:
        """`GET /api/pages`: the overview."""
        return JSONResponse(await asyncio.to_thread(self.workspace.pages))

    async def status(self, request: Request) -> Response:
        """`GET /api/status`: the folder as a whole."""
        return JSONResponse(await asyncio.to_thread(self.session.status))

    async def page(self, request: Request) -> Response:
        """`GET /api/pages/{page}`: a page with its lines; a page that waits to be read is the next to be read."""
        content = await asyncio.to_thread(self.workspace.page, page_of(request))
        if content["status"] == Status.UNREAD:
            self.reader.put_first(content["id"])
        return JSONResponse(content)

    async def thumbnail(self, request: Request) -> Response:
        """`GET /api/pages/{page}/thumbnail.jpg`: the scan, small."""
        return await self.picture(request, THUMBNAIL)

    async def image(self, request: Request) -> Response:
        """`GET /api/pages/{page}/image.jpg?width=1200`: the scan, as it is or smaller."""
        width = request.query_params.get("width")
        if width is not None and not (width.isascii() and width.isdecimal() and 1 <= int(width[:6]) <= WIDEST):
            raise ConfigError(f"width must be a number of pixels from 1 to {WIDEST:,}, not {width[:60]!r}")
        return await self.picture(request, None if width is None else int(width))

    async def picture(self, request: Request, width: int | None) -> Response:
        """A scan as JPEG, unless the browser has it."""
        leaf = self.workspace.leaf(page_of(request))
        mark = await asyncio.to_thread(self.workspace.scans.mark, leaf)
        headers = {"ETag": f'"{mark}"', "Cache-Control": "private, no-cache"}
        if mark in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        content = await asyncio.to_thread(self.workspace.scans.page, leaf, width)
        return Response(content, media_type="image/jpeg", headers=headers)

    async def line(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}`: a line."""
        return of_line(await asyncio.to_thread(self.workspace.line, page_of(request), line_of(request)))

    async def put_line(self, request: Request) -> Response:
        """`PUT /api/pages/{page}/lines/{line}`: change the text, the status or the place of a line."""
        revision, body = revision_of(request), await json_of(request)
        refuse_unknown(body, "text", "status", "baseline", "polygon", "who")
        edit = LineEdit(
            text_of(body, "text", LONGEST_TEXT),
            review_of(body),
            points_of(body, "baseline", 2),
            points_of(body, "polygon", 3),
        )
        who = text_of(body, "who", LONGEST_NAME) or ""
        line = await asyncio.to_thread(
            self.workspace.edit_line, page_of(request), line_of(request), revision, edit, who
        )
        return of_line(line)

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
        return of_line(await asyncio.to_thread(self.reader.read_again, page_of(request), line_of(request), revision))

    # Lines as such.

    async def add_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines`: a new line, which is read at once."""
        body = await json_of(request)
        refuse_unknown(body, "baseline", "polygon", "after", "who")
        baseline, polygon = points_of(body, "baseline", 2), points_of(body, "polygon", 3)
        if baseline is None and polygon is None:
            raise ConfigError("a new line needs a baseline, as [[12, 40], [380, 42]]")
        after = text_of(body, "after", LONGEST_NAME)

        def work(leaf: Leaf, truth: Truth) -> Changed:
            drawn = TextLine("", polygon, baseline)
            if polygon is None:
                drawn = replace(drawn, polygon=self.workspace.outline_of(leaf)(drawn, truth.file))
            return changes.add_line(truth.file, drawn, after, leaf.id, placed=after is not None)

        return await self.changed(request, work, {}, body)

    async def delete_line(self, request: Request) -> Response:
        """`DELETE /api/pages/{page}/lines/{line}`: remove a line."""
        line, revision = line_of(request), revision_of(request)
        return await self.changed(
            request, lambda leaf, truth: changes.delete_line(truth.file, line, leaf.id), {line: revision}, {}
        )

    async def split_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/split`: cut a line in two at a point of the scan."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "x", "y", "offset", "who")
        if not is_point([body.get("x"), body.get("y")]):
            raise ConfigError('a line is split at a point, as {"x": 812, "y": 640}')
        point, offset = (round(body["x"]), round(body["y"])), body.get("offset")
        if offset is not None and not (isinstance(offset, int) and 0 <= offset <= LONGEST_TEXT):
            raise ConfigError("offset must be a number of characters of the text")

        def work(leaf: Leaf, truth: Truth) -> Changed:
            return changes.split_line(truth.file, line, point, offset, leaf.id, made_here=truth.made_here)

        return await self.changed(request, work, {line: revision}, body)

    async def merge_lines(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/merge`: join two pieces of a line."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "with", "revision", "who")
        other, its_revision = text_of(body, "with", LONGEST_TEXT), text_of(body, "revision", LONGEST_NAME)
        if other is None or its_revision is None:
            raise ConfigError('name the other line and its revision, as {"with": "r1l3", "revision": "…"}')

        def work(leaf: Leaf, truth: Truth) -> Changed:
            outline = self.workspace.outline_of(leaf)
            return changes.merge_lines(truth.file, line, other, leaf.id, made_here=truth.made_here, outline=outline)

        return await self.changed(request, work, {line: revision, other: its_revision}, body)

    async def move_line(self, request: Request) -> Response:
        """`POST /api/pages/{page}/lines/{line}/move`: put a line behind another one, or first."""
        line, revision, body = line_of(request), revision_of(request), await json_of(request)
        refuse_unknown(body, "after", "who")
        after = text_of(body, "after", LONGEST_TEXT)
        return await self.changed(
            request, lambda leaf, truth: changes.move_line(truth.file, line, after, leaf.id), {line: revision}, body
        )

    async def changed(
        self,
        request: Request,
        work: Callable[[Leaf, Truth], Changed],
        revisions: Mapping[str, str],
        body: Mapping[str, Any],
    ) -> Response:
        """The page after a change of its lines; those without text are read at once."""
        page, who = page_of(request), text_of(body, "who", LONGEST_NAME) or ""
        done = await asyncio.to_thread(self.workspace.change, page, work, revisions, who)
        self.reader.read_soon(page, done.lines)
        content = await asyncio.to_thread(self.workspace.page, page)
        return JSONResponse({**content, "changed": list(done.lines)})

    # Jobs.

    async def read_page(self, request: Request) -> Response:
        """`POST /api/pages/{page}/read`: read again the lines of a page that no person has touched."""
        leaf = self.workspace.leaf(page_of(request))
        job = await asyncio.to_thread(self.reader.read_pages, [leaf.id], again=True)
        return JSONResponse(job.to_json(), 202)

    async def read_pages(self, request: Request) -> Response:
        """`POST /api/read`: read pages; all on which nothing has been read, unless some are named."""
        body = await json_of(request)
        refuse_unknown(body, "pages")
        pages = body.get("pages")
        if pages is not None:
            if not isinstance(pages, list):
                raise ConfigError('pages must be a list of ids, as {"pages": ["5f0c"]}')
            pages = [self.workspace.leaf(str(page)).id for page in pages]
        job = await asyncio.to_thread(self.reader.read_pages, pages, again=pages is not None)
        return JSONResponse(job.to_json(), 202)

    async def learn(self, request: Request) -> Response:
        """`POST /api/learn`: learn from confirmed lines."""
        body = await json_of(request)
        refuse_unknown(body, "adapter")
        if not isinstance(body.get("adapter", False), bool):
            raise ConfigError("adapter must be true or false")
        if (job := self.session.jobs.running(LEARN)) is not None:
            return JSONResponse({"error": "this folder is already being learned from", "job": job.to_json()}, 409)
        job = await asyncio.to_thread(self.session.learner.learn, adapter=body.get("adapter", False))
        return JSONResponse(job.to_json(), 202)

    async def jobs(self, request: Request) -> Response:
        """`GET /api/jobs`: all jobs, newest first."""
        return JSONResponse([job.to_json() for job in self.session.jobs.newest_first()])

    async def job(self, request: Request) -> Response:
        """`GET /api/jobs/{job}`: a job."""
        return JSONResponse(self.job_of(request).to_json())

    async def end_job(self, request: Request) -> Response:
        """`DELETE /api/jobs/{job}`: cancel a job; one that has learned is discarded."""
        job = self.job_of(request)
        job.cancelled.set()
        await asyncio.to_thread(self.session.learner.discard, job)
        return JSONResponse(job.to_json())

    async def adopt(self, request: Request) -> Response:
        """`POST /api/jobs/{job}/adopt`: read with what was learned from now on."""
        job = self.job_of(request)
        await asyncio.to_thread(self.session.learner.adopt, job)
        return JSONResponse(job.to_json())

    def job_of(self, request: Request) -> Job:
        """The job in an address.

        Raises:
            Missing: if there is none.
        """
        job = self.session.jobs.all.get(str(request.path_params["job"]))
        if job is None:
            raise Missing("there is no such job; the server may have been started again meanwhile")
        return job

    async def events(self, request: Request) -> Response:
        """`GET /api/events`: what happens in the folder, as server-sent events."""
        return StreamingResponse(
            events_of(self.workspace, request), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    # The folder as a whole.

    async def search(self, request: Request) -> Response:
        """`GET /api/search?q=haus&limit=100`: lines with these words."""
        asked = parameters_of(request, "q", "limit")
        limit = asked.get("limit", "100")
        if not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:6]) <= MOST_HITS):
            raise ConfigError(f"limit must be a number from 1 to {MOST_HITS:,}, not {limit[:60]!r}")
        query = asked.get("q", "")[:LONGEST_TEXT]
        return JSONResponse(await asyncio.to_thread(search, self.workspace, query, int(limit)))

    async def characters(self, request: Request) -> Response:
        """`GET /api/characters`: characters that keyboards lack."""
        model = self.reader.recognizer.model
        return JSONResponse(await asyncio.to_thread(special_characters, self.workspace, model))

    async def export_page(self, request: Request) -> Response:
        """`GET /api/pages/{page}/export?format=page`: a page in a format."""
        return await self.exported([page_of(request)], parameters_of(request, "format").get("format", "page"))

    async def export(self, request: Request) -> Response:
        """`GET /api/export?format=page&pages=ID,ID`: pages in a format; all, unless some are named."""
        asked = parameters_of(request, "format", "pages")
        pages = asked["pages"].split(",") if asked.get("pages") else list(self.workspace.leaves)
        return await self.exported(pages, asked.get("format", "page"))

    async def exported(self, pages: Sequence[str], format: str) -> Response:
        """Pages as a file to be saved."""
        file = await asyncio.to_thread(export, self.workspace, pages, format, self.reader.model)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
        return Response(file.content, media_type=file.media, headers=headers)


async def events_of(workspace: Workspace, request: Request) -> AsyncIterator[str]:
    """Events as lines of text, until the client leaves; those that it is too slow for are dropped."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Event](MOST_EVENTS)

    def put(event: Event) -> None:
        if not queue.full():
            queue.put_nowait(event)

    def pass_on(event: Event) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(put, event)

    forget = workspace.listen(pass_on)
    try:
        yield ": hello\n\n"
        while not await request.is_disconnected():
            try:
                name, data = await asyncio.wait_for(queue.get(), BEAT)
            except TimeoutError:
                yield ": still here\n\n"
            else:
                yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
    finally:
        forget()


def page_of(request: Request) -> str:
    """The page in an address."""
    return str(request.path_params["page"])


def line_of(request: Request) -> str:
    """The line in an address."""
    return str(request.path_params["line"])


def of_line(line: dict[str, Any]) -> Response:
    """A line with its revision as a header."""
    return JSONResponse(line, headers={"ETag": f'"{line["revision"]}"'})


def revision_of(request: Request) -> str:
    """The revision in the header If-Match.

    Raises:
        HTTPException: if there is none.
    """
    given = request.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
    if not given:
        raise HTTPException(428, 'send the revision that you changed, as the header If-Match: "REVISION"')
    return given


def refuse_unknown(body: Mapping[str, Any], *known: str) -> None:
    """Refuse values that have no meaning.

    Raises:
        ConfigError: naming the first.
    """
    if unknown := [name for name in body if name not in known]:
        raise ConfigError(f"unknown value {unknown[0][:60]!r}; known: {', '.join(known)}")


def text_of(body: Mapping[str, Any], name: str, longest: int) -> str | None:
    """A text of a request; None if it is missing.

    Raises:
        ConfigError: if it is no text, or too long.
    """
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise ConfigError(f"{name} must be a text")
    if len(text) > longest:
        raise ConfigError(f"{name} has {len(text):,} characters; at most {longest:,} are taken")
    return text


def review_of(body: Mapping[str, Any]) -> Review | None:
    """The status in a request; None if it is missing.

    Raises:
        ConfigError: if it is none that a person can give.
    """
    status = body.get("status")
    if status is None:
        return None
    if status not in list(Review):
        raise ConfigError(f"status must be {' or '.join(Review)}, not {str(status)[:60]!r}")
    return Review(status)


def points_of(body: Mapping[str, Any], name: str, least: int) -> Points | None:
    """Points of a request; None if they are missing.

    Raises:
        ConfigError: if they are no points, or too few or too many.
    """
    points = body.get(name)
    if points is None:
        return None
    if not isinstance(points, list) or not least <= len(points) <= MOST_POINTS or not all(map(is_point, points)):
        raise ConfigError(f"{name} must be {least} to {MOST_POINTS:,} points, as [[12, 40], [380, 42]]")
    return tuple((round(x), round(y)) for x, y in points)


def is_point(value: object) -> bool:
    """Whether a value of a request is a point of a page."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_coordinate, value))


def is_coordinate(value: object) -> bool:
    """Whether a value of a request is a coordinate."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= FARTHEST
