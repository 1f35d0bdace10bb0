"""Find images that cannot be read or are empty."""

from drethtr.base.errors import DataError
from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if

LOWEST = 8
"""Pixels; lines lower than this cannot be read."""

FAINTEST = 12
"""Minimum difference in gray levels between the darkest and the lightest pixel of a line with writing."""


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
