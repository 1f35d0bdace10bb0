"""Notices what other programs do in the folder: files that they write, scans that they add or take away."""

from threading import Event, Thread

from drethtr.base.errors import DataError
from drethtr.editing.folder_pages import find_pages
from drethtr.editing.reader import Reader
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace

SECONDS = 2.0
"""How often files are looked at."""

ROUNDS = 8
"""After so many looks at the known files, the folder is searched for new ones."""


class Watcher:
    """A thread that looks at the folder now and then."""

    def __init__(self, workspace: Workspace, reader: Reader) -> None:
        self.workspace = workspace
        self.reader = reader
        self.ended = Event()
        self.thread = Thread(target=self.run, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to look: what is changed from now on is noticed."""
        self.workspace.notice_changes()
        self.thread.start()

    def close(self) -> None:
        """End."""
        self.ended.set()
        self.thread.join()

    def run(self) -> None:
        """Look until the end."""
        rounds = 0
        while not self.ended.wait(SECONDS):
            rounds += 1
            self.workspace.notice_changes()
            if rounds % ROUNDS == 0:
                self.search()

    def search(self) -> None:
        """Take in new pages, and read them; forget those whose scans are gone."""
        try:
            found = find_pages(self.workspace.folder)
        except DataError:
            return  # a disk that comes back, or an error that the next request tells
        known = dict(self.workspace.folder_pages)
        now = {page.id: page for page in found}
        if now == known:
            return
        self.workspace.folder_pages = now
        self.workspace.tell("pages")
        new = {page.id for page in found if page.id not in known and page.source is not None}
        unread = [
            page.id
            for page, summary in self.workspace.summarized()
            if page.id in new and not isinstance(summary, DataError) and summary.status is Status.UNREAD
        ]
        if unread:
            self.reader.read_pages(unread)
