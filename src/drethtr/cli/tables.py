"""Tables of figures on a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Rows under their titles, in columns as wide as needed; the first `left` columns are aligned left."""
    lines = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def figure(value: float | None, digits: int = 2, times: int = 100) -> str:
    """A formatted figure, usually a rate in percent; a dash for None."""
    return "–" if value is None else f"{times * value:.{digits}f}"


def between(middle: float, low: float, high: float, digits: int = 2, sign: str = "") -> str:
    """A rate and its interval, in percent."""
    return "{} [{}, {}]".format(*(f"{100 * rate:{sign}.{digits}f}" for rate in (middle, low, high)))


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and its interval, if it has one, in percent, from figures as in JSON."""
    if row[rate] is None:
        return figure(None)
    if row.get(f"{rate}_low") is None:
        return f"{figure(row[rate])} –"
    return between(row[rate], row[f"{rate}_low"], row[f"{rate}_high"])
