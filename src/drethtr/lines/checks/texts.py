"""Texts that are empty, damaged or spelled in two ways."""

import unicodedata
from collections import Counter

from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.lines.sample import Sample

REPLACEMENT = "\ufffd"


def empty_texts(splits: Splits) -> list[Finding]:
    """Lines without a character: training on them teaches silence."""
    rows = [Row(sample.key) for samples in splits.values() for sample in samples if not sample.text.strip()]
    return finding_if(Severity.ERROR, "empty text", "nothing to learn from; remove the lines or transcribe them", rows)


def damaged_texts(splits: Splits) -> list[Finding]:
    """Line breaks, controls and what a wrong encoding leaves behind; private characters are only told of."""
    every = [sample for samples in splits.values() for sample in samples]
    broken = [Row(sample.key) for sample in every if REPLACEMENT in sample.text or has(sample, ("Cc", "Cs"))]
    private = Counter(c for sample in every for c in sample.text if unicodedata.category(c) in ("Co", "Cn"))
    rows = [Row(sample.key) for sample in every if has(sample, ("Co", "Cn"))]
    shown = " ".join(f"U+{ord(character):04X}×{number}" for character, number in private.most_common(8))
    return [
        *finding_if(Severity.ERROR, "damaged text", "texts with line breaks, control characters or U+FFFD", broken),
        *finding_if(Severity.WARNING, "private characters", f"characters that no standard names: {shown}", rows),
    ]


def has(sample: Sample, categories: tuple[str, ...]) -> bool:
    """Whether a text holds a character of some Unicode categories."""
    return any(unicodedata.category(character) in categories for character in sample.text)


def normal_forms(splits: Splits) -> list[Finding]:
    """Accents written as a character of their own beside the one-character spelling; drethtr reads both as NFC."""
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
        f"texts not in NFC{mixed}; drethtr reads both alike, other tools do not",
        decomposed,
    )
