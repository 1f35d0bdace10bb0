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
from drethtr.layout.doubt import NO_DOUBT, doubt_of_page
from drethtr.pages.flags import doubt_in
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt
from drethtr.search.query import Spelling

FOLDED = Spelling()
"""How texts and the words searched for are compared."""


@dataclass(frozen=True)
class Summary:
    """Numbers of a page. Words and expected errors are those of lines that no person has touched.

    texts       id, text and status of each line
    wrong       expected number of wrong words, from their confidences
    doubt       expected number of wrong characters, before the model's own factor
    characters  of the lines that `doubt` is known of
    measured    how many lines those are
    empty       how many of them have no text
    made_here   whether its file is ours
    layout      expected cost of a layout found here, per character, and `layout_high` the end of its interval
    """

    texts: tuple[tuple[str, str, str], ...] = ()
    words: int = 0
    wrong: float = 0.0
    doubt: float = 0.0
    characters: int = 0
    measured: int = 0
    empty: int = 0
    made_here: bool = False
    layout: float = 0.0
    layout_high: float = 0.0

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
        layout = doubt_of_page(content) if opened.made_here else NO_DOUBT
        known = words, round(wrong, 2), *doubt_in(untouched), opened.made_here
        return cls(tuple(texts), *known, layout.expected, layout.high)

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

    def row(self, rate: ErrorRate | None) -> dict[str, Any]:
        """The page in the overview; `rate` predicts its error rate from confidences."""
        counts, expected, unknown = self.counts, None, False
        if rate is not None and self.measured:
            total = TotalDoubt(self.doubt, self.characters, self.measured, self.empty)
            expected, unknown = rate(total).with_cost(self.layout, self.layout_high), rate.unknown_hand(total)
        return {
            "status": self.status,
            "expected_cer": None if expected is None else round(expected.cer, 4),
            "estimate": rate is not None and rate.inherited,
            "unknown_hand": unknown,
            "layout": round(self.layout, 4),
            "expected_low": None if expected is None else round(expected.low, 4),
            "expected_high": None if expected is None else round(expected.high, 4),
            "gain": round(self.doubt if expected is None else expected.cer * self.characters, 1)
            if self.measured
            else None,
            "wrong": round(self.wrong, 1) if self.words else None,
            "words": self.words,
            "lines": len(self.texts),
            **{str(status): counts[status] for status in (Status.UNREAD, Status.CORRECTED, Status.CONFIRMED)},
        }

    def to_json(self) -> str:
        """The summary as kept from one start to the next."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, stored: str) -> Self | None:
        """The inverse of `to_json`; None if it is not from there."""
        try:
            values = json.loads(stored)
            texts = tuple((str(line), str(text), str(Status(status))) for line, text, status in values.pop("texts"))
            found = cls(texts, **values)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        _, *numbers = vars(found).values()
        _, *usual = vars(cls()).values()
        fits = list(map(type, numbers)) == list(map(type, usual)) and all(0 <= number < inf for number in numbers)
        return found if fits else None


class Overview:
    """The summary of each page, or why there is none."""

    def __init__(self, page_files: PageFiles, journal: Journal) -> None:
        self.page_files = page_files
        self.journal = journal
        self.counting = RLock()
        self.summaries: dict[str, tuple[str, Summary]] = {}
        self.waiting = False  # whether another thread counts all pages, and nobody should wait for it

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
            mark = file_mark(page.xml_path)
            with self.counting:  # one thread counts a page, others wait for it
                known = self.summaries.get(page.id) or self.stored(page)
                if known is not None and known[0] == mark:
                    summary: Summary | DataError = known[1]
                    self.summaries[page.id] = known
                elif isinstance(summary := self.summarize(page), Summary):  # no error: the scan can change alone
                    self.summaries[page.id] = mark, summary
                    new.append((page.id, mark, summary.to_json()))
            yield page, summary
        if new:
            self.journal.keep_summaries(new)

    def keep(self, page: FolderPage, mark: str, opened: OpenPage) -> None:
        """Keep the summary of a page whose file was just written, and has this mark."""
        summary = Summary.of(opened)
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
