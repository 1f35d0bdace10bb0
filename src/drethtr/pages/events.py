"""The events that a job reports, and its summary. As text, an event is a short message for people."""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.documents.document import Document
from drethtr.documents.page import Page
from drethtr.documents.transcription import Transcription
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask


@dataclass
class DoubtCounts:
    """Numbers of lines and words, of doubtful words, and of lines with each kind of flag.

    kept          lines that were not read because they had text
    reviewed      lines that were not read because a person had corrected or confirmed them
    unused        lines that were read although their files have text that is apparently a person's
    uncalibrated  whether some confidences are not calibrated
    """

    lines: int = 0
    kept: int = 0
    reviewed: int = 0
    unused: int = 0
    words: int = 0
    doubtful: int = 0
    uncalibrated: bool = False
    flagged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, line: Transcription) -> None:
        """Count a line that was read."""
        self.lines += 1
        self.words += len(line.words)
        self.doubtful += sum(word.doubtful for word in line.words)
        self.uncalibrated |= line.calibrated is False
        self.flagged += bool(line.flags)
        self.kinds.update({flag.kind for flag in line.flags})

    def add_page(self, page: Page, kept: Set[str] = frozenset()) -> None:
        """Count the lines of a page; those with the ids `kept` were not read, nor were reviewed ones."""
        for line in page.lines:
            if line.is_reviewed:
                self.reviewed += 1
            elif line.id in kept:
                self.kept += 1
            elif line.transcription is not None:
                self.add(line.transcription)


class Planned(NamedTuple):
    """The plan of a job; reported first, unless there are no files."""

    plan: JobPlan

    def __str__(self) -> str:
        return f"{counted(len(self.plan.waiting), 'file')} to read, {counted(len(self.plan.done), 'file')} done before"


class Skipped(NamedTuple):
    """A file or page could not be read, or a result could not be written."""

    error: DataError

    def __str__(self) -> str:
        return str(self.error)


class PageRead(NamedTuple):
    """A page was processed; `page` is None if it could not be read. Pages read earlier are not reported."""

    original: Original
    page: Page | None

    def __str__(self) -> str:
        read = "not read" if self.page is None else f"read, {counted(len(self.page.lines), 'line')}"
        return f"{self.original.name}: {read}"


class FileRead(NamedTuple):
    """All readable pages of a file were read, and its results are written."""

    task: FileTask
    document: Document

    def __str__(self) -> str:
        return f"{self.task.given}: done"


PageEvent: TypeAlias = Planned | Skipped | PageRead | FileRead
"""What a job reports."""


class JobSummary(NamedTuple):
    """Numbers of files done, now or earlier, and of files, pages and results that failed; and counts of doubts.

    stale   how many of the failed files have results of other settings, which were kept
    others  how many of the files done were finished by other processes meanwhile
    """

    done: int
    failed: int
    doubts: DoubtCounts
    stale: int = 0
    others: int = 0
