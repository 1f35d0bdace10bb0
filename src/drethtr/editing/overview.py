"""Summaries of all pages, with their texts for searching; the history database keeps them between sessions."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from math import inf
from threading import RLock
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.files import file_mark
from drethtr.documents.page import TextLine
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.journal import Journal
from drethtr.editing.page_files import OpenPage, PageFiles
from drethtr.editing.status import Status, status_of_page
from drethtr.evaluation.predict import PageDoubt
from drethtr.layout.doubt import NO_DOUBT, LayoutDoubt, doubt_of_page
from drethtr.pages.flags import doubt_in
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt
from drethtr.search.query import Spelling

FOLDED = Spelling()
"""How texts and search words are compared."""

NOTHING_READ = PageDoubt(TotalDoubt())
"""The doubt of a page without lines that have a confidence."""


@dataclass(frozen=True)
class Summary:
    """Numbers of a page. Words and expected errors are those of lines that no person has touched.

    texts      id, text and status of each line
    wrong      expected number of wrong words, from their confidences
    doubt      of lines that have a confidence, and of a layout found here
    made_here  whether its file is ours
    """

    texts: tuple[tuple[str, str, str], ...] = ()
    words: int = 0
    wrong: float = 0.0
    doubt: PageDoubt = NOTHING_READ
    made_here: bool = False

    @classmethod
    def of(cls, opened: OpenPage) -> Self:
        """The summary of a page."""
        content, words, wrong = opened.file.page, 0, 0.0
        texts, untouched = [], list[TextLine]()
        for line in content.lines:
            status = opened.status(line)
            texts.append((line.id, line.text, str(status)))
            if status is not Status.READ:
                continue
            untouched.append(line)
            words += len(line.words)
            wrong += sum(1 - word.confidence for word in line.words if word.confidence is not None)
        layout = doubt_of_page(content) if opened.file.made_here else NO_DOUBT
        return cls(tuple(texts), words, round(wrong, 2), PageDoubt(doubt_in(untouched), layout), opened.file.made_here)

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of lines in each state."""
        return Counter(status for _, _, status in self.texts)

    @cached_property
    def folded(self) -> str:
        """The folded texts of all lines."""
        return FOLDED.fold("\n".join(text for _, text, _ in self.texts))

    @cached_property
    def learnable(self) -> int:
        """The number of confirmed lines with text."""
        return sum(status == Status.CONFIRMED and bool(text) for _, text, status in self.texts)

    @property
    def status(self) -> Status:
        """The state of the page."""
        return status_of_page(self.counts, made_here=self.made_here)

    def has_unknown_hand(self, rate: ErrorRate | None) -> bool:
        """Whether the model does not know the hand of the page, as far as `rate` tells."""
        return rate is not None and rate.unknown_hand(self.doubt.read)

    def row(self, rate: ErrorRate | None) -> dict[str, Any]:
        """The page in the overview; `rate` predicts its error rate from confidences."""
        counts, read = self.counts, self.doubt.read
        expected = self.doubt.expected(rate) if rate is not None and read.lines else None
        gain = read.doubt if expected is None else expected.cer * read.characters
        return {
            "status": self.status,
            "expected_cer": None if expected is None else round(expected.cer, 4),
            "estimate": rate is not None and rate.inherited,
            "unknown_hand": self.has_unknown_hand(rate),
            "layout": round(self.doubt.layout.expected, 4),
            "expected_low": None if expected is None else round(expected.low, 4),
            "expected_high": None if expected is None else round(expected.high, 4),
            "gain": round(gain, 1) if read.lines else None,
            "wrong": round(self.wrong, 1) if self.words else None,
            "words": self.words,
            "lines": len(self.texts),
            **{str(status): counts[status] for status in (Status.UNREAD, Status.CORRECTED, Status.CONFIRMED)},
        }

    def to_json(self) -> str:
        """The summary as stored between sessions."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, stored: str) -> Self | None:
        """The inverse of `to_json`; None if it is not from there."""
        try:
            values = json.loads(stored)
            texts = tuple((str(line), str(text), str(Status(status))) for line, text, status in values.pop("texts"))
            read, layout = values.pop("doubt")
            found = cls(texts, doubt=PageDoubt(TotalDoubt(*read), LayoutDoubt(*layout)), **values)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        is_sound = list(map(type, found.figures)) == list(map(type, cls().figures)) and all(
            0 <= figure < inf for figure in found.figures
        )
        return found if is_sound and isinstance(found.doubt.layout.reason, str) else None

    @property
    def figures(self) -> tuple[float, ...]:
        """All its numbers."""
        *layout, _ = self.doubt.layout
        return self.words, self.wrong, *self.doubt.read, self.made_here, *layout


class Overview:
    """The summary of each page, or why there is none."""

    def __init__(self, page_files: PageFiles, journal: Journal) -> None:
        self.page_files = page_files
        self.journal = journal
        self.counting = RLock()
        self.summaries: dict[str, tuple[str, Summary]] = {}
        self.waiting = False  # whether a thread is counting all pages, for which nobody should wait

    def rows(self, pages: Iterable[FolderPage], rate: ErrorRate | None) -> list[dict[str, Any]]:
        """Pages as JSON values; `rate` predicts error rates from confidences."""
        rows, last = [], self.journal.last_persons()
        for page, summary in self.at_hand(pages) if self.waiting else self.of(pages):
            who, changed = last.get(page.id, (None, None))
            row: dict[str, Any] = {
                "id": page.id,
                "name": page.name,
                "error": page.error,
                "counted": summary is not None,
                "who": who,
                "changed": changed,
            }
            if summary is None:
                row |= Summary().row(None)
            elif isinstance(summary, DataError):
                row |= {**Summary().row(None), "error": str(summary)}
            else:
                row |= summary.row(rate)
            rows.append(row)
        return rows

    def at_hand(self, pages: Iterable[FolderPage]) -> Iterator[tuple[FolderPage, Summary | DataError | None]]:
        """Every page with its last summary, whether or not its file has changed since; None if it waits for one."""
        for page in pages:
            if (known := self.summaries.get(page.id)) is not None:
                yield page, known[1]
            elif self.waiting:
                yield page, None
            else:
                yield from self.of([page])

    def of(self, pages: Iterable[FolderPage]) -> Iterator[tuple[FolderPage, Summary | DataError]]:
        """Every page with its summary; files that changed since the last time are read again."""
        new = []
        for page in pages:
            mark = with_scan(page, file_mark(page.xml_path))
            with self.counting:  # one thread summarizes a page, others wait for it
                known = self.summaries.get(page.id) or self.stored(page)
                if known is not None and known[0] == mark:
                    summary: Summary | DataError = known[1]
                    self.summaries[page.id] = known
                elif isinstance(summary := self.summarize(page), Summary):  # an error may pass: not kept
                    self.summaries[page.id] = mark, summary
                    new.append((page.id, mark, summary.to_json()))
            yield page, summary
        if new:
            self.journal.keep_summaries(new)

    def keep(self, page: FolderPage, mark: str, opened: OpenPage) -> None:
        """Keep the summary of a page whose file was just written, and has this mark."""
        summary, mark = Summary.of(opened), with_scan(page, mark)
        with self.counting:
            self.summaries[page.id] = mark, summary
        self.journal.keep_summaries([(page.id, mark, summary.to_json())])

    def confirmed_words(self, pages: Iterable[FolderPage]) -> set[str]:
        """The words of all lines that a person has confirmed."""
        summaries = [summary for _, summary in self.of(pages) if isinstance(summary, Summary)]
        return {
            word
            for one in summaries
            for _, text, status in one.texts
            if status == Status.CONFIRMED
            for word in text.split()
        }

    def stored(self, page: FolderPage) -> tuple[str, Summary] | None:
        """The summary from an earlier session, with the mark of its file; None if there is none that can be read."""
        kept = self.journal.summary(page.id)
        summary = None if kept is None else Summary.from_json(kept[1])
        return None if kept is None or summary is None else (kept[0], summary)

    def summarize(self, page: FolderPage) -> Summary | DataError:
        """The summary of a page, or why there is none."""
        try:
            opened = self.page_files.open(page)
        except DataError as error:
            return error
        return Summary() if opened is None else Summary.of(opened)


def with_scan(page: FolderPage, mark: str) -> str:
    """The mark of the file of a page with that of its scan, which may no longer fit the file once it is replaced."""
    return mark if page.source is None else f"{mark} {file_mark(page.source.path)}"
