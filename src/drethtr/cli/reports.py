"""Tables of figures on a terminal, and the reports that several commands print."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drethtr.evaluation.confidence import MeasuredConfidence, Reliability
    from drethtr.recognition.recognizer import Recognizer


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


NOT_CALIBRATED = "This model's confidences are not calibrated for this decoder; run drethtr model calibrate."

COUNTS = {"lines": "lines", "drawn": "pages", "characters": "characters"}
"""Counts that rates are based on, with their titles; older scores lack `drawn`, the number of resampled pages."""

OTHER_CONVENTIONS = {"WER % punct.": "wer_punctuation", "WER % Unicode": "wer_unicode"}
"""Titles of word error rates by other conventions, with their names in JSON."""


class EvaluationResult(NamedTuple):
    """A result as text and as plain values for JSON, whether it covers every input, and a row for each line."""

    text: str
    figures: Mapping[str, Any]
    complete: bool = True
    lines: Iterable[Mapping[str, Any]] = ()


def read_by(recognizer: "Recognizer") -> str:
    """Which model, decoder and precision read the lines, as text."""
    settings = recognizer.settings
    return f"Read with {recognizer.provenance()}, decoder {settings['decoder']}, {settings['precision']}."


def error_rates(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per set, from `Scores.to_json` of this or an older version.

    CER and WER have intervals if there are enough pages; older scores have WER by one convention only.
    """
    rows = [*scores["sets"], {"name": "all", **scores["overall"]}]
    counts = [name for name in COUNTS if all(isinstance(row.get(name), int | float) for row in rows)]
    others = {
        title: name
        for title, name in OTHER_CONVENTIONS.items()
        if all(isinstance(row.get(name, ""), int | float | None) for row in rows)
    }
    return table(
        ["set", *(COUNTS[name] for name in counts), "CER %", "WER %", *others],
        [
            [
                row["name"],
                *(f"{row[name]:,}" for name in counts),
                *(interval(row, rate) for rate in ("cer", "wer")),
                *(figure(row[name]) for name in others.values()),
            ]
            for row in rows
        ],
    )


def measured_confidence(measured: "MeasuredConfidence", sets: "Mapping[str, MeasuredConfidence]") -> str:
    """How reliable confidences and flags are, in percent: of all lines, and if there are several sets, of each."""
    from drethtr.evaluation.confidence import CONVENTION

    parts = [overview(measured), "", *reliability(measured), "", *flags(measured), ""]
    if len(sets) > 1:
        parts += [confidence_of_sets(sets.items()), ""]
    parts.append(CONVENTION)
    return "\n".join(parts if measured.calibrated else [*parts, NOT_CALIBRATED])


def overview(measured: "MeasuredConfidence") -> str:
    """Calibration errors, and error rates of the most confident shares."""
    shares = list(measured.words.coverage)
    surest = [f"surest {float(share):.0%}" for share in shares[1:]]
    return table(
        ["confidence of", "number", "right %", "ECE %", "AUROC", "wrong %", *surest],
        [
            [
                level,
                f"{found.cases:,}",
                figure(found.right),
                figure(found.ece),
                figure(found.auroc, 3, 1),
                *(figure(found.coverage[share]) for share in shares),
            ]
            for level, found in (
                ("characters", measured.characters),
                ("words", measured.words),
                ("lines", measured.lines),
            )
        ],
    )


def reliability(measured: "MeasuredConfidence") -> Iterator[str]:
    """Confidence and accuracy, in bins of similar confidence."""
    yield "confidence % → right % (number)"
    for level, found in (("characters", measured.characters), ("words", measured.words)):
        groups = (f"{100 * some.confidence:.0f} → {100 * some.right:.0f} ({some.cases:,})" for some in found.bins)
        yield f"{level:13}  " + "   ".join(groups)


def confidence_of_sets(sets: "Iterable[tuple[str, MeasuredConfidence]]") -> str:
    """The reliability of confidences on each set."""
    titles = ("right %", "confidence %", "ECE %", "AUROC")
    return table(
        ["set", "lines", "words", *titles, "characters", *titles],
        [
            [name, f"{found.lines.cases:,}", *confidence_cells(found.words), *confidence_cells(found.characters)]
            for name, found in sets
        ],
    )


def confidence_cells(found: "Reliability") -> list[str]:
    """The reliability for words or characters, as part of a row."""
    rates = [figure(rate, 1) for rate in (found.right, found.confidence, found.ece)]
    return [f"{found.cases:,}", *rates, figure(found.auroc, 3, 1)]


def flags(measured: "MeasuredConfidence") -> Iterator[str]:
    """The share of flagged lines, and the CER of flagged and other lines."""
    yield "lines flagged %: " + ", ".join(f"{kind} {100 * share:.2f}" for kind, share in measured.flagged.items())
    flagged, others = figure(measured.cer_flagged), figure(measured.cer_unflagged)
    yield f"CER %: {flagged} of flagged lines, {others} of the others"
