"""Count what is doubtful in the readings of a job."""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

from drethtr.documents.page import Page, Transcription


@dataclass
class DoubtCounts:
    """Numbers of lines and words, of doubtful words, and of lines with each kind of flag.

    kept          lines that were not read because they had text
    reviewed      lines that were not read because a person had corrected or confirmed them
    uncalibrated  whether some confidences are not calibrated
    """

    lines: int = 0
    kept: int = 0
    reviewed: int = 0
    words: int = 0
    doubtful: int = 0
    uncalibrated: bool = False
    flagged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, line: Transcription) -> None:
        """Count a line that was read."""
        self.lines += 1
        self.words += len(line.words)
        self.doubtful += sum(word.doubtful for word in line.words)
        self.uncalibrated |= line.calibrated is False
        self.flagged += bool(line.flags)
        self.kinds.update({flag.kind for flag in line.flags})

    def add_page(self, page: Page, kept: Set[str] = frozenset()) -> None:
        """Count the lines of a page; those with the ids `kept` were not read, nor were reviewed ones."""
        for line in page.lines:
            if line.is_reviewed:
                self.reviewed += 1
            elif line.id in kept:
                self.kept += 1
            elif line.transcription is not None:
                self.add(line.transcription)
