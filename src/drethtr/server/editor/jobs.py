"""HTTP handlers for jobs (reading, learning, indexing)."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drethtr.base.errors import ConfigError
from drethtr.editing.jobs import Job
from drethtr.editing.page_files import Missing
from drethtr.editing.session import Session
from drethtr.server.editor.values import refuse_unknown
from drethtr.server.uploads import json_of


class JobHandlers:
    """The handlers for jobs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.workspace = session.workspace
        self.reader = session.reader

    def routes(self) -> list[BaseRoute]:
        """Their routes."""
        job = "/api/jobs/{job}"
        return [
            Route("/api/read", self.read_pages, methods=["POST"]),
            Route("/api/learn", self.learn, methods=["POST"]),
            Route("/api/index", self.index, methods=["POST"]),
            Route("/api/jobs", self.jobs),
            Route(job, self.job),
            Route(job, self.end_job, methods=["DELETE"]),
            Route(f"{job}/adopt", self.adopt, methods=["POST"]),
        ]

    async def read_pages(self, request: Request) -> Response:
        """`POST /api/read`: read pages; all on which nothing has been read, unless some are named."""
        body = await json_of(request)
        refuse_unknown(body, "pages")
        page_ids = body.get("pages")
        if page_ids is not None:
            if not isinstance(page_ids, list):
                raise ConfigError('pages must be a list of ids, as {"pages": ["5f0c"]}')
            page_ids = [self.workspace.folder_page(str(page_id)).id for page_id in page_ids]
        job = await asyncio.to_thread(self.reader.read_pages, page_ids, again=page_ids is not None)
        return JSONResponse(job.to_json(), 202)

    async def learn(self, request: Request) -> Response:
        """`POST /api/learn`: learn from confirmed lines."""
        body = await json_of(request)
        refuse_unknown(body, "adapter")
        if not isinstance(body.get("adapter", False), bool):
            raise ConfigError("adapter must be true or false")
        job = await asyncio.to_thread(self.session.learner.learn, adapter=body.get("adapter", False))
        return JSONResponse(job.to_json(), 202)

    async def index(self, request: Request) -> Response:
        """`POST /api/index`: build an index of the folder for searching, and keep it up to date."""
        return JSONResponse((await asyncio.to_thread(self.session.indexer.start)).to_json(), 202)

    async def jobs(self, request: Request) -> Response:
        """`GET /api/jobs`: all jobs, newest first."""
        return JSONResponse([job.to_json() for job in self.session.jobs.newest_first()])

    async def job(self, request: Request) -> Response:
        """`GET /api/jobs/{job}`: a job."""
        return JSONResponse(self.job_of(request).to_json())

    async def end_job(self, request: Request) -> Response:
        """`DELETE /api/jobs/{job}`: cancel a job; one that has learned is discarded."""
        job = self.job_of(request)
        self.session.jobs.cancel(job)
        await asyncio.to_thread(self.session.learner.discard, job)
        return JSONResponse(job.to_json())

    async def adopt(self, request: Request) -> Response:
        """`POST /api/jobs/{job}/adopt`: read with what was learned from now on."""
        job = self.job_of(request)
        await asyncio.to_thread(self.session.learner.adopt, job)
        return JSONResponse(job.to_json())

    def job_of(self, request: Request) -> Job:
        """The job in the path.

        Raises:
            Missing: if there is none.
        """
        job = self.session.jobs.all.get(str(request.path_params["job"]))
        if job is None:
            raise Missing("there is no such job; the server may have been restarted")
        return job
