"""Find lines and pages in two splits or twice in one, images that cannot be read, texts that do not fit their image."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from statistics import median

from drethtr.base.errors import DataError
from drethtr.datasets.checks.finding import Finding, Row, Severity, Splits, all_lines, finding_if
from drethtr.datasets.sample import OR_NAME_SETS, Sample, fingerprint
from drethtr.text.normalize import for_scoring

SENTENCE = 20
"""Shorter texts, such as dates and names, may occur twice by coincidence."""

# These limits only warn, and were not measured: lines beyond them are obviously wrong. Tighter limits would also report
# lines that are merely unusual, and nobody reads such lists.

MIN_HEIGHT = 8
"""Lines less tall than this, in pixels, cannot be read."""

FAINTEST = 12
"""Minimum difference in gray levels between the darkest and the lightest pixel of a line with writing.

Stricter than `prepare.BLANK_CONTRAST`: even a single speck exceeds it, so a line below is certainly empty."""

MAX_CHARACTERS = 200
"""More characters than fit on a handwritten line."""

CROWDED, ROOMY = 1 / 4, 8
"""Limits of a line's width per character, relative to the median of its set."""


def leaks(splits: Splits) -> list[Finding]:
    """Find images and pages in more than one split, which make metrics too good."""
    return [
        *leak(splits, image_mark, "the same image", "images in more than one split"),
        *leak(splits, page_mark, "the same page", "lines of pages that are in more than one split", OR_NAME_SETS),
    ]


def leak(splits: Splits, mark: Callable[[Sample], Hashable], check: str, message: str, cure: str = "") -> list[Finding]:
    """Find lines of one split that share a mark with lines of another; empty marks are ignored."""
    where: dict[Hashable, set[str]] = defaultdict(set)
    marked = [(name, sample, mark(sample)) for name, samples in splits.items() for sample in samples]
    for name, _, key in marked:
        where[key].add(name)
    rows, pairs = [], Counter[str]()
    for _, sample, key in marked:
        if key and len(where[key]) > 1:
            rows.append(Row(sample.key))
            pairs[" and ".join(map(repr, sorted(where[key])))] += 1
    shown = ", ".join(f"{number:,} in {pair}" for pair, number in pairs.most_common())
    return finding_if(Severity.ERROR, check, f"{message} ({shown}); keep each in one split{cure}", rows)


def image_mark(sample: Sample) -> bytes | None:
    """A fingerprint that equal images share."""
    try:
        return fingerprint(sample)
    except DataError:
        return None


def page_mark(sample: Sample) -> tuple[str, str] | None:
    """The page of a line with its set, None if unknown."""
    return (sample.set, sample.page) if sample.page else None


def shared_names(files: Mapping[Path, Sequence[Sample]]) -> list[Finding]:
    """Find pages with the same set and name in several files that share no image."""
    pages: dict[tuple[str, str], dict[Path, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for file, samples in files.items():
        for sample in samples:
            if sample.named_after is None and (page := page_mark(sample)):
                pages[page][file].append(sample)
    rows = [
        Row(samples[0].key, f"page {page!r} of {of_set!r}")
        for (of_set, page), by_file in pages.items()
        if len(by_file) > 1 and not set.intersection(*({*map(image_mark, samples)} for samples in by_file.values()))
        for samples in by_file.values()
    ]
    message = f"pages of one set and name in several files, with different images{OR_NAME_SETS}"
    return finding_if(Severity.WARNING, "shared names", message, rows)


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


def odd_descriptions(splits: Splits) -> list[Finding]:
    """Report how lines with irregular PAGE or ALTO files were interpreted, such as by turning them."""
    rows: dict[str, list[Row]] = {}
    for samples in splits.values():
        for sample in samples:
            for what, where in sample.remarks:
                rows.setdefault(what, []).append(Row(sample.key, where))
    return [Finding(Severity.NOTE, "odd description", what.lower(), tuple(some)) for what, some in rows.items()]


def broken_images(splits: Splits) -> list[Finding]:
    """Decode every image and report those that are unreadable, tiny or blank."""
    unreadable, low, blank = [], [], []
    for sample in all_lines(splits):
        try:
            line = sample.line()
        except DataError:
            unreadable.append(Row(sample.key))
            continue
        if line.shape[0] < MIN_HEIGHT:
            low.append(Row(sample.key))
        elif int(line.max()) - int(line.min()) < FAINTEST and sample.text.strip():
            blank.append(Row(sample.key))
    return [
        *finding_if(Severity.ERROR, "unreadable image", "images that cannot be decoded", unreadable),
        *finding_if(Severity.WARNING, "low image", f"less than {MIN_HEIGHT} pixels tall", low),
        *finding_if(Severity.WARNING, "blank image", "blank images that have a text", blank),
    ]


def lengths(splits: Splits) -> list[Finding]:
    """Find very long texts, and texts whose length does not fit their image."""
    every = all_lines(splits)
    long = [Row(sample.key) for sample in every if len(sample.text) > MAX_CHARACTERS]
    # Sets differ in the size of writing and images, so each line is compared with lines of its own set.
    of_set: dict[str, list[tuple[float, Sample]]] = defaultdict(list)
    for sample in every:
        if (room := room_per_character(sample)) is not None:
            of_set[sample.set].append((room, sample))
    crowded, roomy = [], []
    for lines in of_set.values():
        middle = median(room for room, _ in lines)
        crowded += [Row(sample.key) for room, sample in lines if room < CROWDED * middle]
        roomy += [Row(sample.key) for room, sample in lines if room > ROOMY * middle]
    return [
        *finding_if(Severity.WARNING, "over-long text", f"more than {MAX_CHARACTERS} characters", long),
        *finding_if(Severity.WARNING, "crowded line", "texts far too long for their image", crowded),
        *finding_if(Severity.WARNING, "roomy line", "texts far too short for their image", roomy),
    ]


def room_per_character(sample: Sample) -> float | None:
    """Width of the image per character, in line heights; None if either is unknown."""
    try:
        width, height = sample.size()
    except DataError:
        return None
    text = sample.text.strip()
    return width / height / len(text) if text and height else None
