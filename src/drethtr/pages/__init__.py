"""From images of pages to pages with text.

page = transcribe_page("letter.jpg", Recognizer.load())
open_job(["scans/"], "out", ["alto", "pdf"]).run(Recognizer.load)

inputs.py, catalog.py          find the files to read, and what kind each of them is
mets.py, iiif.py, volume.py    files that list the images of a volume
source.py, selection.py        pages to read, with their given lines; which pages to read, and where results go
segmentation.py, segment.py    how lines are found; segment.py finds lines without reading them
transcribe.py                  a page from scan to text
line_reading.py, placing.py    its lines, cut out, read and turned; their places in whole pixels
flags.py                       doubts about a page as a whole
opening.py, job.py, events.py  many files: planned, read one after the other, and reported
task.py, plan.py, record.py    a file and its results; what is left to do; how each result was made
results.py                     writes results, but never over a person's work
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
