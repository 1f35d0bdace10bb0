"""Transcribed lines in the form of an index, to search among many: with more lines, a word has more false hits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.bulk.indexing import open_results, rows_of
from drethtr.datasets.open import open_all
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.automaton import automaton_of
from drethtr.search.forward import probabilities
from drethtr.search.packed import PackedLines
from drethtr.search.pattern import pattern_of
from drethtr.search.records import CERTAIN
from drethtr.search.spelling import Spelling, words_of

FOLDED = Spelling()

PAGE = 25
"""Lines packed together, like those of a page."""


@dataclass(frozen=True)
class Crowd:
    """L lines in the form of an index.

    words        the folded words of each transcription
    confidences  (L,) of the readings, in 255ths
    packed       the posteriors, some lines at a time
    """

    words: Sequence[frozenset[str]]
    confidences: NDArray[np.uint8]
    packed: Sequence[PackedLines]

    @classmethod
    def of_batch(cls, folder: str, recognizer: Recognizer) -> Self:
        """The clean lines in the results of `drethtr batch --posteriors` on transcribed lines.

        Raises:
            DataError: if they have no posteriors or texts, or were read by another model.
        """
        results, job = open_results(folder)
        if job["model"] != recognizer.model.hash:
            raise DataError("read by another model, so its lines are not comparable", folder)
        rows = [row for part in sorted(results.parts()) for row in rows_of(results.part(part), part)]
        words = words_by_key({row["input"] for row in rows})
        keys = [f"{row['input']} row {row['row']}" for row in rows]
        known = [(words[key], row) for key, row in zip(keys, rows, strict=True) if key in words and not row["error"]]
        lines = [PackedLines.from_bytes(row["posteriors"]).line(0) for _, row in known]
        return cls(
            [of_line for of_line, _ in known],
            stored_confidences([row["confidence"] for _, row in known]),
            [PackedLines.of(lines[start : start + PAGE]) for start in range(0, len(lines), PAGE)],
        )

    @classmethod
    def joined(cls, crowds: Sequence["Crowd"]) -> Self:
        """Concatenate some crowds."""
        return cls(
            [words for crowd in crowds for words in crowd.words],
            np.concatenate([stored_confidences([]), *(crowd.confidences for crowd in crowds)]),
            [lines for crowd in crowds for lines in crowd.packed],
        )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def steps(self) -> NDArray[np.uint16]:
        """(L,) steps of each line."""
        return np.concatenate([np.empty(0, np.uint16), *(lines.sizes for lines in self.packed)])

    @property
    def stored_bytes(self) -> int:
        """The bytes of their posteriors in an index."""
        return sum(len(lines.to_bytes()) for lines in self.packed)

    def chances(self, query: str) -> NDArray[np.float64]:
        """(L,) the sum over all readings of each line that contain a word."""
        automaton = automaton_of(pattern_of(query, FOLDED, plain=True), FOLDED)
        return probabilities(self.packed, automaton)[:, 0]

    def having(self, query: str) -> NDArray[np.bool_]:
        """(L,) whether each line contains a word."""
        return np.array([query in words for words in self.words], dtype=np.bool_)


def folded_words(text: str) -> list[str]:
    """The words of a text, folded."""
    return words_of(FOLDED.fold(text))


def stored_confidences(confidences: Sequence[float]) -> NDArray[np.uint8]:
    """Confidences of readings, as stored in an index."""
    return np.array([round(confidence * (CERTAIN - 1)) for confidence in confidences], dtype=np.uint8)


def words_by_key(inputs: set[str]) -> dict[str, frozenset[str]]:
    """The folded words of each clean line of some files."""
    samples = open_all(sorted(inputs))
    return {sample.key: frozenset(folded_words(sample.text)) for sample in samples if sample.clean}
