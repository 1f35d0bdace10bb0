"""Find images that cannot be read or are empty, and texts that are too long or too short for their image."""

from collections import defaultdict
from statistics import median

from drethtr.base.errors import DataError
from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.datasets.sample import Sample

LOWEST = 8
"""Pixels; lines lower than this cannot be read."""

FAINTEST = 12
"""Minimum difference in gray levels between the darkest and the lightest pixel of a line with writing."""

LONGEST = 200
"""More characters than fit on a handwritten line."""

CROWDED = 1 / 4
ROOMY = 8
"""Limits of a line's width per character, relative to the median of its set."""


def broken_images(splits: Splits) -> list[Finding]:
    """Decode every image and report those that are unreadable, tiny or blank."""
    unreadable, low, blank = [], [], []
    for sample in (sample for samples in splits.values() for sample in samples):
        try:
            line = sample.line()
        except DataError:
            unreadable.append(Row(sample.key))
            continue
        if line.shape[0] < LOWEST:
            low.append(Row(sample.key))
        elif int(line.max()) - int(line.min()) < FAINTEST and sample.text.strip():
            blank.append(Row(sample.key))
    return [
        *finding_if(Severity.ERROR, "unreadable image", "images that cannot be decoded", unreadable),
        *finding_if(Severity.WARNING, "low image", f"less than {LOWEST} pixels tall", low),
        *finding_if(Severity.WARNING, "blank image", "blank images that have a text", blank),
    ]


def lengths(splits: Splits) -> list[Finding]:
    """Find very long texts, and texts whose length does not fit their image."""
    every = [sample for samples in splits.values() for sample in samples]
    long = [Row(sample.key) for sample in every if len(sample.text) > LONGEST]
    # Sets differ in the size of writing and of their images, so that a line is compared with those of its own set.
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
        *finding_if(Severity.WARNING, "crowded line", "texts far too long for their image", crowded),
        *finding_if(Severity.WARNING, "roomy line", "texts far too short for their image", roomy),
    ]


def room_per_character(sample: Sample) -> float | None:
    """Width of the image per character, in line heights; None if either is unknown."""
    try:
        width, height = sample.size()
    except DataError:
        return None
    text = sample.text.strip()
    return width / height / len(text) if text and height else None
