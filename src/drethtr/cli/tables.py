"""Measured figures as a table for people."""

from collections.abc import Mapping
from typing import Any

OTHER_CUSTOMS = {"WER % punct.": "wer_punctuation", "WER % Unicode": "wer_unicode"}
"""Titles of the word error rates in other customs, and their names in JSON."""


def table_of(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row for each set; `scores` as `Scores.to_json` gives them, now or before.

    CER and WER come with their intervals; older scores lack WER in other customs than between white space.
    """
    rows = [*scores["sets"], {"name": "all", **scores["overall"]}]
    width = max(len(row["name"]) for row in rows)
    others = {title: name for title, name in OTHER_CUSTOMS.items() if all(is_number(row.get(name)) for row in rows)}
    titles = "".join(f"  {title:>13}" for title in others)
    lines = [f"{'set':{width}}  {'lines':>6}  {'characters':>10}  {'CER %':>20}  {'WER %':>20}{titles}"]
    for row in rows:
        rates = "  ".join(f"{interval(row, rate):>20}" for rate in ("cer", "wer"))
        rates += "".join(f"  {100 * row[name]:>13.2f}" for name in others.values())
        lines.append(f"{row['name']:{width}}  {row['lines']:>6,}  {row['characters']:>10,}  {rates}")
    return "\n".join(lines)


def is_number(value: Any) -> bool:
    """Whether there is a figure to show."""
    return isinstance(value, int | float)


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and the ends of its interval, in percent."""
    low, middle, high = (100 * row[name] for name in (f"{rate}_low", rate, f"{rate}_high"))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"
