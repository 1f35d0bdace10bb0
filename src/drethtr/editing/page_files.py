"""The PAGE and ALTO files of a folder: read for every request, and written only here.

A change is applied to the content that the file has when it is replaced, whoever wrote it. Success is reported once the
new content is on the disk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.files import NotFlushedError, file_mark, mark_of
from drethtr.base.locks import change_bytes
from drethtr.base.recent import RecentResults
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page, TextLine
from drethtr.documents.page_file import PageFile, revision_of
from drethtr.documents.read import first_bytes
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.scans import Scans
from drethtr.editing.status import Status, status_of
from drethtr.layout.orientation import orientation_of

MAX_KEPT, SMALL = 16 << 20, 1 << 20
"""Maximum bytes of files that are kept parsed, which takes up to a hundred times as much; small files count as `SMALL`.

So at most sixteen pages are kept: the one on screen, its neighbors, and those of background work.
"""


class Missing(DrethtrError):
    """There is no such page or line."""


class Stale(DrethtrError):
    """A line or page has changed since somebody began to edit it.

    kind  "line" or "page"
    now   the line as it is now; None if it is gone, or for a page
    """

    def __init__(self, reason: str, now: "OpenLine | None" = None, kind: str = "line") -> None:
        super().__init__(reason)
        self.now = now
        self.kind = kind


@dataclass(frozen=True)
class OpenPage:
    """A page with the present content of its PAGE or ALTO file."""

    page: FolderPage
    file: PageFile

    @property
    def lines(self) -> tuple["OpenLine", ...]:
        """Its lines in order."""
        return tuple(OpenLine(self, line, region.id) for region in self.file.page.regions for line in region.lines)

    @cached_property
    def scan_mark(self) -> str:
        """A hash that changes with the file of the scan; part of the addresses of line pictures."""
        return revision_of(file_mark(self.page.source.path).encode()) if self.page.source is not None else ""

    def status(self, line: TextLine) -> Status:
        """The state of a line."""
        return status_of(line, self.file)

    def line(self, id: str) -> "OpenLine":
        """A line.

        Raises:
            Missing: if there is none.
        """
        for line in self.lines:
            if line.id == id:
                return line
        raise Missing(f"page {self.page.name} has no line {id!r}; it may have been removed")

    def check_revision(self, id: str, revision: str) -> None:
        """Check that a line still has a revision.

        Raises:
            Stale: with the line as it is now.
        """
        if id not in self.file.lines:
            raise Stale("this line was removed in the meantime; your change was not saved")
        if self.file.revision_of(id) != revision:
            reason = "this line was changed in the meantime, in another window or by another program"
            raise Stale(reason, self.line(id))


class OpenLine(NamedTuple):
    """A line of an open page, with the id of its region."""

    opened: OpenPage
    content: TextLine
    region_id: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.content.id

    @property
    def text(self) -> str:
        """Its text."""
        return self.content.text

    @property
    def status(self) -> Status:
        """Its state."""
        return self.opened.status(self.content)

    @property
    def revision(self) -> str:
        """A digest of its element in the file."""
        return self.opened.file.revision_of(self.id)


class PageFiles:
    """Opens and writes the PAGE and ALTO files of a folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, scans: Scans) -> None:
        self.folder = folder
        self.scans = scans
        self.files = RecentResults[PageFile](MAX_KEPT, lambda file: max(len(file.data), SMALL))
        self.error: str | None = None  # why the last file, although written, might be lost in a power failure

    def open(self, page: FolderPage) -> OpenPage | None:
        """The file of a page as it is now; None if it has none.

        Raises:
            DataError: if it is damaged, or does not fit the scan.
        """
        try:
            data = first_bytes(page.xml_path, MAX_BYTES + 1) if page.xml_path.exists() else None
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", page.xml_path) from error
        return self.parse(page, data)

    def check_folder(self) -> None:
        """Check that the folder is there.

        Raises:
            DataError: if it is not.
        """
        if not self.folder.is_dir():
            cure = "put it back, or start drethtr edit where it is now"
            raise DataError(f"the folder was moved, renamed or deleted; {cure}", self.folder)

    def parse(self, page: FolderPage, data: bytes | None) -> OpenPage | None:
        """The file of a page with this content; None if it has none.

        Raises:
            DataError: if it is damaged, or does not fit the scan, or the whole folder is gone.
        """
        if data is None:
            self.check_folder()
            return None
        source, name = page.source, str(page.xml_path.relative_to(self.folder))
        image = None if source is None else (source.path, *self.scans.size(source))

        def turned(described: Page) -> int:
            return 1 if source is None else orientation_of(described, source, lambda: self.scans.gray(source))

        file = self.files.get((page.id, data, image), lambda: PageFile.parse(data, name, image, turned))
        return self.known(page, file)

    def known(self, page: FolderPage, file: PageFile) -> OpenPage:
        """The open page of a file that was parsed, such as one just changed; it is then not parsed again."""
        self.files.get((page.id, file.data, file.image), lambda: file)
        return OpenPage(page, file)

    def open_existing(self, page: FolderPage) -> OpenPage:
        """The file of a page that has one.

        Raises:
            Missing: if it has none.
            DataError: if it is damaged.
        """
        opened = self.open(page)
        if opened is None:
            raise no_lines()
        return opened

    def change(self, page: FolderPage, work: Callable[[OpenPage | None], bytes]) -> str | None:
        """Write the file of a page. On return it is on the disk, or `error` says that it might not be.

        Returns the mark of the file that was written; None if that is unknown, as another program may write it.

        Args:
            work: Receives the file as it is now, None if there is none, and returns the new content; the same changes
                nothing. It is called again if another program writes the file at the same moment.

        Raises:
            DataError: if it cannot be written; then nothing was changed.
        """
        try:
            written = change_bytes(page.xml_path, lambda data: work(self.parse(page, data)), MAX_BYTES)
        except NotFlushedError as error:
            self.error = f"{page.name} {error.reason}"
            return None
        self.error = None
        return None if written is None else mark_of(written)


def no_lines() -> Missing:
    """The error for a page without a file."""
    return Missing("this page has not been read, and has no lines yet")
