"""Search over the texts of a folder, as far as case, accents and the long s do not matter."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from drethtr.base.errors import DataError
from drethtr.editing.workspace import Workspace

SAME = str.maketrans({"ſ": "s", "ß": "ss", "æ": "ae", "œ": "oe", "Æ": "ae", "Œ": "oe"})


def search(workspace: Workspace, query: str, limit: int) -> dict[str, Any]:
    """The lines that hold all words of a query, in the order of pages, at most so many, and how many there are."""
    words = [word for word, _ in map(folded, query.split()) if word]
    hits: list[dict[str, Any]] = []
    total = 0
    for leaf, summary in workspace.summarized() if words else ():
        if isinstance(summary, DataError):
            continue
        for line, text, status in summary.texts:
            plain, places = folded(text)
            if not all(word in plain for word in words):
                continue
            total += 1
            if len(hits) < limit:
                ranges = sorted({found for word in words for found in ranges_of(word, plain, places)})
                known = {"page": leaf.id, "name": leaf.name, "line": line, "text": text, "status": status}
                hits.append({**known, "ranges": ranges})
    return {"total": total, "hits": hits}


def folded(text: str) -> tuple[str, Sequence[int]]:
    """A text in small letters without accents, and for each of its characters the place it comes from."""
    if text.isascii():
        return text.lower(), range(len(text))
    plain, places = [], []
    for place, character in enumerate(text):
        bare = unicodedata.normalize("NFKD", character).translate(SAME).casefold()
        for one in bare:
            if not unicodedata.combining(one):
                plain.append(one)
                places.append(place)
    return "".join(plain), places


def ranges_of(word: str, plain: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where a word stands in the text that a folded one was made of."""
    start = plain.find(word)
    while start >= 0:
        yield places[start], places[start + len(word) - 1] + 1
        start = plain.find(word, start + len(word))
