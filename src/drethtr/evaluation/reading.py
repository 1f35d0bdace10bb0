"""Transcribed lines with their readings."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from drethtr.datasets.sample import Sample, grouped
from drethtr.evaluation.metrics import Counts, EditKinds, compare, edit_kinds
from drethtr.recognition.reading import Reading
from drethtr.text.normalize import for_scoring


class ScoredLine(NamedTuple):
    """A transcribed line with its reading, which is scored when asked for."""

    sample: Sample
    reading: Reading

    @property
    def counts(self) -> Counts:
        """The errors of the reading, with words between spaces."""
        return compare(self.sample.text, self.reading.text)

    @property
    def kinds(self) -> EditKinds:
        """The edits of characters by kind."""
        return edit_kinds(self.sample.text, self.reading.text)

    def to_json(self) -> dict[str, Any]:
        """A row of `drethtr evaluate --per-line`, with both texts as they are compared."""
        counts = self.counts
        return {
            "line": self.sample.key,
            "set": self.sample.set,
            "page": self.sample.page,
            "id": self.sample.id,
            "text": for_scoring(self.sample.text),
            "reading": for_scoring(self.reading.text),
            "confidence": self.reading.confidence,
            "characters": counts.characters,
            "edits": counts.edits,
            **self.kinds._asdict(),
            "words": counts.words,
            "word_edits": counts.word_edits,
        }


def by_name(lines: Iterable[ScoredLine], name_of: Callable[[Sample], str]) -> dict[str, list[ScoredLine]]:
    """Lines in groups by a name of their samples, sorted by it."""
    return grouped(lines, lambda line: name_of(line.sample))
