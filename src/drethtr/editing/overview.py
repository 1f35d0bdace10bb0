"""Summaries of all pages; the history database keeps them between sessions."""

from collections.abc import Iterable, Iterator
from threading import RLock
from typing import Any

from drethtr.base.errors import DataError
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.journal import Journal
from drethtr.editing.page_files import PageFiles, xml_mark
from drethtr.editing.summary import Summary
from drethtr.recognition.confidence.error_rate import ErrorRate


class Overview:
    """The summary of each page, or why there is none."""

    def __init__(self, page_files: PageFiles, journal: Journal) -> None:
        self.page_files = page_files
        self.journal = journal
        self.counting = RLock()
        self.summaries: dict[str, tuple[str, Summary]] = {
            page: (mark, Summary.from_json(content)) for page, (mark, content) in journal.summaries().items()
        }

    def rows(self, pages: Iterable[FolderPage], rate: ErrorRate | None) -> list[dict[str, Any]]:
        """Pages as JSON values; `rate` predicts error rates from confidences."""
        rows = []
        for page, summary in self.of(pages):
            row: dict[str, Any] = {"id": page.id, "name": page.name, "error": page.error}
            if isinstance(summary, DataError):
                row |= {**Summary().row(None), "error": str(summary)}
            else:
                row |= summary.row(rate)
            rows.append(row)
        return rows

    def of(self, pages: Iterable[FolderPage]) -> Iterator[tuple[FolderPage, Summary | DataError]]:
        """Every page with its summary; files that changed since the last time are read again."""
        new = []
        for page in pages:
            mark = xml_mark(page.xml_path)
            with self.counting:  # one thread counts a page, others wait for it
                known = self.summaries.get(page.id)
                if known is not None and known[0] == mark:
                    summary: Summary | DataError = known[1]
                elif isinstance(summary := self.summarize(page), Summary):  # no error: the scan can change alone
                    self.summaries[page.id] = mark, summary
                    new.append((page.id, mark, summary.to_json()))
            yield page, summary
        if new:
            self.journal.keep_summaries(new)

    def summarize(self, page: FolderPage) -> Summary | DataError:
        """The summary of a page, or why there is none."""
        try:
            opened = self.page_files.open(page)
        except DataError as error:
            return error
        return Summary() if opened is None else Summary.of(opened.file.page, made_here=opened.made_here)
