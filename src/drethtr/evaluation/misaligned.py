"""Find lines that probably have the text of another line: the model confidently reads something else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from drethtr.datasets.sample import Sample, grouped, page_of
from drethtr.evaluation.reading import Advance, read_lines
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring

FAR = 0.6
"""Normalized edit distance between reading and text; unrelated lines of a language are about 0.75 apart."""

SURE = 0.7
"""A different reading with at least this confidence makes a line suspect."""

NEAR = 0.5
"""A reading closer than this to the text of another line shows where the text belongs."""

MIN_LENGTH = 5
"""Characters; shorter readings match too many texts."""

AROUND = 10
"""Number of lines before and after in which to look for the right text if pages are unknown."""


@dataclass(frozen=True)
class Suspect:
    """A line that is read as something else, and the line whose text was read, if one is similar."""

    sample: Sample
    reading: Reading
    elsewhere: Sample | None


def misaligned(
    recognizer: Recognizer,
    lines: Sequence[Sample],
    among: Sequence[Sample],
    advance: Advance | None = None,
) -> list[Suspect]:
    """Read some lines and return the suspect ones, most confident first.

    Args:
        lines: Lines to read.
        among: All lines in order, in which to look for the right text.
        advance: Called whenever lines have been read, with their number.
    """
    near = neighbors(among)
    suspects = []
    for sample, reading in read_lines(recognizer, lines, advance):
        read = for_scoring(reading.text)
        if len(read) < MIN_LENGTH or apart(read, sample.text) < FAR:
            continue
        elsewhere = nearest(read, near(sample))
        # A reading found on another line is suspect at any confidence; one found nowhere only with high confidence.
        if elsewhere is not None or reading.confidence >= SURE:
            suspects.append(Suspect(sample, reading, elsewhere))
    return sorted(suspects, key=lambda suspect: -suspect.reading.confidence)


def apart(read: str, text: str) -> float:
    """Distance between a reading and a text: 0 if equal, 1 if they share nothing."""
    return Levenshtein.normalized_distance(read, for_scoring(text))


def nearest(read: str, candidates: Sequence[Sample]) -> Sample | None:
    """The line whose text was read, if there is one."""
    best = min(candidates, key=lambda sample: apart(read, sample.text), default=None)
    return best if best is not None and apart(read, best.text) < NEAR else None


def neighbors(among: Sequence[Sample]) -> Callable[[Sample], Sequence[Sample]]:
    """Return a function that gives the lines on the page of a line, or, if pages are unknown, the lines around it."""
    places = {sample.key: place for place, sample in enumerate(among)}
    pages = grouped(among, page_of)

    def near(sample: Sample) -> Sequence[Sample]:
        place, page = places[sample.key], page_of(sample)
        return pages[page] if page else among[max(0, place - AROUND) : place + AROUND + 1]

    return near
