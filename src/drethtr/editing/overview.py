"""Summaries of all pages, kept from one start to the next."""

from collections.abc import Iterable, Iterator
from threading import RLock
from typing import Any

from drethtr.base.errors import DataError
from drethtr.editing.journal import Journal
from drethtr.editing.leaves import Leaf
from drethtr.editing.summary import Summary
from drethtr.editing.truths import Truths, mark_of
from drethtr.recognition.confidence.error_rate import ErrorRate


class Overview:
    """The summary of each page, or why there is none."""

    def __init__(self, truths: Truths, journal: Journal) -> None:
        self.truths = truths
        self.journal = journal
        self.counting = RLock()
        self.summaries: dict[str, tuple[str, Summary | DataError]] = {
            page: (mark, Summary.from_json(content)) for page, (mark, content) in journal.summaries().items()
        }

    def rows(self, leaves: Iterable[Leaf], rate: ErrorRate | None) -> list[dict[str, Any]]:
        """Pages as plain values; `rate` tells what error to expect of a doubt."""
        rows = []
        for leaf, summary in self.of(leaves):
            row: dict[str, Any] = {"id": leaf.id, "name": leaf.name, "error": leaf.error}
            if isinstance(summary, DataError):
                row |= {**Summary().row(None), "error": str(summary)}
            else:
                row |= summary.row(rate)
            rows.append(row)
        return rows

    def of(self, leaves: Iterable[Leaf]) -> Iterator[tuple[Leaf, Summary | DataError]]:
        """Every page with its summary; files that changed since the last time are read again."""
        new = []
        for leaf in leaves:
            mark = mark_of(leaf.truth)
            with self.counting:  # one thread counts a page, others wait for it
                known = self.summaries.get(leaf.id)
                if known is None or known[0] != mark:
                    known = mark, self.summarize(leaf)
                    self.summaries[leaf.id] = known
                    if isinstance(known[1], Summary):
                        new.append((leaf.id, mark, known[1].to_json()))
            yield leaf, known[1]
        if new:
            self.journal.keep_summaries(new)

    def summarize(self, leaf: Leaf) -> Summary | DataError:
        """The summary of a page, or why there is none."""
        try:
            truth = self.truths.of(leaf)
        except DataError as error:
            return error
        return Summary() if truth is None else Summary.of(truth.file.page, made_here=truth.made_here)
