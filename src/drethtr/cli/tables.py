"""Measured figures as a table for people."""

from collections.abc import Mapping
from typing import Any

COUNTS = {"lines": 6, "drawn": 6, "characters": 10}
"""What rates rest on, and how wide that is: older scores lack how many pages, or lines of unknown page, are drawn."""

OTHER_CUSTOMS = {"WER % punct.": "wer_punctuation", "WER % Unicode": "wer_unicode"}
"""Titles of the word error rates in other customs, and their names in JSON."""


def table_of(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row for each set; `scores` as `Scores.to_json` gives them, now or before.

    CER and WER come with their intervals, unless pages are too few; older scores lack WER in other customs than between
    white space.
    """
    rows = [*scores["sets"], {"name": "all", **scores["overall"]}]
    width = max(len(row["name"]) for row in rows)
    known = [name for name in COUNTS if all(is_number(row.get(name)) for row in rows)]
    others = {title: name for title, name in OTHER_CUSTOMS.items() if all(is_rate(row.get(name, "")) for row in rows)}
    counts = "".join(f"  {name:>{COUNTS[name]}}" for name in known)
    titles = "".join(f"  {title:>13}" for title in others)
    lines = [f"{'set':{width}}{counts}  {'CER %':>20}  {'WER %':>20}{titles}"]
    for row in rows:
        cells = [f"{row[name]:>{COUNTS[name]},}" for name in known]
        cells += [f"{interval(row, rate):>20}" for rate in ("cer", "wer")]
        cells += [f"{figure(row[name]):>13}" for name in others.values()]
        lines.append("  ".join([f"{row['name']:{width}}", *cells]))
    return "\n".join(lines)


def is_number(value: Any) -> bool:
    """Whether there is a figure to show."""
    return isinstance(value, int | float)


def is_rate(value: Any) -> bool:
    """Whether there is a rate to show, or none because there was no text."""
    return value is None or is_number(value)


def figure(value: float | None, digits: int = 2, times: int = 100) -> str:
    """A figure, usually a rate in percent, or that there is none."""
    return "–" if value is None else f"{times * value:.{digits}f}"


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and the ends of its interval, if it has one, in percent."""
    if row[rate] is None:
        return figure(None)
    if row.get(f"{rate}_low") is None:
        return f"{figure(row[rate])} –"
    low, middle, high = (100 * row[name] for name in (f"{rate}_low", rate, f"{rate}_high"))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"
