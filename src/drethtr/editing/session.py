"""An editing session: an open folder with its reader, its learner, and a watcher of changes by other programs."""

from collections.abc import Callable
from hashlib import blake2b
from os import fsencode
from pathlib import Path
from threading import Event, Thread
from time import monotonic, thread_time
from types import TracebackType
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.documents.formats import FORMATS
from drethtr.editing.alternatives import Alternatives
from drethtr.editing.index import FolderIndex
from drethtr.editing.indexer import Indexer
from drethtr.editing.jobs import Jobs
from drethtr.editing.learner import MIN_CONFIRMED, Learner
from drethtr.editing.overview import Summary
from drethtr.editing.reader import Reader
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.pages.segmentation import Segmentation
from drethtr.recognition.recognizer import Recognizer

AFRESH = 0.3
"""Expected word error rate from which typing a line is quicker than correcting it.

Source: Gaur, Lasecki, Metze and Bigham, 2016.
"""


class Session:
    """An open folder that is read, watched and learned from.

    Args:
        recognizer: Reads until a learned model is adopted.
        segmentation: How to get the lines of a page.
        model: The file of the recognizer; by default the shipped one.
        load: Loads a learned model, with the options of the recognizer.
        device: Where to train, as for `Recognizer.load`.
    """

    def __init__(
        self,
        workspace: Workspace,
        recognizer: Recognizer,
        segmentation: Segmentation,
        model: Path | None = None,
        load: Callable[[Path], Recognizer] = Recognizer.load,
        device: str = "auto",
    ) -> None:
        self.workspace = workspace
        self.jobs = Jobs(workspace)
        self.index = FolderIndex(workspace, segmentation)
        self.reader = Reader(workspace, self.jobs, recognizer, self.index)
        self.alternatives = Alternatives(self.reader)
        self.learner = Learner(workspace, self.jobs, self.reader, load, model, device)
        self.indexer = Indexer(workspace, self.jobs, self.reader)
        self.watcher = Watcher(workspace, self.reader, self.indexer)

    def __enter__(self) -> Self:
        self.watcher.start()
        return self

    def begin(self) -> None:
        """Count the pages in the background, then read those that nobody has read."""
        self.workspace.overview.waiting = True
        Thread(target=self.count, name="counter", daemon=True).start()

    def count(self) -> None:
        """Summarize all pages; meanwhile the overview shows those done so far."""
        shown = monotonic()
        try:
            for _ in self.workspace.page_summaries():
                if self.watcher.ended.is_set():
                    return
                if monotonic() > shown + SECONDS:
                    self.workspace.notify("pages")
                    shown = monotonic()
        finally:
            self.workspace.overview.waiting = False
        self.workspace.notify("pages")
        self.workspace.notify("status")
        self.reader.read_pages()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.watcher.close()  # first, as it starts readings
        self.reader.close()
        self.learner.close()

    def status(self) -> dict[str, Any]:
        """The status of the folder as JSON values: model, counts of pages and lines, jobs."""
        folder_pages = tuple(self.workspace.folder_pages.values())
        pages = [summary for _, summary in self.workspace.overview.at_hand(folder_pages)]
        readable = [summary for summary in pages if isinstance(summary, Summary)]
        confirmed = sum(summary.learnable for summary in readable)
        why = self.learner.why_not_learnable(confirmed)
        return {
            "folder": self.workspace.folder.name,
            "workspace": blake2b(fsencode(self.workspace.folder.resolve()), digest_size=8).hexdigest(),
            "version": __version__,
            "model": self.reader.model,
            "model_file": self.learner.adopted,
            "afresh": AFRESH,
            "pages": len(pages),
            "uncounted": pages.count(None),
            "again": len(self.reader.left_to_read_again()),
            "lines": {status: sum(summary.counts[status] for summary in readable) for status in Status},
            "learn": {"confirmed": confirmed, "needed": MIN_CONFIRMED, "possible": why is None, "why": why},
            "history_error": self.workspace.journal.error,
            "disk_error": self.workspace.page_files.error,
            "formats": list(FORMATS),
            "index": self.index.path is not None,
            "jobs": [job.to_json() for job in self.jobs.newest_first()],
        }


SECONDS = 2.0
"""Seconds between checks of the recently viewed files."""

SHARE = 1000
"""All known files are checked so seldom that it takes at most one part in this many of a processor."""

SEARCHES = 10
"""While files come and go, new pages are searched for so seldom that it takes at most one part in this many."""


class Watcher:
    """A thread that checks the folder regularly."""

    def __init__(self, workspace: Workspace, reader: Reader, indexer: Indexer) -> None:
        self.workspace = workspace
        self.reader = reader
        self.indexer = indexer
        self.ended = Event()
        self.thread = Thread(target=self.run, name="watcher", daemon=True)

    def start(self) -> None:
        """Start watching; changes from now on are noticed."""
        self.workspace.notice_changes()
        self.thread.start()

    def close(self) -> None:
        """Stop watching."""
        self.ended.set()
        self.thread.join()

    def run(self) -> None:
        """Check the folder until `close`."""
        due = search_due = 0.0
        stale = False  # whether pages may have come or gone since they were last searched for
        while not self.ended.wait(SECONDS):
            self.workspace.notice_changes(self.workspace.viewed)
            if monotonic() < due:
                continue
            began = thread_time()  # processor time, as waiting for a network costs nothing
            stale |= self.look()
            due = monotonic() + SHARE * (thread_time() - began)
            self.indexer.update()
            self.reader.read_changed()
            if stale and monotonic() >= search_due:
                began = thread_time()
                self.update_pages()
                stale = False
                search_due = monotonic() + SEARCHES * (thread_time() - began)

    def look(self) -> bool:
        """Notice files that other programs have written, and say whether pages may have come or gone."""
        return self.workspace.notice_changes() or not self.workspace.listing.is_current()

    def update_pages(self) -> None:
        """Add and read new pages; remove those whose scans are gone."""
        try:
            now = self.workspace.pages_now()
        except (DataError, OSError):
            return  # the disk may come back; otherwise the next request reports the error
        known = dict(self.workspace.folder_pages)
        if now == known:
            return
        self.workspace.folder_pages = now
        self.workspace.notify("pages")
        usable = {page.id for page in known.values() if page.source is not None}
        new = {page.id for page in now.values() if page.source is not None} - usable
        unread = [
            page.id
            for page, summary in self.workspace.page_summaries()
            if page.id in new and not isinstance(summary, DataError) and summary.status is Status.UNREAD
        ]
        if unread:
            self.reader.read_pages(unread)
