"""Compare texts of whole pages: the accuracy of line segmentation and recognition together.

There are two views. In order: the page as one text, read from the first line to the last; extra lines, split lines and
columns in the wrong order all count as errors. Lines matched: each line with the most similar line, wherever it is;
unmatched lines count as deleted or inserted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from drethtr.base.errors import DataError
from drethtr.base.processors import free_processors
from drethtr.datasets.layouts.pages import is_clean
from drethtr.documents.page import Page, TextLine
from drethtr.evaluation.layout import Cost, KnownLine, PageLayout, as_read, compare_layout
from drethtr.evaluation.metrics import MIN_PAGES, Counts, bootstrap, compare
from drethtr.images.line import Line
from drethtr.layout.doubt import doubt_of_layout, odd_share
from drethtr.layout.finder import FoundLine, Kind, Layout
from drethtr.layout.given import GivenLine, complete
from drethtr.layout.order import arranged
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.selection import select
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader
from drethtr.recognition.recognizer import Recognizer
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
    """Errors of a page in each of the views, with its numbers of reference lines and read lines.

    marked  number of reference lines with editorial marks or uncertain letters
    """

    ordered: Counts
    matched: Counts
    found_only: Counts
    lines: int
    read: int
    marked: int = 0

    def __add__(self, other: "PageCounts") -> "PageCounts":
        return PageCounts(
            self.ordered + other.ordered,
            self.matched + other.matched,
            self.found_only + other.found_only,
            self.lines + other.lines,
            self.read + other.read,
            self.marked + other.marked,
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
        # Lines that share nothing never match, however few others are left.
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
    """The cost of found lines over given ones, per reference character: text lost, extra text, and wrong order.

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
        "lines_marked": counts.marked,
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


NUMBER_AT_END = re.compile(r"(?<![-_ \d])[-_ ]*+\d++$|(?<=\d)[-_ ]++\d++$")
"""The number at the end of a name, with the separators before it: `_012` of `page_012`, `-012` of `1845-012`.

Possessive, so that names of thousands of digits or separators take linear time."""


def refuse(error: DataError) -> None:
    """Raise an error: the default for a page that cannot be compared."""
    raise error


def open_references(
    data: Sequence[str],
    *,
    texts: bool = True,
    images: str | Path | None = None,
    skip: Callable[[DataError], object] = refuse,
) -> list[Original]:
    """The pages that files, folders and patterns describe.

    Args:
        texts: Whether they need texts.
        images: A folder in which their images are looked for first.
        skip: Called with why a page cannot be compared, such as having no lines, or no texts where these are needed.

    Raises:
        DataError: if there is no PAGE, ALTO or JSON file, or none can be compared; otherwise what `skip` raises.
    """
    selection = select(data, images=None if images is None else Path(images))
    if selection.unreadable:
        raise selection.unreadable[0]
    skipped, references = list[DataError](), list[Original]()

    def left_out(error: DataError) -> None:
        skipped.append(error)
        skip(error)

    for original in selection.originals(left_out):
        if original.description is None:
            continue
        try:
            check_reference(original, texts=texts)
        except DataError as error:
            left_out(error)
        else:
            references.append(original)
    if not references:
        others = "no PAGE or ALTO files; whole pages are evaluated against their texts"
        raise DataError(f"{', '.join(data)}: {'no page can be compared' if skipped else others}")
    return references


def check_reference(original: Original, *, texts: bool) -> None:
    """Check that a page has lines, and texts where these are needed.

    Raises:
        DataError: if not.
    """
    if texts and not lines_with_text(original):
        raise DataError("has no text to compare with", original.name)
    if not original.has_lines:
        raise DataError("has no lines to compare with", original.name)


def collections_of(names: Sequence[str]) -> dict[str, list[str]]:
    """Files by collection: those of a folder whose names differ only in a number at the end, else all of the folder.

    Of several folders with collections of the same name, each is named with its folder.
    """
    series: dict[tuple[Path, str], list[str]] = {}
    for name in names:
        path = Path(name)
        series.setdefault((path.parent, NUMBER_AT_END.sub("", path.name.partition(".")[0])), []).append(name)
    collections: dict[Path, list[str]] = {}
    for (folder, stem), members in series.items():
        collections.setdefault(folder / stem if len(members) > 1 else folder, []).extend(members)
    often = Counter(place.name for place in collections)
    unique = {place: place.name if often[place.name] == 1 else "" for place in collections}
    return {unique[place] or str(place): members for place, members in collections.items()}


def lines_with_text(original: Original) -> list[TextLine]:
    """The lines with a text in the file of a page."""
    return [line for line in original.given_lines() if line.text.strip()]


def read_and_compare(
    recognizer: Recognizer,
    pages: Sequence[Original],
    segmentation: Segmentation,
    report: Callable[[Original, Page], object],
) -> Mapping[str, PageCounts]:
    """The errors on each page, by the name of its file.

    Args:
        report: Called with every page that was read.

    Raises:
        DataError: if `segmentation` needs lines that a page does not have.
    """
    counts, reader = {}, PageReader(recognizer, segmentation)
    for original in pages:
        reference, prepared = lines_with_text(original), segmentation.prepare(original)
        read = reader.transcribe(prepared)
        report(prepared, read)
        found = compare_pages([line.text for line in reference], [line.text for line in read.lines if line.text])
        # They are on the page and read with the others, so leaving them out would count their readings as inserted.
        marked = sum(not is_clean(line) for line in reference)
        counts[str(original.description)] = replace(found, marked=marked)
    return counts


def find_and_compare(
    pages: Sequence[Original],
    segmentation: Segmentation,
    threads: int | None = None,
    report: Callable[[], object] = lambda: None,
) -> Mapping[str, PageLayout]:
    """How well the lines of each page are found, by the name of its file.

    Args:
        threads: To find lines with; by default one for each free processor.
        report: Called after every page.

    Raises:
        DataError: if an image is damaged, or not the one that was described.
    """
    layouts = {}
    for original in pages:
        gray = original.source.gray()
        known = known_lines(original, gray)
        start = process_time()
        # In processor time, since other programs use this machine; including the order, since lines without order are
        # no text.
        layout = arranged(segmentation.layout(original, gray, threads or free_processors()))
        ordered = [layout.lines[number] for region in layout.regions or () for number in region.lines]
        seconds = process_time() - start
        cost = cost_of(known, layout, ordered)
        layouts[str(original.description)] = replace(compare_layout(known, ordered), seconds=seconds, cost=cost)
        report()
    return layouts


def cost_of(known: Sequence[KnownLine], layout: Layout, ordered: Sequence[FoundLine]) -> Cost | None:
    """The cost of an arranged layout with perfect reading; None if no reference line has a text."""
    written = [line for line in known if line.text.strip()]
    if not written:
        return None
    true = compare_pages([line.text for line in written], as_read(written, ordered)).ordered.cer
    doubt, table = doubt_of_layout(layout), any(region.kind == Kind.TABLE for region in layout.regions or ())
    return Cost(true, doubt.expected, doubt.high, odd_share(layout.lines), table)


def known_lines(original: Original, gray: Line) -> list[KnownLine]:
    """The described lines of a page that have a place, in reading order."""
    page = original.given_for(gray)
    placed = [line for line in page.lines if line.is_placed] if page is not None else []
    lines: list[FoundLine] = complete(gray, [GivenLine.of(line) for line in placed])
    return [KnownLine(line, max(1, len(given.text)), given.text) for line, given in zip(lines, placed, strict=True)]
