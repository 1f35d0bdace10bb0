"""Tables of how reliable confidences and flags are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drethtr.cli.tables import figure

LEVELS = ("characters", "words", "lines")
NOT_CALIBRATED = "This model's confidences are not calibrated for this decoder; run drethtr calibrate."


def trust_table(trust: Mapping[str, Any]) -> str:
    """All figures of `Trustworthiness.to_json`, in percent."""
    parts = [*overview(trust), "", *reliability(trust), "", *flags(trust), ""]
    if len(trust["sets"]) > 1:
        parts += [*of_sets(trust["sets"]), ""]
    parts.append(trust["convention"])
    return "\n".join(parts if trust["calibrated"] else [*parts, NOT_CALIBRATED])


def overview(trust: Mapping[str, Any]) -> Iterator[str]:
    """Calibration errors, and error rates of the most confident shares."""
    coverages = list(trust["words"]["coverage"])
    surest = "".join(f"  {f'surest {float(share):.0%}':>11}" for share in coverages[1:])
    yield f"{'confidence of':13}  {'number':>9}  {'right %':>7}  {'ECE %':>6}  {'AUROC':>6}  {'wrong %':>11}{surest}"
    for level in LEVELS:
        found = trust[level]
        errors = "".join(f"  {figure(found['coverage'][share]):>11}" for share in coverages)
        yield (
            f"{level:13}  {found['cases']:>9,}  {figure(found['right']):>7}  {figure(found['ece']):>6}  "
            f"{figure(found['auroc'], 3, 1):>6}{errors}"
        )


def reliability(trust: Mapping[str, Any]) -> Iterator[str]:
    """Confidence and accuracy, in bins of similar confidence."""
    yield "confidence % → right % (number)"
    for level in ("characters", "words"):
        groups = (
            f"{100 * group['confidence']:.0f} → {100 * group['right']:.0f} ({group['cases']:,})"
            for group in trust[level]["bins"]
        )
        yield f"{level:13}  " + "   ".join(groups)


def of_sets(sets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The reliability of confidences on each set, from the result of `sets_to_json`."""
    width = max(len("set"), *(len(found["name"]) for found in sets))
    yield (
        f"{'set':{width}}  {'lines':>6}  {'words':>7}  {'right %':>7}  {'confidence %':>12}  {'ECE %':>6}  {'AUROC':>6}"
        f"  {'characters':>10}  {'right %':>7}  {'confidence %':>12}  {'ECE %':>6}  {'AUROC':>6}"
    )
    for found in sets:
        yield f"{found['name']:{width}}  {found['lines']:>6,}  {level_row(found['words'], 7)}  " + level_row(
            found["characters"], 10
        )


def level_row(found: Mapping[str, Any], width: int) -> str:
    """The reliability for words or characters, as part of a row."""
    return (
        f"{found['cases']:>{width},}  {figure(found['right'], 1):>7}  {figure(found['confidence'], 1):>12}  "
        f"{figure(found['ece'], 1):>6}  {figure(found['auroc'], 3, 1):>6}"
    )


def flags(trust: Mapping[str, Any]) -> Iterator[str]:
    """The share of flagged lines, and the CER of flagged and other lines."""
    yield "lines flagged %: " + ", ".join(f"{kind} {100 * share:.2f}" for kind, share in trust["flagged"].items())
    flagged, others = (figure(trust[name]) for name in ("cer_flagged", "cer_unflagged"))
    yield f"CER %: {flagged} of flagged lines, {others} of the others"
