"""Texts too long or too short for their image."""

from collections import defaultdict
from statistics import median

from drethtr.base.errors import DataError
from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.lines.sample import Sample

LONGEST = 200
"""More characters than stand on a line of handwriting."""

CROWDED = 1 / 4
ROOMY = 8
"""Bounds of a line's room per character, as multiples of the middle of its set."""


def lengths(splits: Splits) -> list[Finding]:
    """Over-long texts, and texts whose number of characters cannot be that of their image."""
    every = [sample for samples in splits.values() for sample in samples]
    long = [Row(sample.key) for sample in every if len(sample.text) > LONGEST]
    of_set: dict[str, list[tuple[float, Sample]]] = defaultdict(list)
    for sample in every:
        if (room := room_per_character(sample)) is not None:
            of_set[sample.set].append((room, sample))
    crowded, roomy = [], []
    for lines in of_set.values():
        middle = median(room for room, _ in lines)
        crowded += [Row(sample.key) for room, sample in lines if room < CROWDED * middle]
        roomy += [Row(sample.key) for room, sample in lines if room > ROOMY * middle]
    return [
        *finding_if(Severity.WARNING, "over-long text", f"more than {LONGEST} characters", long),
        *finding_if(Severity.WARNING, "crowded line", "texts far longer than their image can hold", crowded),
        *finding_if(Severity.WARNING, "roomy line", "texts far shorter than their image", roomy),
    ]


def room_per_character(sample: Sample) -> float | None:
    """Width of the image for each character, in heights of the line; None where either is unknown."""
    try:
        width, height = sample.size()
    except DataError:
        return None
    text = sample.text.strip()
    return width / height / len(text) if text and height else None
