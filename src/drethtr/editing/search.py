"""Search over a folder: in its texts, and in its index, if there is one, also for words that were misread."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from drethtr.base.errors import ConfigError, DataError
from drethtr.editing.page_files import Missing
from drethtr.editing.workspace import Workspace
from drethtr.search import Hit, open_index
from drethtr.search.spelling import Spelling

INDEX = "*.drethtr.sqlite"
"""How an index in the folder is called; the first is used."""

LEAST = 0.02
"""Probability of the least probable line that is found in an index; the page hides less probable ones at first."""

MOST_HITS = 1000

FOLDED = Spelling()


def search(workspace: Workspace, query: str, limit: int) -> dict[str, Any]:
    """The lines that have all words of a query in their texts, in the order of pages; then those of the index.

    Returns at most `limit` lines, and how many there are. A line of the index has a `probability`, and the
    `box` on the scan in which the words may stand.
    """
    words = [word for word, _ in map(folded, query.split()) if word]
    hits: list[dict[str, Any]] = []
    others = {}
    for page, summary in workspace.summarized() if words else ():
        if isinstance(summary, DataError):
            continue
        scan = None if page.source is None else (page.source.path.resolve(), page.source.number)
        for line, text, status in summary.texts:
            plain, places = folded(text)
            known = {"page": page.id, "name": page.name, "line": line, "text": text, "status": status}
            if all(word in plain for word in words):
                ranges = sorted({found for word in words for found in ranges_of(word, plain, places)})
                hits.append({**known, "ranges": ranges})
            elif scan is not None:
                others[*scan, line] = known
    possible = indexed(workspace, query, limit) if words else []
    for hit in possible:
        if (place := (hit.page.resolve(), hit.number, hit.line)) in others:
            hits.append({**others[place], "ranges": [], "probability": round(hit.probability, 4), "box": hit.box})
    return {"total": len(hits), "hits": hits[:limit]}


def indexed(workspace: Workspace, query: str, limit: int) -> list[Hit]:
    """The hits in the index of the folder; none without an index, or while the query cannot be asked."""
    path = index_of(workspace)
    if path is None:
        return []
    try:
        with open_index(path) as index:
            return index.search(query, least=LEAST, limit=limit, rejected=True)
    except (ConfigError, DataError):
        return []


def judge(workspace: Workspace, query: str, page: str, line: str, *, stands: bool) -> None:
    """Keep in the index whether the words of a query stand on a line; the probabilities of all searches follow.

    Raises:
        Missing: if there is no such page, or it is no longer found there.
        DataError: if the index cannot be written.
        ConfigError: if the query cannot be asked.
    """
    folder_page, path = workspace.folder_page(page), index_of(workspace)
    if path is None or folder_page.source is None:
        raise Missing("the folder has no index any more")
    place = (folder_page.source.path.resolve(), folder_page.source.number, line)
    with open_index(path) as index:
        for hit in index.search(query, least=LEAST, limit=MOST_HITS, rejected=True):
            if (hit.page.resolve(), hit.number, hit.line) == place:
                index.judge(hit, stands=stands)
                return
    raise Missing("the index no longer finds these words on that line; search again")


def index_of(workspace: Workspace) -> Path | None:
    """The index of the folder, if there is one."""
    return min(workspace.folder.glob(INDEX), default=None)


def folded(text: str) -> tuple[str, Sequence[int]]:
    """A text as it is compared, and for each of its characters the place it comes from."""
    parts = [FOLDED.fold(character) for character in text]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


def ranges_of(word: str, plain: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where a word stands in the text that a folded one was made of."""
    start = plain.find(word)
    while start >= 0:
        yield places[start], places[start + len(word) - 1] + 1
        start = plain.find(word, start + len(word))
