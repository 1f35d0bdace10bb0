"""The index of the folder: built in the background, and kept up to date with scans and corrections."""

from contextlib import suppress
from math import inf
from time import monotonic

from drethtr.base.errors import DrethtrError
from drethtr.editing.jobs import Job, Jobs, State
from drethtr.editing.reader import Reader
from drethtr.editing.workspace import Event, Workspace

INDEX = "index"
"""The kind of indexing jobs."""

MAKING = "making {} searchable"
"""The message while a page is read for the index."""

RETRY = 600.0
"""Seconds after a failure until the index is updated again, unless a page changes before; never varied."""


class Indexer:
    """Builds the index of a folder, and updates it after changes."""

    def __init__(self, workspace: Workspace, jobs: Jobs, reader: Reader) -> None:
        self.workspace = workspace
        self.jobs = jobs
        self.reader = reader
        self.due = inf  # when to update the index; infinite while it is up to date
        workspace.listen(self.notice)

    def notice(self, event: Event) -> None:
        """Remember that a page has changed."""
        if event[0] in ("page", "pages"):
            self.due = monotonic()

    def start(self) -> Job:
        """Start building or updating the index, or return the job that is doing so."""
        job = self.jobs.running(INDEX)
        if job is None:
            job = self.jobs.new(INDEX, len(self.workspace.folder_pages))
            started = job
            self.reader.executor.submit_background(lambda: self.run(started))
        return job

    def update(self) -> None:
        """Update an index after changes, once nobody waits for pages to be read."""
        is_idle = all(job.state.ended for job in self.jobs.newest_first())
        if monotonic() >= self.due and is_idle and self.reader.index.path is not None:
            self.start()

    def run(self, job: Job) -> None:
        """Read pages that are new to the index or have changed, until all are or the job is cancelled."""
        self.due = inf  # reset first, as pages may change meanwhile
        try:
            with self.jobs.in_progress(job, cancelled="{} of {} pages are searchable"):
                self.jobs.update(job, message="looking for pages that are not searchable")
                self.build(job)
        finally:
            if job.state is State.FAILED:
                self.due = min(self.due, monotonic() + RETRY)
            self.workspace.notify("status")

    def build(self, job: Job) -> None:
        """Read pages into the index.

        Unread pages are read as the reader does it, so that they also get their files with texts.
        """
        job.check()  # before there is an index
        index, pages, failed = self.reader.index, tuple(self.workspace.folder_pages.values()), 0
        recognizer = index.with_posteriors(self.reader.recognizer)
        index.open(recognizer).store.close()  # from now on, the reader adds what it reads
        for unread in list(self.reader.unread()):
            job.check()
            with suppress(DrethtrError):  # below, it counts as failed
                page = self.workspace.folder_page(unread)
                self.jobs.update(job, message=MAKING.format(page.name))
                self.reader.read_page(page, job)
            self.jobs.update(job, done=job.done + 1)
        new = job.done
        read = self.reader.executor.in_turns(recognizer.read_lines, job.check)
        with index.open(recognizer) as builder:
            for number, page in enumerate(pages):
                job.check()
                try:
                    for original in builder.waiting(index.original_of(page)):
                        self.jobs.update(job, message=MAKING.format(page.name))
                        builder.read(original, read)
                except DrethtrError as error:
                    if str(error.source) == builder.store.name:
                        raise  # no page can be added, for example while another process writes
                    failed += 1  # the overview says why the page cannot be read
                self.jobs.update(job, done=max(new, number + 1))
            builder.remove_deleted()
        message = f"{job.total - failed} of {job.total} pages can be searched for words that were misread"
        self.jobs.update(job, message=message)
