"""From images of pages to pages with text.

page = transcribe_page("letter.jpg", Recognizer.load())
open_job(["scans/"], "out", ["alto", "pdf"]).run(Recognizer.load)
"""

from typing import TYPE_CHECKING

from drethtr.base.lazy import names_of

if TYPE_CHECKING:
    from drethtr.pages.events import FileRead, JobSummary, PageEvent, PageRead, Planned, Skipped
    from drethtr.pages.job import PageJob
    from drethtr.pages.opening import open_job
    from drethtr.pages.source import Original, open_originals
    from drethtr.pages.transcribe import transcribe_page
else:
    __getattr__ = names_of(__name__, "events", "job", "opening", "source", "transcribe")

__all__ = [
    "FileRead",
    "JobSummary",
    "Original",
    "PageEvent",
    "PageJob",
    "PageRead",
    "Planned",
    "Skipped",
    "open_job",
    "open_originals",
    "transcribe_page",
]
