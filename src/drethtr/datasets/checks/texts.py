"""Find texts that are empty, damaged, encoded in two ways, or spelled with characters that only look right."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from unicodedata import category

from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, all_lines, finding_if
from drethtr.datasets.text_files import is_quoted
from drethtr.text.alphabet import NOT_LEARNED, right_to_left
from drethtr.text.normalize import for_scoring, is_invisible, marks_in, visible

REPLACEMENT = "\ufffd"

ESCAPED = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")

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

RARE = 3
"""Characters that occur less often than this in training are hardly learned."""


def parts_in(splits: Splits, find: Callable[[str], Iterable[str]]) -> tuple[list[Row], Counter[str]]:
    """The lines in whose texts `find` finds something, and how often it finds each part of a text."""
    rows, counts = [], Counter[str]()
    for sample in all_lines(splits):
        if found := list(find(sample.text)):
            rows.append(Row(sample.key))
            counts.update(found)
    return rows, counts


def code_points(counts: Counter[str]) -> str:
    """The code points of the most frequent characters, with their counts."""
    return " ".join(f"U+{ord(character):04X}×{number}" for character, number in counts.most_common(8))


def empty_texts(splits: Splits) -> list[Finding]:
    """Find lines without text: training on them teaches the model to write nothing."""
    rows = [Row(sample.key) for sample in all_lines(splits) if not sample.text.strip()]
    return finding_if(Severity.ERROR, "empty text", "lines without text; remove or transcribe them", rows)


def damaged_texts(splits: Splits) -> list[Finding]:
    """Find line breaks, control characters and encoding errors; private-use characters are only a note."""
    broken, _ = parts_in(splits, lambda text: [c for c in text if c == REPLACEMENT or category(c) in ("Cc", "Cs")])
    private, counts = parts_in(splits, lambda text: [c for c in text if category(c) in ("Co", "Cn")])
    message = f"private-use characters, which no standard defines: {code_points(counts)}"
    return [
        *finding_if(Severity.ERROR, "damaged text", "texts with line breaks, control characters or U+FFFD", broken),
        *finding_if(Severity.WARNING, "private characters", message, private),
    ]


def invisible_characters(splits: Splits) -> list[Finding]:
    """Find invisible characters, such as soft hyphens and zero-width spaces; drethtr leaves them out."""
    rows, counts = parts_in(splits, unseen)
    message = f"invisible characters, which drethtr leaves out and other tools count as letters: {code_points(counts)}"
    return finding_if(Severity.WARNING, "invisible characters", message, rows)


def unseen(text: str) -> str:
    """The characters of a text that are left out since nobody sees them."""
    return "" if visible(text) == text else "".join(filter(is_invisible, text))


def editorial_marks(splits: Splits) -> list[Finding]:
    """Find lines that are not clean, for example with editorial marks; they are not used for training or evaluation."""
    every = [sample for sample in all_lines(splits) if not sample.clean]
    counts = Counter(mark for sample in every for mark in marks_in(sample.text))
    rows = [Row(sample.key, " ".join(marks_in(sample.text))) for sample in every]
    shown = ", ".join(f"{mark[:20]} ×{number}" for mark, number in counts.most_common(8))
    marks = f"; editorial marks: {shown}" if counts else ""
    message = f"lines that are not clean, left out of training and evaluation{marks}"
    return finding_if(Severity.NOTE, "editorial marks", message, rows)


def quoted_cells(splits: Splits) -> list[Finding]:
    """Find texts still quoted as CSV cells, in tables that also have texts with other quotation marks."""
    every = all_lines(splits)
    rows = [Row(sample.key) for sample in every if is_quoted(sample.text) and '""' in sample.text[1:-1]]
    message = "texts with doubled quotation marks inside quotation marks, as a spreadsheet writes cells; unquote them"
    return finding_if(Severity.WARNING, "quoted cells", message, rows)


def escaped_characters(splits: Splits) -> list[Finding]:
    """Find texts such as `Hoffmann &amp; Söhne`, which were escaped twice on their way into XML or HTML."""
    rows, counts = parts_in(splits, ESCAPED.findall)
    shown = ", ".join(f"{escape} ×{number}" for escape, number in counts.most_common(8))
    message = f"texts with characters that are still escaped, as in XML or HTML; unescape them: {shown}"
    return finding_if(Severity.WARNING, "escaped characters", message, rows)


def normal_forms(splits: Splits) -> list[Finding]:
    """Find texts with combining accents beside precomposed ones; drethtr converts both to NFC."""
    composed, decomposed = [], []
    for sample in all_lines(splits):
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


def mixed_scripts(splits: Splits) -> list[Finding]:
    """Find words with letters of two scripts, usually a Cyrillic or Greek look-alike in a Latin word."""
    rows, words = parts_in(splits, lambda text: [word for word in text.split() if len(scripts_of(word)) > 1])
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
    # Either may be the mistake: the rarer word counts as one only if the other is `USUAL` times as frequent.
    swaps = [pair for first, second in PAIRS for pair in ((first, second), (second, first))]
    every = all_lines(splits)
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
    """Find several signs for the same thing; more severe if a split has one that training never uses."""
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


def right_to_left_letters(splits: Splits) -> list[Finding]:
    """Find letters that are written from right to left, which models do not learn."""
    rows, counts = parts_in(splits, right_to_left)
    return finding_if(Severity.WARNING, "right to left", f"{NOT_LEARNED}: {listed(counts)}", rows)


def listed(counts: Counter[str], limit: int = 20) -> str:
    """Characters with their counts, most frequent first."""
    shown = " ".join(f"{character}×{number}" for character, number in counts.most_common(limit))
    return shown + (" …" if len(counts) > limit else "")
