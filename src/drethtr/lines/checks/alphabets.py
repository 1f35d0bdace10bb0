"""Compare the characters of each split with those of training."""

from collections import Counter

from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.text.alphabet import NOT_LEARNED, right_to_left
from drethtr.text.normalize import for_scoring

RARE = 3
"""Characters that occur less often than this in training are hardly learned."""


def alphabets(splits: Splits) -> list[Finding]:
    """Find characters that are missing from training, or rare in it."""
    if "train" not in splits:
        return []
    counts = {
        name: Counter(c for sample in samples for c in for_scoring(sample.text)) for name, samples in splits.items()
    }
    learned = counts.pop("train")
    found = []
    for name, of_split in counts.items():
        unknown = Counter({character: n for character, n in of_split.items() if character not in learned})
        rows = [Row(sample.key) for sample in splits[name] if unknown.keys() & set(for_scoring(sample.text))]
        message = f"lines of {name} with characters missing from training: {listed(unknown)}"
        found += finding_if(Severity.WARNING, "unknown characters", message, rows)
    rare = Counter({character: n for character, n in learned.items() if n < RARE})
    rows = [Row(sample.key) for sample in splits["train"] if rare.keys() & set(for_scoring(sample.text))]
    message = f"characters that occur fewer than {RARE} times in training: {listed(rare)}"
    return [*found, *finding_if(Severity.NOTE, "rare characters", message, rows)]


def written_backwards(splits: Splits) -> list[Finding]:
    """Find letters that are written from right to left, which models do not learn."""
    every = [sample for samples in splits.values() for sample in samples]
    counts = Counter(letter for sample in every for letter in right_to_left(sample.text))
    rows = [Row(sample.key) for sample in every if right_to_left(sample.text)]
    return finding_if(Severity.WARNING, "right to left", f"{NOT_LEARNED}: {listed(counts)}", rows)


def listed(counts: Counter[str], limit: int = 20) -> str:
    """Characters with their counts, most frequent first."""
    shown = " ".join(f"{character}×{number}" for character, number in counts.most_common(limit))
    return shown + (" ..." if len(counts) > limit else "")
