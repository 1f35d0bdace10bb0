"""The characters of each split against those of training."""

from collections import Counter

from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.text.normalize import nfc

RARE = 3
"""Characters that occur less often in training are hardly learned."""


def alphabets(splits: Splits) -> list[Finding]:
    """Characters that a split has and training has not, and those that training has too seldom."""
    if "train" not in splits:
        return []
    counts = {name: Counter(c for sample in samples for c in nfc(sample.text)) for name, samples in splits.items()}
    learned = counts.pop("train")
    found = []
    for name, of_split in counts.items():
        unknown = Counter({character: n for character, n in of_split.items() if character not in learned})
        rows = [Row(sample.key) for sample in splits[name] if unknown.keys() & set(nfc(sample.text))]
        message = f"lines of {name} with characters that training lacks: {listed(unknown)}"
        found += finding_if(Severity.WARNING, "unknown characters", message, rows)
    rare = Counter({character: n for character, n in learned.items() if n < RARE})
    rows = [Row(sample.key) for sample in splits["train"] if rare.keys() & set(nfc(sample.text))]
    message = f"characters that training has less than {RARE} times: {listed(rare)}"
    return [*found, *finding_if(Severity.NOTE, "rare characters", message, rows)]


def listed(counts: Counter[str], limit: int = 20) -> str:
    """Characters with their numbers, the most frequent first."""
    shown = " ".join(f"{character}×{number}" for character, number in counts.most_common(limit))
    return shown + (" ..." if len(counts) > limit else "")
