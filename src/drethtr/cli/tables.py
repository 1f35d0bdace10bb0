"""Measured figures as a table for people."""

from collections.abc import Mapping
from typing import Any


def table_of(scores: Mapping[str, Any]) -> str:
    """Error rates in percent with their intervals, a row for each set; `scores` as `Scores.to_json` gives them."""
    rows = [*scores["sets"], {"name": "all", **scores["overall"]}]
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'set':{width}}  {'lines':>6}  {'characters':>10}  {'CER %':>20}  {'WER %':>20}"]
    for row in rows:
        rates = "  ".join(f"{interval(row, rate):>20}" for rate in ("cer", "wer"))
        lines.append(f"{row['name']:{width}}  {row['lines']:>6,}  {row['characters']:>10,}  {rates}")
    return "\n".join(lines)


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and the ends of its interval, in percent."""
    low, middle, high = (100 * row[name] for name in (f"{rate}_low", rate, f"{rate}_high"))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"
