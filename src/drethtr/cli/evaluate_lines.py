"""`drethtr evaluate` without further options: error rates of lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from drethtr.base.files import write_text
from drethtr.base.wording import counted
from drethtr.cli.progress import report_skipped
from drethtr.cli.tables import EvaluationResult, read_by, table_of
from drethtr.cli.trust_table import trust_table

if TYPE_CHECKING:
    from drethtr.evaluation.evaluate import Scores
    from drethtr.recognition.recognizer import Recognizer


def evaluate_lines(
    recognizer: "Recognizer",
    data: Sequence[str],
    limit: int | None,
    seed: int,
    *,
    confidence: bool,
    per_line: Path | None,
) -> EvaluationResult:
    """Read lines and compare them with their texts, with a progress bar; images that cannot be used are reported.

    Args:
        confidence: Also show how reliable confidences and flags are.
        per_line: Also write a row for each line to this file.

    Raises:
        DataError: if the data cannot be used, or there are no lines with text.
    """
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import evaluate, to_read
    from drethtr.lines.sources import open_all

    samples = open_all(data)
    with tqdm(total=len(to_read(samples, limit, seed)), unit="line", disable=None) as bar:
        scores = evaluate(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    for error in scores.unreadable:
        report_skipped(error)
    if per_line is not None:
        rows = (json.dumps(line.to_json(), ensure_ascii=False) for line in scores.lines)
        write_text(per_line, "".join(f"{row}\n" for row in rows))
    text = summary(scores, recognizer)
    if confidence:
        text += "\n\n" + trust_table(scores.to_json()["trust"])
    return EvaluationResult(text, scores.to_json(), complete=not scores.unreadable)


def summary(scores: "Scores", recognizer: "Recognizer") -> str:
    """The error rates and their conditions, as text."""
    found = scores.to_json()
    overall = found["overall"]
    edits = (
        f"Characters: {overall['substitutions']:,} substituted, {overall['insertions']:,} inserted, "
        f"{overall['deletions']:,} deleted."
    )
    parts = [table_of(found), "", edits, found["convention"], found["word_conventions"], read_by(recognizer)]
    if scores.unreadable:
        parts.append(f"Left out because the image cannot be used: {counted(len(scores.unreadable), 'line')}.")
    if scores.left_out:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.left_out.items())
        parts.append(f"Left out because of editorial marks or uncertain letters: {sets}.")
    if scores.empty:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.empty.items())
        parts.append(f"Lines without text, where anything read counts as an error: {sets}.")
    if scores.unknown:
        shown = " ".join(f"{character}×{number}" for character, number in list(scores.unknown.items())[:12])
        parts.append(f"{sum(scores.unknown.values())} characters are not in the model's alphabet: {shown}")
    return "\n".join(parts)
