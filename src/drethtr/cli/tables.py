"""Format error rates as tables."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import Recognizer

COUNTS = {"lines": 6, "drawn": 6, "characters": 10}
"""Counts that rates are based on, with column widths; older scores lack `drawn`, the number of resampled pages."""

TITLES = {"drawn": "pages"}
"""Column titles that differ from the names in JSON."""

OTHER_CONVENTIONS = {"WER % punct.": "wer_punctuation", "WER % Unicode": "wer_unicode"}
"""Titles of word error rates by other conventions, with their names in JSON."""


class EvaluationResult(NamedTuple):
    """A result as text, and as plain values for JSON; whether it is complete, with every input."""

    text: str
    figures: Mapping[str, Any]
    complete: bool = True


def read_by(recognizer: "Recognizer") -> str:
    """Which model, decoder and precision read the lines, as text."""
    from drethtr.pages.record import provenance_of
    from drethtr.recognition.decoding.strategies import name_of

    decoder, precision = name_of(recognizer.strategy), recognizer.precision.value
    return f"Read with {provenance_of(recognizer)}, decoder {decoder}, {precision}."


def table_of(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per set, from `Scores.to_json` of this or an older version.

    CER and WER have intervals if there are enough pages; older scores have WER by one convention only.
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
    """A formatted figure, usually a rate in percent; a dash for None."""
    return "–" if value is None else f"{times * value:.{digits}f}"


def interval(row: Mapping[str, Any], rate: str) -> str:
    """A rate and its interval, if it has one, in percent."""
    if row[rate] is None:
        return figure(None)
    if row.get(f"{rate}_low") is None:
        return f"{figure(row[rate])} –"
    low, middle, high = (100 * row[name] for name in (f"{rate}_low", rate, f"{rate}_high"))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"
