"""Search a folder: in the texts of its lines, and for misread words in its index, if there is one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from drethtr.base.errors import ConfigError, DataError
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.index import index_of
from drethtr.editing.overview import FOLDED, Summary
from drethtr.editing.page_files import Missing
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.search import Hit, open_index

MIN_PROBABILITY = 0.02
"""Minimum probability of a hit in an index; the web page initially shows only those above a threshold of its own."""

MAX_HITS = 1000  # what a browser shows without a delay; the total is shown beside them


def search(workspace: Workspace, query: str, limit: int, page_id: str | None = None) -> dict[str, Any]:
    """The lines that have all words of a query, in the order of pages and lines: in their texts, or by the index.

    Returns at most `limit` lines, how many there are, whether the index has `more` that are less probable, and why it
    could not be searched, if so. A line of the index has a `probability`, and the `box` on the scan in which the words
    may stand; it is `unread` if its page is.

    Args:
        page_id: The only page whose lines are wanted.

    Raises:
        Missing: if there is no such page.
    """
    words = [word for word, _ in map(fold_text, query.split()) if word]
    only = None if page_id is None else workspace.folder_page(page_id)
    summaries = workspace.page_summaries() if only is None else workspace.overview.of([only])
    pages = [(one, summary) for one, summary in summaries if isinstance(summary, Summary)]
    certain = [ranges_on(summary, words) for _, summary in pages]
    # Request more from the index: its most probable lines are those whose texts have the words, which are hits anyway.
    most = limit + min(sum(map(len, certain)), MAX_HITS)
    error, found, possible = None, list[Hit](), dict[tuple[Path, int], list[Hit]]()
    try:
        found = search_index(workspace, query, most + 1, only) if words else []
    except DataError as failed:
        error = workspace.without_private_paths(failed)
    for hit in found[:most]:
        possible.setdefault((hit.page.resolve(), hit.number), []).append(hit)
    hits: list[dict[str, Any]] = []
    for (one, summary), ranges in zip(pages, certain, strict=True):
        place = possible and one.source and (one.source.path.resolve(), one.source.number)
        hits += page_hits(one, summary, ranges, possible.get(place, []) if place else [])
    return {
        "total": len(hits),
        "hits": hits[:limit],
        **({"more": True} if len(found) > most else {}),
        **({} if error is None else {"index_error": error}),
    }


Ranges: TypeAlias = Sequence[tuple[int, int]]
"""The passages of a line that are words searched for."""


def ranges_on(summary: Summary, words: Sequence[str]) -> Mapping[str, Ranges]:
    """The lines of a page whose texts have all words, with their ranges."""
    found: dict[str, Ranges] = {}
    if words and all(word in summary.folded for word in words):
        for line, text, _ in summary.texts:
            plain, places = fold_text(text)
            if all(word in plain for word in words):
                found[line] = sorted({ranges for word in words for ranges in ranges_of(word, plain, places)})
    return found


def page_hits(
    page: FolderPage, summary: Summary, certain: Mapping[str, Ranges], possible: Sequence[Hit]
) -> Iterator[dict[str, Any]]:
    """The lines of a page that have all words, in their order; those of the index only where the text misses them."""
    by_line = {hit.line: hit for hit in possible}
    if not summary.texts:
        for hit in sorted(possible, key=lambda hit: hit.box.top):
            yield {**known_line(page, hit.line, hit.text, Status.UNREAD), "unread": True, **likely(hit)}
    for line, text, status in summary.texts if certain or by_line else ():
        if line in certain:
            yield {**known_line(page, line, text, status), "ranges": certain[line]}
        elif line in by_line:
            yield {**known_line(page, line, text, status), **likely(by_line[line])}


def known_line(page: FolderPage, line: str, text: str, status: str) -> dict[str, Any]:
    """A line in the list of hits."""
    return {"page": page.id, "name": page.name, "line": line, "text": text, "status": status}


def likely(hit: Hit) -> dict[str, Any]:
    """What the index adds to a line in the list of hits."""
    return {"ranges": [], "probability": round(hit.probability, 4), "box": hit.box}


def search_index(workspace: Workspace, query: str, limit: int, page: FolderPage | None) -> list[Hit]:
    """The hits in the index of the folder; none without an index, or if the query is not valid yet.

    Args:
        page: The only page whose lines are wanted.

    Raises:
        DataError: if the index cannot be read.
    """
    path = index_of(workspace)
    if path is None or (page is not None and page.source is None):
        return []
    on = None if page is None or page.source is None else (page.source.path, page.source.number)
    try:
        with open_index(path) as index:
            return index.search(query, least=MIN_PROBABILITY, limit=limit, rejected=True, on=on)
    except ConfigError:
        return []


def judge(workspace: Workspace, query: str, page_id: str, line: str, *, stands: bool) -> None:
    """Record in the index whether a line has the words of a query; this shifts the probabilities of all searches.

    Raises:
        Missing: if there is no such page, or the line is no longer a hit.
        DataError: if the index cannot be written.
        ConfigError: if the query is not valid.
    """
    page, path = workspace.folder_page(page_id), index_of(workspace)
    if path is None or page.source is None:
        raise Missing("the folder has no index any more")
    place = (page.source.path, page.source.number)
    with open_index(path) as index:
        for hit in index.search(query, least=MIN_PROBABILITY, rejected=True, on=place):
            if hit.line == line:
                index.judge(hit, stands=stands)
                return
    raise Missing("the index no longer finds these words on that line; search again")


def fold_text(text: str) -> tuple[str, Sequence[int]]:
    """The folded text for comparison, and for each of its characters the offset in the original."""
    parts = [FOLDED.fold(character) for character in text]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


def ranges_of(word: str, plain: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The ranges of a word in the original text, found in the folded one."""
    start = plain.find(word)
    while start >= 0:
        yield places[start], places[start + len(word) - 1] + 1
        start = plain.find(word, start + len(word))
