"""`drethtr evaluate` without further options: error rates of lines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drethtr.cli.tables import EvaluationResult, read_by, table_of
from drethtr.cli.trust_table import trust_table

if TYPE_CHECKING:
    from drethtr.evaluation.evaluate import Scores
    from drethtr.recognition.recognizer import Recognizer


def evaluate_lines(
    recognizer: "Recognizer", data: Sequence[str], limit: int | None, seed: int, *, confidence: bool
) -> EvaluationResult:
    """Read lines and compare them with their texts, with a progress bar.

    Args:
        confidence: Also show how reliable confidences and flags are.

    Raises:
        DataError: if lines cannot be used, or there are none with text.
    """
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import evaluate, to_read
    from drethtr.lines.sources import open_all

    samples = open_all(data)
    with tqdm(total=len(to_read(samples, limit, seed)), unit="line", disable=None) as bar:
        scores = evaluate(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    text = summary(scores, recognizer)
    if confidence:
        text += "\n\n" + trust_table(scores.to_json()["trust"])
    return EvaluationResult(text, scores.to_json())


def summary(scores: "Scores", recognizer: "Recognizer") -> str:
    """The error rates and their conditions, as text."""
    found = scores.to_json()
    parts = [table_of(found), "", found["convention"], found["word_conventions"], read_by(recognizer)]
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
