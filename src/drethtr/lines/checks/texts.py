"""Find texts that are empty, damaged or encoded in two ways."""

import unicodedata
from collections import Counter

from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.lines.sample import Sample

REPLACEMENT = "\ufffd"


def empty_texts(splits: Splits) -> list[Finding]:
    """Find lines without text: training on them teaches the model to write nothing."""
    rows = [Row(sample.key) for samples in splits.values() for sample in samples if not sample.text.strip()]
    return finding_if(Severity.ERROR, "empty text", "lines without text; remove or transcribe them", rows)


def damaged_texts(splits: Splits) -> list[Finding]:
    """Find line breaks, control characters and encoding errors; private-use characters are only a note."""
    every = [sample for samples in splits.values() for sample in samples]
    broken = [Row(sample.key) for sample in every if REPLACEMENT in sample.text or has(sample, ("Cc", "Cs"))]
    private = Counter(c for sample in every for c in sample.text if unicodedata.category(c) in ("Co", "Cn"))
    rows = [Row(sample.key) for sample in every if has(sample, ("Co", "Cn"))]
    shown = " ".join(f"U+{ord(character):04X}×{number}" for character, number in private.most_common(8))
    return [
        *finding_if(Severity.ERROR, "damaged text", "texts with line breaks, control characters or U+FFFD", broken),
        *finding_if(
            Severity.WARNING, "private characters", f"private-use characters, which no standard defines: {shown}", rows
        ),
    ]


def has(sample: Sample, categories: tuple[str, ...]) -> bool:
    """Whether a text contains a character of the given Unicode categories."""
    return any(unicodedata.category(character) in categories for character in sample.text)


def normal_forms(splits: Splits) -> list[Finding]:
    """Find texts with combining accents beside precomposed ones; drethtr converts both to NFC."""
    composed, decomposed = [], []
    for sample in (sample for samples in splits.values() for sample in samples):
        if not unicodedata.is_normalized("NFC", sample.text):
            decomposed.append(Row(sample.key))
        elif not unicodedata.is_normalized("NFD", sample.text):
            composed.append(Row(sample.key))
    severity = Severity.WARNING if composed else Severity.NOTE
    mixed = f", while {len(composed):,} others are" if composed else ""
    return finding_if(
        severity,
        "normal form",
        f"texts not in NFC{mixed}; drethtr normalizes them, other tools may not",
        decomposed,
    )
