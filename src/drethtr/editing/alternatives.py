"""Other readings of a word in a line: from the ink, the language, and the words that people have confirmed."""

from difflib import get_close_matches
from typing import Any

from drethtr.base.recent import RecentResults
from drethtr.editing.reader import Reader
from drethtr.editing.scans import place_mark, scan_mark, source_of
from drethtr.recognition.alternatives import LineViews, WordCandidate, encode_line, word_candidates

MAX_ALTERNATIVES = 4
"""Maximum number of other readings of a word to offer."""

MAX_KNOWN, LIKE = 20, 0.5
"""How many confirmed words are tried in place of a word, and their minimum similarity to it.

Half of the letters are enough to be tried, since CTC head and decoder decide.
"""

LINES_SEEN = 16
"""Encoded lines that are kept, since people ask about the words of a line one after the other."""


class Alternatives:
    """Other readings of words; requests take turns with a reader's background work."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.workspace = reader.workspace
        self.seen = RecentResults[LineViews | None](LINES_SEEN)

    def of_word(self, page_id: str, line: str, text: str, start: int, end: int) -> list[dict[str, Any]]:
        """Other readings of a word of a line, likeliest first, without its present text.

        Args:
            text: The text of the line as typed so far; all words but this one are taken as right.
            start: The first character of the word.
            end: The character after its last one.

        Raises:
            Missing: if there is no such line.
            DataError: if it cannot be cut out of its scan.
        """
        opened = self.workspace.opened(page_id)
        page, placed = opened.page, opened.line(line).content
        recognizer, word = self.reader.recognizer, text[start:end]
        confirmed = self.workspace.overview.confirmed_words(self.workspace.folder_pages.values())
        known = get_close_matches(word, confirmed, MAX_KNOWN, LIKE)

        def rank() -> list[WordCandidate]:
            place = page_id, line, scan_mark(source_of(page)), place_mark(placed)
            seen = self.seen.get((*place, recognizer.model.identity), see_line)
            return [] if seen is None else word_candidates(recognizer, seen, text, start, end, known)

        def see_line() -> LineViews | None:
            strip = self.workspace.scans.straighten_line(page, placed, opened.file.page.lines)
            return encode_line(recognizer, recognizer.open_line(strip.line))

        found = [other for other in self.reader.executor.submit(rank).result() if other.text != word]
        return [{"text": one.text, "probability": round(one.probability, 4)} for one in found[:MAX_ALTERNATIVES]]
