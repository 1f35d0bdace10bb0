"""Watches the folder for changes by other programs: files written, scans added or removed."""

from threading import Event, Thread

from drethtr.base.errors import DataError
from drethtr.editing.folder_pages import find_pages
from drethtr.editing.reader import Reader
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace

SECONDS = 2.0
"""Seconds between checks of the known files."""

ROUNDS = 8
"""The folder is searched for new files once in so many checks."""


class Watcher:
    """A thread that checks the folder regularly."""

    def __init__(self, workspace: Workspace, reader: Reader) -> None:
        self.workspace = workspace
        self.reader = reader
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
        rounds = 0
        while not self.ended.wait(SECONDS):
            rounds += 1
            self.workspace.notice_changes()
            if rounds % ROUNDS == 0:
                self.update_pages()

    def update_pages(self) -> None:
        """Add and read new pages; remove those whose scans are gone."""
        try:
            found = find_pages(self.workspace.folder)
        except DataError:
            return  # a disk that comes back, or an error that the next request reports
        known = dict(self.workspace.folder_pages)
        now = {page.id: page for page in found}
        if now == known:
            return
        self.workspace.folder_pages = now
        self.workspace.notify("pages")
        new = {page.id for page in found if page.id not in known and page.source is not None}
        unread = [
            page.id
            for page, summary in self.workspace.page_summaries()
            if page.id in new and not isinstance(summary, DataError) and summary.status is Status.UNREAD
        ]
        if unread:
            self.reader.read_pages(unread)
