"""Lines whose text is probably that of another line: the model is sure, and reads something else altogether."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from drethtr.evaluation.evaluate import Advance, read_lines
from drethtr.lines.sample import Sample, page_of
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring

FAR = 0.6
"""Normalized distance of reading and text: unrelated lines of a language are about 0.75 apart."""

SURE = 0.7
"""Confidence from which a far reading is held against the text."""

NEAR = 0.5
"""The text of another line, nearer than this to the reading, tells where the text went."""

SHORTEST = 5
"""Characters; a reading shorter than this fits too many texts."""

AROUND = 10
"""Lines before and after, among which the right text is looked for where pages are unknown."""


@dataclass(frozen=True)
class Suspect:
    """A line that is read as something else than its text, and the line whose text that is, if it is near."""

    sample: Sample
    reading: Reading
    elsewhere: Sample | None


def misaligned(
    recognizer: Recognizer,
    lines: Sequence[Sample],
    among: Sequence[Sample],
    advance: Advance | None = None,
) -> list[Suspect]:
    """Read some lines and name those that are suspect, the surest first.

    Args:
        lines: Lines to read.
        among: All lines in their order, to look for the right text in.
        advance: Told how many lines were read, after each of many steps.
    """
    near = neighbors(among)
    suspects = []
    for sample, reading in zip(lines, read_lines(recognizer, lines, advance), strict=True):
        read = for_scoring(reading.text)
        if len(read) < SHORTEST or apart(read, sample.text) < FAR:
            continue
        elsewhere = nearest(read, near(sample))
        if elsewhere is not None or reading.confidence >= SURE:
            suspects.append(Suspect(sample, reading, elsewhere))
    return sorted(suspects, key=lambda suspect: -suspect.reading.confidence)


def apart(read: str, text: str) -> float:
    """How far a reading is from a text: 0 if equal, 1 if they share nothing."""
    return Levenshtein.normalized_distance(read, for_scoring(text))


def nearest(read: str, candidates: Sequence[Sample]) -> Sample | None:
    """The line whose text is what was read, if there is one."""
    best = min(candidates, key=lambda sample: apart(read, sample.text), default=None)
    return best if best is not None and apart(read, best.text) < NEAR else None


def neighbors(among: Sequence[Sample]) -> Callable[[Sample], Sequence[Sample]]:
    """For a line, those of its page; where pages are unknown, the lines before and after it."""
    places = {sample.key: place for place, sample in enumerate(among)}
    pages: dict[str, list[Sample]] = defaultdict(list)
    for sample in among:
        pages[page_of(sample)].append(sample)

    def near(sample: Sample) -> Sequence[Sample]:
        place, page = places[sample.key], page_of(sample)
        return pages[page] if page else among[max(0, place - AROUND) : place + AROUND + 1]

    return near
