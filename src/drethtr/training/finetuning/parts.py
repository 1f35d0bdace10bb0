"""Which of a person's lines train, and which ones choose the best weights."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from drethtr.base.errors import DataError
from drethtr.images.prepare import Preparation
from drethtr.lines.sample import Sample, fingerprint, page_of
from drethtr.training.feed.batch import NARROWEST

SHARE = 0.15
"""Of the lines, to choose the best weights by."""

MOST = 0.3
"""Of the lines, where pages are so long that they make more than the share."""

FEWEST = 20
"""Lines, without which fine-tuning does not begin."""


@dataclass(frozen=True)
class Parts:
    """Lines to train on, page after page in an order drawn by chance, and lines to choose by.

    by_page   whether it is known that no page is in both
    left_out  how many lines are in neither, by reason
    """

    train: tuple[Sample, ...]
    validation: tuple[Sample, ...]
    by_page: bool
    left_out: Mapping[str, int]


def part(samples: Sequence[Sample], given: Sequence[Sample] = (), *, seed: int = 0) -> Parts:
    """Share lines out between training and validation; all train if lines to choose by are `given`.

    Whole pages are drawn, so that the figures are those of new pages. Where there are too few of them, lines are.

    Raises:
        DataError: if there are too few lines, or none of those given is usable.
    """
    left_out: Counter[str] = Counter()
    kept = usable(samples, left_out)
    if len(kept) < FEWEST:
        reasons = "".join(f"; {number} {reason}" for reason, number in left_out.items())
        raise DataError(f"{len(kept)} usable lines{reasons}: too few to fine-tune on, transcribe at least {FEWEST}")
    pages = shuffled_pages(kept, seed)
    if given:
        chosen_by = tuple(usable(given, left_out))
        if not chosen_by:
            raise DataError(f"none of the {len(given)} lines to choose the best weights by is usable")
        return parts_of(joined(pages), chosen_by, left_out)
    chosen = choose(pages, len(kept))
    if chosen is None:
        pages = shuffled_pages([replace(sample, page=None) for sample in kept], seed)
        chosen = set(range(round(SHARE * len(kept))))
    train = joined([page for number, page in enumerate(pages) if number not in chosen])
    return parts_of(train, joined([pages[number] for number in sorted(chosen)]), left_out)


def parts_of(train: tuple[Sample, ...], validation: tuple[Sample, ...], left_out: Mapping[str, int]) -> Parts:
    """The parts, having seen whether all pages are known: lines of one page in both are refused later."""
    return Parts(train, validation, all(map(page_of, (*train, *validation))), left_out)


def usable(samples: Sequence[Sample], left_out: Counter[str]) -> list[Sample]:
    """The lines whose text says what is on them, each image once; what is left out is counted."""
    kept: dict[bytes, Sample] = {}
    for sample in samples:
        if not sample.clean:
            left_out["with editorial signs or uncertain letters"] += 1
        elif not sample.text.strip():
            left_out["without text"] += 1
        elif kept.setdefault(fingerprint(sample), sample) is not sample:
            left_out["whose image is there already"] += 1
    return list(kept.values())


def shuffled_pages(samples: Sequence[Sample], seed: int) -> list[tuple[Sample, ...]]:
    """The lines of each page, pages in an order drawn by chance; a line of unknown page is one by itself."""
    pages: dict[str | int, list[Sample]] = defaultdict(list)
    for number, sample in enumerate(samples):
        pages[page_of(sample) or number].append(sample)
    found = list(pages.values())
    return [tuple(found[place]) for place in np.random.default_rng(seed).permutation(len(found))]


def choose(pages: Sequence[Sequence[Sample]], lines: int) -> set[int] | None:
    """Numbers of pages that together make the share of the lines, or a little more; None if none do."""
    chosen: set[int] = set()
    taken = 0
    for number, page in enumerate(pages):
        if taken + len(page) <= MOST * lines:
            chosen.add(number)
            taken += len(page)
        if taken >= SHARE * lines:
            return chosen
    return None


def joined(pages: Sequence[Sequence[Sample]]) -> tuple[Sample, ...]:
    """The lines of all pages, in their order."""
    return tuple(sample for page in pages for sample in page)


def narrow(parts: Parts, preparation: Preparation, widest: int) -> Parts:
    """The same without training lines that have more than `widest` columns when prepared, or too few for their text.

    Raises:
        DataError: if an image cannot be read, or too few lines are left.
    """
    kept, left_out = [], Counter(parts.left_out)
    for sample in parts.train:
        columns = columns_of(sample.size(), preparation)
        if columns > widest:
            left_out["too wide to train on"] += 1
        elif columns < NARROWEST * len(sample.text):
            left_out["with more text than fits the image"] += 1
        else:
            kept.append(sample)
    if len(kept) < FEWEST / 2:
        raise DataError(f"{len(kept)} of {len(parts.train)} lines are short enough to train on; are they single lines?")
    return replace(parts, train=tuple(kept), left_out=left_out)


def columns_of(size: tuple[int, int], preparation: Preparation) -> float:
    """The columns of a line of width x height pixels when prepared, without end if those are too many to prepare it."""
    try:
        return preparation.columns(*size)
    except DataError:
        return inf
