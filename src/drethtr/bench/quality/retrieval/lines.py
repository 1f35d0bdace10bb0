"""Transcribed lines with their readings, and queries on them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.bench.quality.retrieval.crowd import PAGE, Crowd, folded_words, stored_confidences
from drethtr.datasets.sample import Sample, page_of
from drethtr.evaluation.confidence import Booleans, Floats
from drethtr.evaluation.evaluate import Advance, read_lines
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.packed import PackedLines


class ReadWord(NamedTuple):
    """A word of a reading, folded, with its confidence."""

    text: str
    confidence: float


class Situation(NamedTuple):
    """Queries and the lines to search.

    relevant  (Q, L) whether the query is on the line
    chances   (Q, L) the sum over all readings of the line
    """

    queries: Sequence[str]
    relevant: Booleans
    chances: Floats


@dataclass(frozen=True)
class LabeledLines:
    """L transcribed lines with their readings."""

    samples: Sequence[Sample]
    readings: Sequence[Reading]

    @cached_property
    def truths(self) -> list[frozenset[str]]:
        """The folded words of each transcription."""
        return [frozenset(folded_words(sample.text)) for sample in self.samples]

    @cached_property
    def read(self) -> list[list[ReadWord]]:
        """The folded words of each reading."""
        return [
            [ReadWord(part, word.confidence) for word in reading.words() for part in folded_words(word.text)]
            for reading in self.readings
        ]

    @cached_property
    def crowd(self) -> Crowd:
        """The lines in the form of an index."""
        kept = [reading.posteriors for reading in self.readings if reading.posteriors is not None]
        packed = [PackedLines.of(kept[start : start + PAGE]) for start in range(0, len(kept), PAGE)]
        return Crowd(self.truths, stored_confidences([reading.confidence for reading in self.readings]), packed)

    @cached_property
    def pages(self) -> NDArray[np.int64]:
        """(L,) the number of the page of each line; a line of unknown page is one."""
        names = [page_of(sample) or place for place, sample in enumerate(self.samples)]
        known = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([known[name] for name in names], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.samples)

    def of(self, places: Sequence[int]) -> "LabeledLines":
        """Some of the lines."""
        return LabeledLines([self.samples[place] for place in places], [self.readings[place] for place in places])

    def with_others(self, others: "LabeledLines") -> "LabeledLines":
        """These lines, then others."""
        return LabeledLines([*self.samples, *others.samples], [*self.readings, *others.readings])

    def by_set(self) -> dict[str, "LabeledLines"]:
        """The lines of each set, by name."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, sample in enumerate(self.samples):
            places[sample.set].append(place)
        return {name: self.of(some) for name, some in sorted(places.items())}

    def situation(self, queries: Sequence[str]) -> Situation:
        """Queries on these lines."""
        relevant = np.array([[query in words for words in self.truths] for query in queries], dtype=np.bool_)
        chances = np.stack([self.crowd.chances(query) for query in queries])
        return Situation(queries, relevant.reshape(len(queries), len(self)), chances)


def read_for_search(recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None) -> LabeledLines:
    """Read lines; the recognizer must keep posteriors.

    Raises:
        DataError: naming the sample, if an image cannot be used.
    """
    return LabeledLines(samples, read_lines(recognizer, samples, advance))
