"""Images that cannot be read, or have nothing on them."""

from drethtr.base.errors import DataError
from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if

LOWEST = 8
"""Pixels; writing lower than this cannot be read."""

FAINTEST = 12
"""Grey levels between the darkest and the lightest of a line with writing."""


def broken_images(splits: Splits) -> list[Finding]:
    """Decode every image."""
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
        *finding_if(Severity.WARNING, "low image", f"lower than {LOWEST} pixels", low),
        *finding_if(Severity.WARNING, "blank image", "images that show nothing, but have a text", blank),
    ]
