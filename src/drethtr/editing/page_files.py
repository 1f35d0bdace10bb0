"""The PAGE and ALTO files of a folder: read for every request, and written only here.

A change is made from what the file has at the moment it is replaced, whoever wrote that, and success is reported once
it is on the disk.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.files import NotFlushedError, file_mark, mark_of
from drethtr.base.locks import change_bytes
from drethtr.base.recent import RecentResults
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page, TextLine
from drethtr.documents.page_file import PageFile, revision_of
from drethtr.documents.points import Points
from drethtr.documents.read import MADE_HERE, first_bytes
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.scans import Scans, place_mark
from drethtr.editing.status import Status, status_of, status_of_page
from drethtr.layout.orientation import orientation_of
from drethtr.layout.turn import quarters_of

METADATA = re.compile(rb"<TranskribusMetadata\b[^<>]*>")
APPROVED = re.compile(rb"""\bstatus\s*=\s*["'](?:GT|FINAL|DONE)["']""")
"""The status of a page in Transkribus whose lines somebody has approved, in its metadata."""

MAX_KEPT, SMALL = 16 << 20, 1 << 20
"""Bytes of the files that are kept parsed, which takes up to a hundred times as much; small ones count as this many.

So at most sixteen pages are kept: the one on screen, its neighbors, and what background work is at.
"""


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
    """A page with its PAGE or ALTO file, as that is now.

    made_here  whether drethtr created the file, not only edited it
    approved   whether its page status in Transkribus says that its text is done
    """

    page: FolderPage
    file: PageFile
    made_here: bool
    approved: bool = False

    @cached_property
    def scan_mark(self) -> str:
        """A hash that changes with the file of the scan; the addresses of pictures of lines have it."""
        return revision_of(file_mark(self.page.source.path).encode()) if self.page.source is not None else ""

    def status(self, line: TextLine) -> Status:
        """The state of a line."""
        return status_of(line, made_here=self.made_here, approved=self.approved)

    def line(self, id: str) -> TextLine:
        """A line.

        Raises:
            Missing: if there is none.
        """
        if id not in self.file.lines:
            raise Missing(f"page {self.page.name} has no line {id!r}; it may have been removed")
        return self.file.lines[id]

    def line_content(self, id: str) -> dict[str, Any]:
        """A line as JSON values.

        Raises:
            Missing: if there is none.
        """
        line = self.line(id)
        region = next(one.id for one in self.file.page.regions if line in one.lines)
        return line_content(self, line, region)

    def check_revision(self, id: str, revision: str) -> None:
        """Check that a line is still of a revision.

        Raises:
            Stale: with the line as it is now.
        """
        if id not in self.file.lines:
            raise Stale("this line was removed in the meantime; your text was not saved", None)
        if self.file.revision_of(id) != revision:
            reason = "this line was changed in the meantime, in another window or by another program"
            raise Stale(reason, self.line_content(id))


class PageFiles:
    """Opens and writes the PAGE and ALTO files of a folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, scans: Scans) -> None:
        self.folder = folder
        self.scans = scans
        self.files = RecentResults[PageFile](MAX_KEPT, lambda file: max(len(file.data), SMALL))
        self.error: str | None = None  # why the last file might be lost in a power failure, although it was written

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
        if source is None:
            return self.known(page, self.files.get((page.id, data, None), lambda: PageFile.parse(data, name)))
        image = (source.path, *self.scans.size(source))

        def turned(described: Page) -> int:
            return orientation_of(described, source, lambda: self.scans.gray(source))

        return self.known(
            page, self.files.get((page.id, data, image), lambda: PageFile.parse(data, name, image, turned))
        )

    def known(self, page: FolderPage, file: PageFile) -> OpenPage:
        """The open page of a file that was parsed, such as one just changed; it is not parsed again while it stays."""
        self.files.get((page.id, file.data, file.image), lambda: file)
        head = file.data[:4096]
        metadata = METADATA.search(head)
        approved = metadata is not None and APPROVED.search(metadata[0]) is not None
        return OpenPage(page, file, MADE_HERE.search(head) is not None, approved)

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
        """Write the file of a page; it is on the disk then, or `error` says that it might not be.

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


def line_content(opened: OpenPage, line: TextLine, region: str) -> dict[str, Any]:
    """A line as JSON values, with the id of its region."""
    page, status = opened.page, opened.status(line)
    sure = [word.confidence for word in line.words if word.confidence is not None]
    known = status is Status.READ and sure and len(sure) == len(line.words)
    address = f"/api/pages/{page.id}/lines/{quote(line.id, safe='')}/strip.jpg?v={place_mark(line)}{opened.scan_mark}"
    has_strip = page.source is not None and (line.baseline or line.polygon)
    return {
        "id": line.id,
        "region": region,
        "text": line.text,
        "status": status,
        "revision": opened.file.revision_of(line.id),
        "confidence": line.confidence,
        "expected_wer": round(1 - sum(sure) / len(sure), 4) if known else None,
        "words": [
            {"text": word.text, "confidence": word.confidence, "doubtful": word.doubtful, "box": word.box}
            for word in line.words
        ],
        "tags": [
            {"name": tag.name, "start": tag.start, "length": tag.length, "details": dict(tag.details)}
            for tag in (line.transcription.tags if line.transcription else ())
            if tag.length
        ],
        "flags": [{"kind": flag.kind, "reason": flag.reason} for flag in line.flags],
        "baseline": pairs(line.baseline),
        "polygon": pairs(line.polygon),
        "strip": address if has_strip else None,
    }


def page_content(opened: OpenPage, earlier: Mapping[str, str]) -> dict[str, Any]:
    """A page with its lines as JSON values, those to be read with what they said `earlier`."""
    page, file = opened.page, opened.file
    lines = [
        {**line_content(opened, line, region.id), "earlier": earlier.get(line.id)}
        for region in file.page.regions
        for line in region.lines
    ]
    states = [line["status"] for line in lines]
    return {
        "id": page.id,
        "name": page.name,
        "status": status_of_page(states, made_here=opened.made_here),
        "revision": file.revision,
        "width": file.page.width,
        "height": file.page.height,
        "error": page.error,
        "quarters": quarters_of_page(file.page),
        "regions": [
            {"id": region.id, "kind": region.kind, "polygon": pairs(region.polygon), "cell": region.cell}
            for region in file.page.regions
        ],
        "lines": lines,
    }


def quarters_of_page(page: Page) -> int:
    """How many times the page must be turned to the left by 90 degrees for most of its writing to be upright."""
    lengths = Counter[int]()
    for line in page.lines:
        if line.baseline:
            ends = np.array((line.baseline[0], line.baseline[-1]), dtype=np.float64)
            lengths[quarters_of(ends)] += int(np.abs(ends[1] - ends[0]).max())
    return max(lengths, key=lengths.__getitem__, default=0)


def unread_content(page: FolderPage, width: int, height: int, error: str | None) -> dict[str, Any]:
    """A page without a PAGE or ALTO file, as JSON values."""
    known = {"id": page.id, "name": page.name, "status": Status.UNREAD, "revision": ""}
    return {
        **known,
        "width": width,
        "height": height,
        "error": error or page.error,
        "quarters": 0,
        "regions": [],
        "lines": [],
    }


def pairs(points: Points | None) -> list[list[int]] | None:
    """Points as lists of x and y."""
    return None if points is None else [list(point) for point in points]
