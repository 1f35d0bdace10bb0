"""Select transcribed lines, and read them.

For a line whose image cannot be used, `read_each` yields an error in its place, and `read_lines` raises it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from drethtr.base.errors import DataError, or_error
from drethtr.datasets.sample import Sample, choose, clean_lines, grouped, open_sample
from drethtr.evaluation.metrics import Counts, EditKinds, compare, edit_kinds
from drethtr.images.line import Line
from drethtr.recognition.batching import in_groups
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.text.normalize import for_scoring

Advance: TypeAlias = Callable[[int], object]
"""Called whenever lines have been read, with their number."""


class ScoredLine(NamedTuple):
    """A transcribed line with its reading, scored on demand."""

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


def to_read(samples: Sequence[Sample], limit: int | None = None, seed: int = 0) -> list[Sample]:
    """The lines to evaluate: clean ones, and at most `limit` of each set.

    Raises:
        DataError: if there are none, or none of them has a text.
    """
    clean = clean_lines(samples)
    if not clean:
        raise DataError(f"no lines to evaluate: none of {len(samples)} lines has a text without uncertain letters")
    chosen = choose(clean, len(clean) if limit is None else limit, seed)
    if not any(for_scoring(sample.text) for sample in chosen):
        raise DataError(f"no lines to evaluate: all {len(chosen)} texts are empty; add transcribed lines")
    return chosen


def read_each(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None
) -> Iterator[ScoredLine | DataError]:
    """Yield each line with its reading, or the error, which names the line, if its image cannot be used."""
    opened = ((sample, or_error(open_sample, recognizer, sample)) for sample in samples)
    for sample, found in recognizer.read_opened(opened):
        yield found if isinstance(found, DataError) else ScoredLine(sample, found)
        if advance is not None:
            advance(1)


def read_lines(recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None) -> list[ScoredLine]:
    """Read each line.

    Raises:
        DataError: naming the line, if an image cannot be used.
    """
    lines = []
    for found in read_each(recognizer, samples, advance):
        if isinstance(found, DataError):
            raise found
        lines.append(found)
    return lines


def portions(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None
) -> Iterator[list[tuple[Sample, Line]]]:
    """Yield the samples with their images, in groups to read together.

    A group counts as read when the next one is requested.
    """
    for some in in_groups(((sample, open_sample(recognizer, sample)) for sample in samples), READ_TOGETHER):
        yield some
        if advance is not None:
            advance(len(some))


def measured_with(recognizer: Recognizer) -> dict[str, Any]:
    """The model, decoder and precision of the measured readings, as stored with metrics."""
    return {"made_by": recognizer.provenance().to_json(), **recognizer.settings}
