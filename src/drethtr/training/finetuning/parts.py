"""Which of a person's lines train, and which ones choose the best weights."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from drethtr.data.sample import Sample, fingerprint
from drethtr.data.selection import clean_lines
from drethtr.errors import DataError
from drethtr.evaluation.evaluate import page_of
from drethtr.images.prepare import Preparation

SHARE = 0.15
"""Of the lines, to choose the best weights by."""

MOST = 0.3
"""Of the lines, that pages may make the share."""

FEWEST = 20
"""Lines without which fine-tuning is not begun."""


@dataclass(frozen=True)
class Parts:
    """Lines to train on, page after page in an order drawn by chance, and lines to choose by.

    by_page   whether no page is in both
    left_out  how many lines are in neither, by reason
    """

    train: tuple[Sample, ...]
    validation: tuple[Sample, ...]
    by_page: bool
    left_out: Mapping[str, int]


def part(
    samples: Sequence[Sample], preparation: Preparation, widest: int, *, given: Sequence[Sample] = (), seed: int = 0
) -> Parts:
    """Part some lines into those that train and those that choose.

    Args:
        widest: Columns of the widest prepared line that can be trained on.
        given: Lines to choose by, if there are such; else a share of the pages is drawn, or of the lines where there
            are too few pages.

    Raises:
        DataError: if there are too few lines, or an image cannot be read.
    """
    left_out: Counter[str] = Counter()
    kept = unique(clean(samples, left_out), left_out)
    if len(kept) < FEWEST:
        raise DataError(f"{len(kept)} usable lines are too few to fine-tune on; transcribe at least {FEWEST}")
    pages = in_chance_order(kept, seed)
    chosen = [page[:1] for page in ()] if given else choose_pages(pages, len(kept))
    by_page = bool(given or chosen)
    if not by_page:
        pages = in_chance_order([replace(sample, page=None) for sample in kept], seed)
        chosen = pages[: round(SHARE * len(kept))]
    train = [sample for page in pages if page not in chosen for sample in page]
    narrow = [sample for sample in train if preparation.columns(*sample.size()) <= widest]
    left_out["too wide to train on"] += len(train) - len(narrow)
    validation = clean(given, left_out) or [sample for page in chosen for sample in page]
    return Parts(tuple(narrow), tuple(validation), by_page, +left_out)
