"""Find characters that look alike: letters of another script in a word, and several signs for the same thing."""

import unicodedata
from collections import Counter

from drethtr.lines.checks.finding import Finding, Row, Severity, Splits, finding_if

SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")

SIGNS = {
    "dashes": "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    "apostrophes": "'\u2019\u2018\u02bc\u00b4`\u2032",
    "quotation marks": '"\u201c\u201d\u201e\u201f\u2033',
    "spaces": " \u00a0\u2009\u202f\u2003\u2002",
    "long and round s": "s\u017f",
}
"""Families of signs that can stand for the same thing on paper."""

PAIRS = (("\u017f", "f"), ("0", "O"), ("0", "o"), ("1", "l"), ("1", "I"), ("|", "l"), ("|", "I"))
"""Characters that transcribers confuse: long s and f, digits and letters."""

USUAL = 10
"""The intended word must be at least this many times more frequent."""


def mixed_scripts(splits: Splits) -> list[Finding]:
    """Find words with letters of two scripts, usually a Cyrillic or Greek look-alike in a Latin word."""
    rows, words = [], Counter[str]()
    for sample in (sample for samples in splits.values() for sample in samples):
        mixed = [word for word in sample.text.split() if len(scripts_of(word)) > 1]
        words.update(mixed)
        if mixed:
            rows.append(Row(sample.key))
    shown = ", ".join(f"{word} ({spelled(word)})" for word, _ in words.most_common(5))
    return finding_if(Severity.WARNING, "mixed scripts", f"words of two scripts: {shown}", rows)


def scripts_of(word: str) -> set[str]:
    """The scripts of a word's letters, among those that have look-alikes."""
    names = (unicodedata.name(character, "") for character in word if not character.isascii() or character.isalpha())
    return {script for name in names for script in SCRIPTS if name.startswith(script)}


def spelled(word: str) -> str:
    """The code points of the letters that belong to a word's rarer script."""
    scripts = [(character, next(iter(scripts_of(character)), "")) for character in word]
    counts = Counter(script for _, script in scripts if script)
    rarer = counts.most_common()[-1][0]
    return " ".join(f"{script.title()} {character}" for character, script in scripts if script == rarer)


def confused_letters(splits: Splits) -> list[Finding]:
    """Find words with a look-alike that are far more frequent with the right character: `oſ` among many `of`."""
    swaps = [pair for first, second in PAIRS for pair in ((first, second), (second, first))]
    every = [sample for samples in splits.values() for sample in samples]
    words = Counter(word for sample in every for word in sample.text.split())
    meant = {
        word: other
        for word, number in words.items()
        for wrong, right in swaps
        if wrong in word and words.get(other := word.replace(wrong, right), 0) >= USUAL * number
    }
    rows = [Row(sample.key) for sample in every if meant.keys() & set(sample.text.split())]
    shown = ", ".join(f"{word} for {other} ×{words[word]}" for word, other in list(meant.items())[:5])
    return finding_if(Severity.WARNING, "confused letters", f"a look-alike in a common word: {shown}", rows)


def mixed_signs(splits: Splits) -> list[Finding]:
    """Find several signs for the same thing; worse if a split has one that training never uses."""
    found = []
    for family, signs in SIGNS.items():
        counts = {
            name: Counter(character for sample in samples for character in sample.text if character in signs)
            for name, samples in splits.items()
        }
        total = sum(counts.values(), Counter())
        if len(total) < 2:
            continue
        learned = counts.get("train", total)
        strange = total.keys() - learned.keys()
        usual = max(total, key=lambda sign: total[sign])
        rows = [
            Row(sample.key)
            for samples in splits.values()
            for sample in samples
            if set(sample.text) & (total.keys() - {usual})
        ]
        shown = ", ".join(f"{named(sign)} {number:,}" for sign, number in total.most_common())
        severity = Severity.WARNING if strange else Severity.NOTE
        why = f"; not in training: {', '.join(map(named, sorted(strange)))}" if strange else ""
        found += finding_if(severity, "look-alike signs", f"less frequent variants of {family} ({shown}{why})", rows)
    return found


def named(sign: str) -> str:
    """A sign with its code point, since many signs look alike."""
    return f"{sign} U+{ord(sign):04X}"
