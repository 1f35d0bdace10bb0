"""Count the keys that correcting a reading takes in `drethtr edit`, in a text editor and by typing it from nothing.

A computed typist makes each line the known text and wastes no key: he knows what is wrong, goes there by the shortest
way, types whole words, and types a line afresh where that takes fewer keys. A chord is two keys. Seconds follow the
keystroke-level model of Card, Moran and Newell (1980): 0.28 for a key, 1.35 for a decision, one for each line and for
each place where he stops. Other readings of a line (Alt+1 …) are left out: they would save some more keys.

    drethtr transcribe PAGES/*.alto.xml --lines given --format page --output READ
    python docs/measure_typing.py PAGES READ
"""

import sys
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from drethtr.documents.page import TextLine
from drethtr.documents.read import read_page
from drethtr.recognition.reading import DOUBTFUL

KEY, DECISION = 0.28, 1.35
"""Seconds."""


@dataclass(frozen=True)
class Effort:
    """What a way of working takes."""

    keys: int = 0
    decisions: int = 0

    @property
    def seconds(self) -> float:
        """By the keystroke-level model."""
        return self.keys * KEY + self.decisions * DECISION

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(self.keys + other.keys, self.decisions + other.decisions)


def typed(truth: str) -> Effort:
    """Type a line and press Enter."""
    return Effort(len(truth) + 1, 1)


def corrected(line: TextLine, truth: str, *, with_doubts: bool) -> Effort:
    """Make a line that was read the truth and go to the next one; `with_doubts` may jump by F2 from doubt to doubt."""
    text = line.transcription.text if line.transcription else ""
    words, right = text.split(), truth.split()
    read = line.transcription.words if line.transcription else ()
    doubts = {place for place, word in enumerate(read) if word.confidence is not None and word.confidence < DOUBTFUL}
    effort, place = Effort(2, 1), 0
    for kind, start, end, first, last in SequenceMatcher(None, words, right, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        ways = [
            1 + start - place + (2 + end - start if end > start else 0)
        ]  # by words, then to the end of what is wrong
        if with_doubts and start in doubts and end > start:  # the first word is selected, then the others
            ways.append(
                sum(place <= doubt <= start for doubt in doubts) + (2 + end - start - 1 if end > start + 1 else 0)
            )
        spaces = 1 if start == end else 0
        effort += Effort(min(ways) + len(" ".join(right[first:last])) + spaces, 1)
        place = end
    afresh = Effort(2 + len(truth) + 2, 2)
    return min(effort, afresh, key=lambda way: way.seconds)


def main() -> None:
    """Print the table."""
    known, read = map(Path, sys.argv[1:3])
    print("page                        lines   typed  editor    edit   seconds: typed  editor    edit")  # noqa: T201
    totals, lines = [Effort()] * 3, 0
    for path in sorted(read.glob("*.page.xml")):
        name = path.name.removesuffix(".page.xml")
        truths = {line.id: line.transcription for line in read_page(known / f"{name}.alto.xml").lines}
        sums, count = [Effort()] * 3, 0
        for line in read_page(path).lines:
            truth = truths[line.id]
            if truth is None:
                continue
            ways = typed(truth.text), *(corrected(line, truth.text, with_doubts=way) for way in (False, True))
            sums = [total + way for total, way in zip(sums, ways, strict=True)]
            count += 1
        totals = [total + way for total, way in zip(totals, sums, strict=True)]
        lines += count
        show(name, count, sums)
    show("all", lines, totals)


def show(name: str, lines: int, ways: list[Effort]) -> None:
    """Print a row."""
    keys, seconds = "".join(f"{way.keys:8d}" for way in ways), "".join(f"{way.seconds:8.0f}" for way in ways)
    print(f"{name:<26}{lines:7d}{keys}         {seconds}")  # noqa: T201


if __name__ == "__main__":
    main()
