"""Measured figures as a table."""

from collections.abc import Mapping
from typing import Any, NamedTuple

COUNTS = {"lines": 6, "drawn": 6, "characters": 10}
"""What rates are based on, and the widths of the columns; older scores lack `drawn`, the pages that were resampled."""

TITLES = {"drawn": "pages"}
"""Titles of columns that are not their names in JSON."""

OTHER_CONVENTIONS = {"WER % punct.": "wer_punctuation", "WER % Unicode": "wer_unicode"}
"""Titles of word error rates by other conventions, and their names in JSON."""


class EvaluationResult(NamedTuple):
    """What was found, for people and for programs."""

    text: str
    figures: Mapping[str, Any]


def table_of(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row for each set; `scores` as `Scores.to_json` gives them, now or before.

    CER and WER have their intervals, unless there are too few pages; older scores have WER by one convention only.
    """
    rows = [*scores["sets"], {"name": "all", **scores["overall"]}]
    width = max(len(row["name"]) for row in rows)
    known = [name for name in COUNTS if all(is_number(row.get(name)) for row in rows)]
    others = {
        title: name for title, name in OTHER_CONVENTIONS.items() if all(is_rate(row.get(name, "")) for row in rows)
    }
    counts = "".join(f"  {TITLES.get(name, name):>{COUNTS[name]}}" for name in known)
    titles = "".join(f"  {title:>13}" for title in others)
    lines = [f"{'set':{width}}{counts}  {'CER %':>20}  {'WER %':>20}{titles}"]
    for row in rows:
        cells = [f"{row[name]:>{COUNTS[name]},}" for name in known]
        cells += [f"{interval(row, rate):>20}" for rate in ("cer", "wer")]
        cells += [f"{figure(row[name]):>13}" for name in others.values()]
        lines.append("  ".join([f"{row['name']:{width}}", *cells]))
    return "\n".join(lines)


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float)


def is_rate(value: Any) -> bool:
    """Whether a value is a rate, or None because there was no text."""
    return value is None or is_number(value)


def figure(value: float | None, digits: int = 2, times: int = 100) -> str:
    """A figure, usually a rate in percent; a dash if there is none."""
    return "–" if value is None else f"{times * value:.{digits}f}"


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and the ends of its interval, if it has one, in percent."""
    if row[rate] is None:
        return figure(None)
    if row.get(f"{rate}_low") is None:
        return f"{figure(row[rate])} –"
    low, middle, high = (100 * row[name] for name in (f"{rate}_low", rate, f"{rate}_high"))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"
