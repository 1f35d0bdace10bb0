"""Numbers and durations as text."""

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
