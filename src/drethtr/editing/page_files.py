"""The PAGE and ALTO files of a folder: read for every request, and written only here.

A file is written only if it has not changed since the edit began; success is reported once it is on the disk.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.files import atomic_write
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.read import MADE_HERE, first_bytes
from drethtr.editing.content import line_content
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.recent import RecentResults
from drethtr.editing.scans import Scans
from drethtr.editing.status import Status, status_of

FILES_KEPT = 16
"""Parsed files that are kept, as long as their bytes stay the same."""


class Missing(DrethtrError):
    """There is no such page or line."""


class Stale(DrethtrError):
    """A line or page is no longer as it was when somebody began to change it.

    kind  "line" or "page"
    now   the line or page as it is now; None if it is gone
    """

    def __init__(self, reason: str, now: dict[str, Any] | None, kind: str = "line") -> None:
        super().__init__(reason)
        self.now = now
        self.kind = kind


@dataclass(frozen=True)
class OpenPage:
    """The PAGE or ALTO file of a page, as it is now; `made_here` if drethtr created it, not only edited it."""

    file: PageFile
    made_here: bool

    def status(self, line: TextLine) -> Status:
        """The state of a line."""
        return status_of(line, made_here=self.made_here)


class PageFiles:
    """Opens and writes the PAGE and ALTO files of a folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, scans: Scans) -> None:
        self.folder = folder
        self.scans = scans
        self.files = RecentResults(FILES_KEPT)

    def open(self, page: FolderPage) -> OpenPage | None:
        """The file of a page as it is now; None if it has none.

        Raises:
            DataError: if it is damaged, or does not fit the scan.
        """
        try:
            data = first_bytes(page.xml_path, MAX_BYTES + 1) if page.xml_path.exists() else None
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", page.xml_path) from error
        if data is None or (page.source is not None and page.xml_path == page.source.path):
            return None
        image = None if page.source is None else (page.source.path, *self.scans.size(page.source))
        name = str(page.xml_path.relative_to(self.folder))
        file = self.files.get((page.id, data, image), lambda: PageFile.parse(data, name, image))
        return OpenPage(file, MADE_HERE.search(data[:4096]) is not None)

    def open_existing(self, page: FolderPage) -> OpenPage:
        """The file of a page that has one.

        Raises:
            Missing: if it has none.
            DataError: if it is damaged.
        """
        opened = self.open(page)
        if opened is None:
            raise Missing("this page has not been read, and has no lines yet")
        return opened

    def current_line(self, page: FolderPage, opened: OpenPage, line: str) -> dict[str, Any] | None:
        """A line as it is now; None if it is gone."""
        for region in opened.file.page.regions:
            for one in region.lines:
                if one.id == line:
                    return line_content(page, opened.file, one, region.id, made_here=opened.made_here)
        return None

    def check_revision(self, page: FolderPage, opened: OpenPage, line: str, revision: str) -> None:
        """Check that a line is still of a revision.

        Raises:
            Stale: with the line as it is now.
        """
        now = self.current_line(page, opened, line)
        if now is None:
            raise Stale("this line was removed in the meantime; your text was not saved", None)
        if now["revision"] != revision:
            raise Stale("this line was changed in the meantime, in another window or by another program", now)

    def write(self, page: FolderPage, before: bytes | None, after: bytes) -> None:
        """Write the file of a page, which must still have the bytes `before`, or not exist; it is on the disk then.

        Raises:
            DataError: if it cannot be written, or was changed this very moment.
        """
        try:
            now = page.xml_path.read_bytes() if page.xml_path.exists() else None
            if now != before:
                raise DataError("was changed by another program at the same moment; try again", page.name)
            with atomic_write(page.xml_path) as unfinished, unfinished.open("wb") as file:
                file.write(after)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; nothing was changed", page.xml_path) from error


def no_line(page: FolderPage, line: str) -> Missing:
    """The error for a line that is not there."""
    return Missing(f"page {page.name} has no line {line!r}; it may have been removed")


def xml_mark(file: Path) -> str:
    """Size and time of a file, which change when it is written; "" if there is none."""
    try:
        known = file.stat()
    except OSError:
        return ""
    return f"{known.st_size} {known.st_mtime_ns}"
