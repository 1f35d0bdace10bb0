"""The files that hold the texts of pages: read for every request, and the one place where they are written.

A file is written only if it still is what the change was made from; then it is on the disk before that is reported.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drethtr.base.atomic import atomic_write
from drethtr.base.errors import DataError, DrethtrError
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.read import MADE_HERE, first_bytes
from drethtr.editing.content import line_content
from drethtr.editing.leaves import Leaf
from drethtr.editing.scans import Kept, Scans
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
class Truth:
    """A file as it is now. `made_here` tells whether drethtr wrote it, and not only into it."""

    file: PageFile
    made_here: bool

    def status(self, line: TextLine) -> Status:
        """The state of a line."""
        return status_of(line, made_here=self.made_here)


class Truths:
    """The files of a folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, scans: Scans) -> None:
        self.folder = folder
        self.scans = scans
        self.files = Kept(FILES_KEPT)

    def of(self, leaf: Leaf) -> Truth | None:
        """The file of a page as it is now; None if it has none.

        Raises:
            DataError: if it is damaged, or does not fit the scan.
        """
        try:
            data = first_bytes(leaf.truth, MAX_BYTES + 1) if leaf.truth.exists() else None
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", leaf.truth) from error
        if data is None or (leaf.source is not None and leaf.truth == leaf.source.path):
            return None
        image = None if leaf.source is None else (leaf.source.path, *self.scans.size(leaf.source))
        name = str(leaf.truth.relative_to(self.folder))
        file = self.files.get((leaf.id, data, image), lambda: PageFile.parse(data, name, image))
        return Truth(file, MADE_HERE.search(data[:4096]) is not None)

    def existing(self, leaf: Leaf) -> Truth:
        """The file of a page that has one.

        Raises:
            Missing: if it has none.
            DataError: if it is damaged.
        """
        truth = self.of(leaf)
        if truth is None:
            raise Missing("this page has not been read, and has no lines yet")
        return truth

    def line_now(self, leaf: Leaf, truth: Truth, line: str) -> dict[str, Any] | None:
        """A line as it is now; None if it is gone."""
        for region in truth.file.page.regions:
            for one in region.lines:
                if one.id == line:
                    return line_content(leaf, truth.file, one, region.id, made_here=truth.made_here)
        return None

    def check(self, leaf: Leaf, truth: Truth, line: str, revision: str) -> None:
        """Check that a line is still of a revision.

        Raises:
            Stale: with the line as it is now.
        """
        now = self.line_now(leaf, truth, line)
        if now is None:
            raise Stale("this line was removed in the meantime; your text was not saved", None)
        if now["revision"] != revision:
            raise Stale("this line was changed in the meantime, in another window or by another program", now)

    def write(self, leaf: Leaf, before: bytes | None, after: bytes) -> None:
        """Write the file of a page, which must still have the bytes `before`, or not exist; it is on the disk then.

        Raises:
            DataError: if it cannot be written, or was changed this very moment.
        """
        try:
            now = leaf.truth.read_bytes() if leaf.truth.exists() else None
            if now != before:
                raise DataError("was changed by another program at the same moment; try again", leaf.name)
            with atomic_write(leaf.truth) as unfinished, unfinished.open("wb") as file:
                file.write(after)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; nothing was changed", leaf.truth) from error


def no_line(leaf: Leaf, line: str) -> Missing:
    """The error for a line that is not there."""
    return Missing(f"page {leaf.name} has no line {line!r}; it may have been removed")


def mark_of(file: Path) -> str:
    """Size and time of a file, which change when it is written; "" if there is none."""
    try:
        known = file.stat()
    except OSError:
        return ""
    return f"{known.st_size} {known.st_mtime_ns}"
