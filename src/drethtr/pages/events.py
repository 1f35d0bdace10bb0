"""The events that a job reports, and its summary."""

from typing import NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.documents.document import Document
from drethtr.documents.page import Page
from drethtr.documents.writers.line import LineEntry
from drethtr.pages.doubts import DoubtCounts
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask


class Planned(NamedTuple):
    """The plan of a job; reported first, unless there are no files."""

    plan: JobPlan


class Skipped(NamedTuple):
    """A file or page could not be read, or a result could not be written."""

    error: DataError


class PageRead(NamedTuple):
    """A page was processed; `page` is None if it could not be read. Pages read earlier are not reported."""

    original: Original
    page: Page | None


class FileRead(NamedTuple):
    """All readable pages of a file were read, and its results are written."""

    task: FileTask
    document: Document


class LineRead(NamedTuple):
    """A line image was read, and its result is written."""

    entry: LineEntry


PageEvent: TypeAlias = Planned | Skipped | PageRead | FileRead
LineEvent: TypeAlias = Planned | Skipped | LineRead


class JobSummary(NamedTuple):
    """Numbers of files done, now or earlier, and of files, pages and results that failed; and counts of doubts.

    stale  how many of the failed are files whose results of other settings were kept
    """

    done: int
    failed: int
    doubts: DoubtCounts
    stale: int = 0
