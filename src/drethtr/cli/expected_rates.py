"""The reports of `drethtr model predict-cer`: expected CER of pages, and of sets beside the true CER."""

from typing import TYPE_CHECKING, Any, TypeAlias

from drethtr.base.wording import counted
from drethtr.cli.tables import figure
from drethtr.cli.trust_table import NOT_CALIBRATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drethtr.evaluation.predict import Pair, Prediction
    from drethtr.recognition.confidence.error_rate import ErrorRate, Expected, TotalDoubt

Report: TypeAlias = tuple[str, dict[str, Any]]
"""The result as text and as plain values."""

SHOWN = 30  # pages in the table; --json has them all
PAGE = 100  # least characters for which the CER of a page is meaningful


def predicted(rate: "ErrorRate", pairs: "Sequence[Pair]", failed: int) -> Report:
    """Expected CER of each page and of all lines; `failed` more images could not be read."""
    from drethtr.datasets.sample import page_of
    from drethtr.evaluation.predict import grouped
    from drethtr.recognition.confidence.error_rate import doubt_of

    groups = grouped(pairs, lambda sample: page_of(sample) or sample.set)
    pages = {name: doubt_of(reading for _, reading in of_page) for name, of_page in groups.items()}
    overall = doubt_of(reading for _, reading in pairs)
    width = max(len("all"), *(len(name) for name in list(pages)[:SHOWN]))
    lines = [f"{'page':{width}}  {'lines':>6}  {'characters':>10}  {'expected CER %':>22}"]
    lines += [row(name, found, rate, width) for name, found in list(pages.items())[:SHOWN]]
    if len(pages) > SHOWN:
        lines.append(f"... {len(pages) - SHOWN:,} more pages; --json has all")
    lines.append(row("all", overall, rate, width))
    if overall.empty:
        lines.append(f"No text was found on {overall.empty:,} lines; any text missed there is not counted.")
    if failed:
        lines.append(f"{failed:,} of {failed + len(pairs):,} images could not be used and are not counted.")
    if any(not reading.calibrated for _, reading in pairs):
        lines.append(NOT_CALIBRATED)
    return "\n".join(lines), {
        "pages": [{"page": name, **plain(found, rate)} for name, found in pages.items()],
        "overall": plain(overall, rate),
        "failed": failed,
    }


def row(name: str, found: "TotalDoubt", rate: "ErrorRate", width: int) -> str:
    """A row of the table."""
    expected = "nothing read" if found.empty == found.lines else interval(rate(found))
    return f"{name:{width}}  {found.lines:>6,}  {found.characters:>10,}  {expected:>22}"


def interval(expected: "Expected") -> str:
    """A rate and its interval in percent."""
    return f"{100 * expected.cer:.1f} [{100 * expected.low:.1f}, {100 * expected.high:.1f}]"


def plain(found: "TotalDoubt", rate: "ErrorRate") -> dict[str, Any]:
    """Expected rates as plain values, in fractions."""
    return {"lines": found.lines, "characters": found.characters, "empty": found.empty, **rate(found)._asdict()}


def compared(rate: "ErrorRate", pairs: "Sequence[Pair]") -> Report:
    """Expected CER of each set beside the true one."""
    from drethtr.evaluation.predict import page_or_line, predict

    return table(predict(rate, pairs), predict(rate, pairs, page_or_line), "by the model's own fit")


def table(predictions: "Sequence[Prediction]", pages: "Sequence[Prediction]", how: str) -> Report:
    """Expected and true CER of sets, and the mean errors of the prediction for sets and pages."""
    width = max(len("set"), *(len(one.name) for one in predictions))
    lines = [f"{'set':{width}}  {'lines':>6}  {'expected CER %':>22}  {'CER %':>6}"]
    for one in predictions:
        mark = "  outside" if one.inside is False else ""
        expected = f"{interval(one.expected):>22}"
        lines.append(f"{one.name:{width}}  {one.lines:>6,}  {expected}  {figure(one.cer, 1):>6}{mark}")
    known = [one for one in predictions if one.cer is not None]
    long = [page for page in pages if page.characters >= PAGE and page.cer is not None]
    lines.append(f"Predicted {how}:")
    for group, what, which in ((known, "set", ""), (long, "page", f" of {PAGE} characters or more")):
        if group:
            lines.append(f"  {counted(len(group), what)}{which}: {errors(group)}")
    sets = [
        {"name": one.name, "lines": one.lines, "truth": one.cer, "inside": one.inside, **one.expected._asdict()}
        for one in predictions
    ]
    return "\n".join(lines), {"sets": sets, "of_sets": agreement(known), "of_pages": agreement(long)}


def errors(predictions: "Sequence[Prediction]") -> str:
    """How accurate the predictions are, as text."""
    found = agreement(predictions)
    return (
        f"mean absolute error {100 * found['mean_absolute_error']:.1f} points, "
        f"true CER inside the interval for {found['inside']:,}"
    )


def agreement(predictions: "Sequence[Prediction]") -> dict[str, Any]:
    """How accurate the predictions are, as plain values."""
    from drethtr.evaluation.predict import mean_absolute_error

    return {
        "number": len(predictions),
        "mean_absolute_error": mean_absolute_error(predictions) if predictions else None,
        "inside": sum(bool(one.inside) for one in predictions),
    }
