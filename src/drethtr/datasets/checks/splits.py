"""Find lines and pages that are in two splits, or twice in one."""

from collections import Counter, defaultdict
from collections.abc import Callable

from drethtr.base.errors import DataError
from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, finding_if
from drethtr.datasets.sample import Sample, fingerprint, page_of
from drethtr.text.normalize import for_scoring

SENTENCE = 20
"""Shorter texts, such as dates and names, may occur twice by coincidence."""


def leaks(splits: Splits) -> list[Finding]:
    """Find images and pages in more than one split, which make metrics too good."""
    return [
        *leak(splits, image_mark, "the same image", "images in more than one split"),
        *leak(splits, page_of, "the same page", "lines of pages that are in more than one split"),
    ]


def leak(splits: Splits, mark: Callable[[Sample], bytes | str | None], check: str, message: str) -> list[Finding]:
    """Find lines of one split that share a mark with lines of another; empty marks are ignored."""
    where: dict[bytes | str | None, set[str]] = defaultdict(set)
    marked = [(name, sample, mark(sample)) for name, samples in splits.items() for sample in samples]
    for name, _, key in marked:
        where[key].add(name)
    rows, pairs = [], Counter[str]()
    for _, sample, key in marked:
        if key and len(where[key]) > 1:
            rows.append(Row(sample.key))
            pairs[" and ".join(sorted(where[key]))] += 1
    shown = ", ".join(f"{number:,} in {pair}" for pair, number in pairs.most_common())
    return finding_if(Severity.ERROR, check, f"{message} ({shown}); keep each in one split", rows)


def image_mark(sample: Sample) -> bytes | None:
    """A fingerprint that equal images share."""
    try:
        return fingerprint(sample)
    except DataError:
        return None


def duplicates(splits: Splits) -> list[Finding]:
    """Find images that occur twice in a split: with the same text they count double; with two texts, one is wrong."""
    same: list[Row] = []
    contrary: list[Row] = []
    for samples in splits.values():
        seen: dict[bytes, Sample] = {}
        for sample in samples:
            mark = image_mark(sample)
            if mark is None:
                continue
            first = seen.setdefault(mark, sample)
            if first is not sample:
                equal = for_scoring(first.text) == for_scoring(sample.text)
                (same if equal else contrary).append(Row(sample.key, f"the image of {first.key}"))
    return [
        *finding_if(Severity.ERROR, "conflicting duplicates", "one image with two different texts", contrary),
        *finding_if(Severity.WARNING, "duplicates", "images that occur twice in a split", same),
    ]


def shared_texts(splits: Splits) -> list[Finding]:
    """Find sentences of validation and test that also occur in training, on other lines."""
    known = {for_scoring(sample.text) for sample in splits.get("train", ())}
    found = []
    for name, samples in splits.items():
        long = [sample for sample in samples if name != "train" and len(for_scoring(sample.text)) >= SENTENCE]
        rows = [Row(sample.key) for sample in long if for_scoring(sample.text) in known]
        message = f"texts of {name} that also occur in training, of {len(long):,} longer ones"
        found += finding_if(Severity.NOTE, "shared texts", message, rows)
    return found
