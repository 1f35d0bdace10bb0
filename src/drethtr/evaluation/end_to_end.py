"""Texts of whole pages compared: what a page costs when its lines are found as well as read.

Two figures, for two questions. In order: the page as one text, as somebody reads it from the first line to the last;
a line too many, a line cut in two, or columns in the wrong order all count. Lines matched: each line with the line
most similar to it, wherever it stands; what nothing is matched with counts as left out or invented.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from drethtr.evaluation.metrics import FEWEST, Counts, bootstrap, compare
from drethtr.text.normalize import for_scoring

CONVENTION = (
    "In order: the lines of a page joined by spaces, one text against one text. Matched: each reference line with at "
    "most one read line, the most similar pairs first, in any order; reference lines left over count as "
    "deleted, read lines left over as inserted. Found only: the same without the latter, for references that leave out "
    "part of what is written. CER as elsewhere: all edits / all reference characters, NFC, white space folded. In "
    "brackets the 95 % interval of a bootstrap that draws pages, made wider where these are few; none where there are "
    f"fewer than {FEWEST}."
)


@dataclass(frozen=True)
class PageCounts:
    """Edits of a page, each way of counting; lines of the reference, and lines that were read."""

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
    """Pairs of places, the most similar first, and the places left over on either side."""
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


def to_json(pages: Mapping[str, PageCounts]) -> dict[str, Any]:
    """What `drethtr evaluate --end-to-end --json` writes; rates are fractions."""
    total = sum(pages.values(), PageCounts(Counts(), Counts(), Counts(), 0, 0))
    return {
        "convention": CONVENTION,
        "pages": [{"name": name, **plain(counts)} for name, counts in pages.items()],
        "overall": {"drawn": len(pages), **plain(total), **intervals(pages)},
    }


def plain(counts: PageCounts) -> dict[str, Any]:
    """Rates of a page with what they rest on."""
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
    """The ends of the 95 % intervals over pages; of a few pages null."""
    found: dict[str, float | None] = {}
    for way in ("ordered", "matched", "found_only"):
        rates = bootstrap([getattr(counts, way) for counts in pages.values()])
        found[f"cer_{way}_low"] = rates.cer_low if rates.sure else None
        found[f"cer_{way}_high"] = rates.cer_high if rates.sure else None
    return found
