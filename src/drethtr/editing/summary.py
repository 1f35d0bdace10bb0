"""The summary of a page for the overview, with its texts for searching."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from drethtr.documents.page import Page
from drethtr.editing.status import Status, status_of, status_of_page
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt
from drethtr.recognition.reading import DOUBTFUL


@dataclass(frozen=True)
class Summary:
    """Numbers of a page. Words, doubts and the expected error are those of lines that no person has touched.

    texts       id, text and status of each line
    doubt       expected number of wrong characters, before the model's own factor
    characters  of the lines that `doubt` is known of
    measured    how many lines those are
    empty       how many of them have no text
    made_here   whether its file is ours
    """

    texts: tuple[tuple[str, str, str], ...] = ()
    words: int = 0
    doubtful: int = 0
    doubt: float = 0.0
    characters: int = 0
    measured: int = 0
    empty: int = 0
    made_here: bool = False

    @classmethod
    def of(cls, page: Page, *, made_here: bool) -> Self:
        """The summary of a page."""
        words = doubtful = characters = measured = empty = 0
        doubt, texts = 0.0, []
        for line in page.lines:
            status = status_of(line, made_here=made_here)
            texts.append((line.id, line.text, str(status)))
            if status is not Status.READ:
                continue
            words += len(line.words)
            doubtful += sum(word.confidence is not None and word.confidence < DOUBTFUL for word in line.words)
            if line.confidence is not None:
                doubt += (1 - line.confidence) * len(line.text)
                characters += len(line.text)
                measured += 1
                empty += not line.text
        return cls(tuple(texts), words, doubtful, doubt, characters, measured, empty, made_here)

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of lines in each state."""
        return Counter(status for _, _, status in self.texts)

    @property
    def learnable(self) -> int:
        """The number of confirmed lines with text."""
        return sum(status == Status.CONFIRMED and bool(text) for _, text, status in self.texts)

    @property
    def status(self) -> Status:
        """The state of the page."""
        return status_of_page(self.counts, made_here=self.made_here)

    def row(self, rate: ErrorRate | None) -> dict[str, Any]:
        """The page in the overview; `rate` predicts its error rate from confidences."""
        counts, expected = self.counts, None
        if rate is not None and self.measured:
            expected = rate(TotalDoubt(self.doubt, self.characters, self.measured, self.empty))
        return {
            "status": self.status,
            "expected_cer": None if expected is None else round(expected.cer, 4),
            "expected_low": None if expected is None else round(expected.low, 4),
            "expected_high": None if expected is None else round(expected.high, 4),
            "gain": round(self.doubt if expected is None else expected.cer * self.characters, 1)
            if self.measured
            else None,
            "doubtful": round(self.doubtful / self.words, 4) if self.words else None,
            "words": self.words,
            "lines": len(self.texts),
            **{str(status): counts[status] for status in (Status.UNREAD, Status.CORRECTED, Status.CONFIRMED)},
        }

    def to_json(self) -> str:
        """The summary as kept from one start to the next."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, content: str) -> Self:
        """The inverse of `to_json`."""
        values = json.loads(content)
        return cls(**{**values, "texts": tuple(map(tuple, values["texts"]))})
