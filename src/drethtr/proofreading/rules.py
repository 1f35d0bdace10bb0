"""What counts as an error: the minimum probability of a word, and the allowed transcription conventions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.proofreading.check import check_lines
from drethtr.proofreading.conventions import Convention, explained, punctuation
from drethtr.proofreading.evidence import ReadText
from drethtr.proofreading.verdict import DOUBTED, CheckedWord, Kind, TextCheck
from drethtr.recognition.recognizer import Recognizer


@dataclass(frozen=True)
class Rules:
    """Words less probable than `least` are doubtful, unless an allowed convention explains them.

    Raises:
        ConfigError: if `least` is not a probability.
    """

    least: float = DOUBTED
    allowed: tuple[Convention, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ConfigError(f"the least probability must be between 0 and 1, not {self.least}")

    def check(
        self, recognizer: Recognizer, lines: Sequence[Line], texts: Sequence[str], read: Sequence[ReadText]
    ) -> list[TextCheck]:
        """Check the texts of some lines against their images; `read` are the readings of the lines.

        A word that a convention explains gets the verdict of the reading in its place.

        Raises:
            CheckpointError, ConfigError: as `check_text`.
        """
        checks = check_lines(recognizer, lines, texts, read, self.least)
        excused = [number for number, check in enumerate(checks) if any(map(self.excuses, check.words))]
        if not excused:
            return checks
        instead = [" ".join(self.as_read(checks[number])) for number in excused]
        again = check_lines(
            recognizer, [lines[number] for number in excused], instead, [read[number] for number in excused], self.least
        )
        for number, other in zip(excused, again, strict=True):
            checks[number] = self.merged(checks[number], other)
        return checks

    def excuses(self, word: CheckedWord) -> bool:
        """Whether a convention explains the difference between a word and the reading."""
        if word.kind is Kind.SUPPORTED or len(word.instead.split()) > 1:
            return False
        if word.text and word.instead:
            return explained(word.text, word.instead, self.allowed)
        return punctuation in self.allowed and word.text != word.instead and punctuation(word.text, word.instead)

    def as_read(self, check: TextCheck) -> Iterator[str]:
        """The text, with the reading in place of excused words."""
        for word in check.words:
            if word.text and (part := word.instead if self.excuses(word) else word.text):
                yield part

    def merged(self, check: TextCheck, other: TextCheck) -> TextCheck:
        """A check, with the verdicts on excused words from `other`, the check of the text from `as_read`."""
        verdicts = iter(word for word in other.words if word.text)
        words = []
        for word in check.words:
            if not self.excuses(word):
                words.append(word)
                if word.text:
                    next(verdicts)
            elif word.text and word.instead:
                words.append(replace(next(verdicts), text=word.text))
            elif word.text:
                words.append(replace(word, kind=Kind.SUPPORTED, reason=""))
        return replace(check, words=tuple(words), probability=other.probability)
