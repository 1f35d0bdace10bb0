"""Numbers, durations and lists of names as text."""

from collections.abc import Sequence

MINUTE, HOUR = 60, 3600


def in_words(seconds: float) -> str:
    """A duration in a suitable unit: `40 seconds`, `7 minutes`, `2.5 hours`."""
    if seconds < 1.5 * MINUTE:
        return counted(seconds, "second")
    if seconds < 1.5 * HOUR:
        return counted(seconds / MINUTE, "minute")
    return f"{seconds / HOUR:.1f} hours"


def counted(number: float, unit: str) -> str:
    """A rounded number with its unit, in the singular or plural: `1 line`, `2,000 lines`."""
    whole = round(number)
    return f"{whole:,} {unit}{'' if whole == 1 else 's'}"


def first_of(names: Sequence[str], shown: int = 3, separator: str = ", ") -> str:
    """The first names, and how many more there are: `a, b, c and 2 more`."""
    more = len(names) - shown
    return separator.join(names[:shown]) + (f" and {more:,} more" if more > 0 else "")
