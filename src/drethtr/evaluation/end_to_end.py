"""Compare texts of whole pages: the accuracy of line segmentation and recognition together.

There are two views. In order: the page as one text, read from the first line to the last; extra lines, split lines and
columns in the wrong order all count as errors. Lines matched: each line with the most similar line, wherever it is;
unmatched lines count as deleted or inserted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from drethtr.evaluation.metrics import MIN_PAGES, Counts, bootstrap, compare
from drethtr.text.normalize import for_scoring

CONVENTION = (
    "In order: the lines of a page joined by spaces and compared as one text. Matched: each reference line is paired "
    "with at most one read line, the most similar pairs first, in any order; unmatched reference lines count as "
    "deleted, unmatched read lines as inserted. Found only: as Matched, without unmatched read lines, for references "
    "that omit part of the writing. CER: all edits / all reference characters, NFC, white space collapsed. In brackets "
    f"the 95 % interval of a bootstrap over pages, widened for few pages; none for fewer than {MIN_PAGES}."
)


@dataclass(frozen=True)
class PageCounts:
    """Errors of a page in each of the views, with its numbers of reference lines and read lines."""

    ordered: Counts
    matched: Counts
    found_only: Counts
    lines: int
    read: int

    def __add__(self, other: "PageCounts") -> "PageCounts":
        return PageCounts(
            self.ordered + other.ordered,
            self.matched + other.matched,
            self.found_only + other.found_only,
            self.lines + other.lines,
            self.read + other.read,
        )


def compare_pages(reference: Sequence[str], read: Sequence[str]) -> PageCounts:
    """Compare the lines of a page, both in reading order."""
    pairs, left_out, invented = match(reference, read)
    matched = sum((compare(reference[i], read[j]) for i, j in pairs), Counts())
    found_only = sum((compare(reference[i], "") for i in left_out), matched)
    return PageCounts(
        ordered=compare(" ".join(reference), " ".join(read)),
        matched=sum((compare("", read[j]) for j in invented), found_only),
        found_only=found_only,
        lines=len(reference),
        read=len(read),
    )


def match(reference: Sequence[str], read: Sequence[str]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Indices of matched lines, most similar pairs first, and of unmatched lines on either side."""
    if not reference or not read:
        return [], list(range(len(reference))), list(range(len(read)))
    ours, theirs = ([for_scoring(text) for text in texts] for texts in (reference, read))
    likeness = cdist(ours, theirs, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
    pairs, rows, columns = [], set(range(len(ours))), set(range(len(theirs)))
    for place in np.argsort(-likeness, axis=None, kind="stable").tolist():
        i, j = divmod(place, len(theirs))
        if likeness[i, j] <= 0 or not (rows and columns):
            break
        if i in rows and j in columns:
            pairs.append((i, j))
            rows.remove(i)
            columns.remove(j)
    return pairs, sorted(rows), sorted(columns)


def total_of(pages: Iterable[PageCounts]) -> PageCounts:
    """The errors of some pages together."""
    return sum(pages, PageCounts(Counts(), Counts(), Counts(), 0, 0))


def layout_cost(given: PageCounts, found: PageCounts) -> dict[str, float]:
    """What found lines cost against given ones, per reference character: text lost, extra text, and wrong order.

    The sum is the difference of the error rates in order.
    """

    def steps(counts: PageCounts) -> tuple[int, int, int]:
        found_only, matched, ordered = counts.found_only.edits, counts.matched.edits, counts.ordered.edits
        return found_only, matched - found_only, ordered - matched

    characters = max(given.ordered.characters, 1)
    parts = zip(("lost", "extra", "order"), steps(given), steps(found), strict=True)
    return {name: (ours - theirs) / characters for name, theirs, ours in parts}


def to_json(pages: Mapping[str, PageCounts]) -> dict[str, Any]:
    """The content of `drethtr evaluate --end-to-end --json`; rates are fractions."""
    return {
        "convention": CONVENTION,
        "pages": [{"name": name, **plain(counts)} for name, counts in pages.items()],
        "overall": {"drawn": len(pages), **plain(total_of(pages.values())), **intervals(pages)},
    }


def plain(counts: PageCounts) -> dict[str, Any]:
    """The error rates of a page, with the amounts of text behind them."""
    return {
        "lines": counts.lines,
        "lines_read": counts.read,
        "characters": counts.ordered.characters,
        "cer_ordered": counts.ordered.cer,
        "wer_ordered": counts.ordered.wer,
        "cer_matched": counts.matched.cer,
        "cer_found_only": counts.found_only.cer,
    }


def intervals(pages: Mapping[str, PageCounts]) -> dict[str, float | None]:
    """The limits of the 95 % intervals over pages; null for too few pages."""
    found: dict[str, float | None] = {}
    for way in ("ordered", "matched", "found_only"):
        rates = bootstrap([getattr(counts, way) for counts in pages.values()])
        found[f"cer_{way}_low"] = rates.cer_low if rates.sure else None
        found[f"cer_{way}_high"] = rates.cer_high if rates.sure else None
    return found
