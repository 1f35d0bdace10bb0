"""Everything fine-tuning starts from: the model, the lines by split, and the change of alphabet they require."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib.util import find_spec
from math import inf
from pathlib import Path

import numpy as np
import torch

from drethtr.base.errors import DataError, MissingExtraError
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.open import AS_FOUND, open_all
from drethtr.datasets.sample import Sample, check_apart, fingerprint, page_of, with_distinct_sets
from drethtr.evaluation.metrics import MIN_PAGES
from drethtr.images.prepare import Preparation
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.file import Model
from drethtr.recognition.pieces import LONGEST_PIECE
from drethtr.text.alphabet import AlphabetChange
from drethtr.training.feed.batch import MIN_COLUMNS
from drethtr.training.finetuning.plan import Plan
from drethtr.training.start import load_whole

NEEDED = ("accelerate", "pyarrow")
"""Packages required for training."""

SHARE = 0.15
"""Share of the lines for validation: more would take lines from most of the training, which costs more than a better
choice between weights gains. `--cross-fit` needs none."""

MAX_SHARE = 0.3
"""Maximum share of the lines for validation, if pages are long. One page of three would be more, so then lines are
drawn."""

FOLDS = 3
"""Folds of the lines in cross-fitting: models trained on two thirds are measured, and the one trained on all lines is a
little better. More folds would come closer, but each takes a training."""

MEASURED = 2
"""Folds to measure on. The third one would cost a fourth training, and narrow the interval by a fifth."""

MIN_LINES = 20
"""Minimum number of lines for fine-tuning: about a page, after which 34.6 % CER of an unseen hand became 26.8 %
(LOG.md, 2026-11-27)."""

REMEMBERED = 100
"""Maximum number of old lines to measure forgetting on."""


@dataclass(frozen=True)
class Parts:
    """Training lines, page by page in random order, and validation lines.

    by_page   whether no page is in both parts for certain
    left_out  number of lines in neither part, by reason
    """

    train: tuple[Sample, ...]
    validation: tuple[Sample, ...]
    by_page: bool
    left_out: Mapping[str, int]

    def per_set(self, most: int) -> int:
        """How many validation lines to read of each set, at least 1, so that at most `most` are read together."""
        lines = Counter(sample.set for sample in self.validation).values()
        return max((each for each in range(1, most + 1) if sum(min(each, own) for own in lines) <= most), default=1)


@dataclass(frozen=True)
class Material:
    """Everything that fine-tuning starts from.

    parts       the new lines
    later       the validation lines that are learned at the end
    old         old lines to mix in
    remembered  other old lines, to measure forgetting
    alphabet    the change from the model's alphabet to that of the result
    """

    plan: Plan
    start: Model
    parts: Parts
    later: tuple[Sample, ...]
    old: tuple[Sample, ...]
    remembered: tuple[Sample, ...]
    alphabet: AlphabetChange

    def fingerprint(self) -> str:
        """Hash of the starting model and of all lines with their texts, by split."""
        digest = blake2b(self.start.hash.encode(), digest_size=16)
        for samples in (self.parts.train, self.parts.validation, self.old, self.remembered):
            for sample in samples:
                digest.update(fingerprint(sample) + sample.text.encode())
            digest.update(b"next")
        return digest.hexdigest()

    def first_lines(self, share: float) -> tuple[Sample, ...]:
        """The first `share` of the training lines; a larger share includes the smaller ones."""
        return self.parts.train[: round(share * len(self.parts.train))]

    @property
    def learned(self) -> tuple[Sample, ...]:
        """The lines that the result has learned."""
        return (*self.parts.train, *self.later)

    def folds(self) -> list["Material"]:
        """The parts to measure on, each with all other lines to train on; without cross-fitting, the one split."""
        parts = folds_of(self.parts, seed=self.plan.seed) if self.plan.cross_fit else [self.parts]
        return [replace(self, parts=part) for part in parts]


def gather(plan: Plan, pages: Pages = AS_FOUND) -> Material:
    """Open everything a plan refers to; nothing is written.

    Args:
        pages: How PAGE and ALTO files are read.

    Raises:
        CheckpointError: if the model cannot be used.
        DataError: if lines cannot be used, or there are too few.
        ConfigError: if the alphabet has to change and cannot.
        MissingExtraError: if a package required for training is not installed.
    """
    start = starting_model(plan)
    named = (plan.validation, plan.data, plan.old_data)
    return material_of(plan, start, *with_distinct_sets(*(open_all(names, pages) if names else [] for names in named)))


def starting_model(plan: Plan) -> Model:
    """The starting model of a plan.

    Raises:
        CheckpointError: if it cannot be used.
        MissingExtraError: if a package required for training is not installed.
    """
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError(package, "train")
    return load_whole(Path(plan.model))


def material_of(
    plan: Plan, start: Model, given: Sequence[Sample], lines: Sequence[Sample], older: Sequence[Sample]
) -> Material:
    """The material of a plan from its opened lines: those given for validation, new and old ones; see `gather`."""
    parts = all_lines(lines, seed=plan.seed) if plan.cross_fit else split_lines(lines, given, seed=plan.seed)
    widest = widest_line(start)
    parts = drop_unreadable(parts, start.preparation, widest)
    apart = plan.validation or plan.own_readings
    later = () if apart else fitting(parts.validation, start.preparation, widest, Counter())
    earlier = split_old_lines(older, seed=plan.seed) if older else ((), ())
    refused: Counter[str] = Counter()
    old, remembered = (tuple(fitting(some, start.preparation, widest, refused)) for some in earlier)
    if plan.old_data and not old:
        raise DataError(f"none of the {len(earlier[0])} old lines can be used{reasons(refused)}")
    # Training lines are also checked: cross-fitting measures on them, and forgetting on old lines that are not trained
    # on.
    check_apart(
        {"--old-data": (*old, *remembered), "validation lines": parts.validation, "training lines": parts.train}
    )
    # If lines were drawn because pages are few, the parts no longer separate pages.
    check_apart({"--old-data": older, "DATA": lines})
    alphabet = AlphabetChange.between(
        start.tokenizer,
        [sample.text for sample in (*parts.train, *old)],
        [sample.text for sample in parts.validation],
        minimum=plan.minimum_count,
        drop_unused=plan.drop_unused,
        change=not plan.adapter,
    )
    return Material(plan, start, parts, tuple(later), old, remembered, alphabet)


def all_lines(samples: Sequence[Sample], *, seed: int = 0) -> Parts:
    """All lines for training, to be cross-fitted; page by page, unless the folds have too few pages for an interval.

    Raises:
        DataError: if there are too few lines.
    """
    left_out: Counter[str] = Counter()
    kept = enough(samples, left_out)
    if len(set(map(page_of, kept))) * MEASURED < MIN_PAGES * FOLDS:
        kept = [replace(sample, page=None) for sample in kept]
    return parts_of(joined(shuffled_pages(kept, seed)), (), left_out)


def divided(samples: Sequence[Sample], number: int, *, seed: int = 0) -> list[tuple[Sample, ...]]:
    """The lines in this number of groups of about the same size; pages stay whole."""
    groups: list[tuple[Sample, ...]] = [()] * number
    for page in sorted(shuffled_pages(samples, seed), key=len, reverse=True):
        groups = sorted([*groups[1:], groups[0] + page], key=len)
    return groups


def folds_of(parts: Parts, *, seed: int = 0) -> list[Parts]:
    """The folds to measure on, about a third of the lines each, with the other lines to train on."""
    folds = divided(parts.train, FOLDS, seed=seed)
    others = (joined([*folds[:number], *folds[number + 1 :]]) for number in range(MEASURED))
    return [replace(parts, train=train, validation=fold) for train, fold in zip(others, folds, strict=False)]


def split_lines(samples: Sequence[Sample], given: Sequence[Sample] = (), *, seed: int = 0) -> Parts:
    """Split lines into training and validation; all are for training if validation lines are `given`.

    Whole pages are drawn, so that metrics hold for new pages. If there are too few pages, lines are drawn.

    Raises:
        DataError: if there are too few lines, or none of those given is usable.
    """
    left_out: Counter[str] = Counter()
    kept = enough(samples, left_out)
    pages = shuffled_pages(kept, seed)
    if given:
        refused: Counter[str] = Counter()
        validation = tuple(usable(given, refused))
        if not validation:
            raise DataError(f"none of the {len(given)} validation lines can be used{reasons(refused)}")
        return parts_of(joined(pages), validation, left_out + refused)
    # Whole pages, or the model would have seen the hand and the paper of its validation lines.
    chosen = choose(pages, len(kept))
    if chosen is None:  # a few long pages, each with too large a share of the lines
        pages = shuffled_pages([replace(sample, page=None) for sample in kept], seed)
        chosen = set(range(round(SHARE * len(kept))))
    train = joined([page for number, page in enumerate(pages) if number not in chosen])
    return parts_of(train, joined([pages[number] for number in sorted(chosen)]), left_out)


def parts_of(train: tuple[Sample, ...], validation: tuple[Sample, ...], left_out: Mapping[str, int]) -> Parts:
    """The parts, noting whether all pages are known; lines of one page in both are refused later."""
    return Parts(train, validation, all(map(page_of, (*train, *validation))), left_out)


def split_old_lines(samples: Sequence[Sample], *, seed: int = 0) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Old lines to mix in, and others to measure forgetting: none if there are few in all.

    Raises:
        DataError: if none is usable.
    """
    left_out: Counter[str] = Counter()
    kept = usable(samples, left_out)
    if not kept:
        raise DataError(f"none of the {len(samples)} old lines can be used{reasons(left_out)}")
    if len(kept) < MIN_LINES:
        return tuple(kept), ()
    parts = split_lines(kept, seed=seed)
    return parts.train, parts.validation[:REMEMBERED]


def usable(samples: Sequence[Sample], left_out: Counter[str]) -> list[Sample]:
    """The lines with clean, non-empty texts, each image once; lines left out are counted."""
    kept: dict[bytes, Sample] = {}
    for sample in samples:
        if not sample.clean:
            left_out["with editorial marks or uncertain letters"] += 1
        elif not sample.text.strip():
            left_out["without text"] += 1
        elif kept.setdefault(fingerprint(sample), sample) is not sample:
            left_out["with a duplicate image"] += 1
    return list(kept.values())


def enough(samples: Sequence[Sample], left_out: Counter[str]) -> list[Sample]:
    """The usable lines.

    Raises:
        DataError: if there are too few.
    """
    kept = usable(samples, left_out)
    if len(kept) < MIN_LINES:
        raise DataError(f"{len(kept)} usable lines{reasons(left_out)}; fine-tuning needs at least {MIN_LINES}")
    return kept


def reasons(left_out: Mapping[str, int]) -> str:
    """Why lines were left out, for messages."""
    return "".join(f"; {number:,} {reason}" for reason, number in left_out.items())


def shuffled_pages(samples: Sequence[Sample], seed: int) -> list[tuple[Sample, ...]]:
    """The lines of each page, pages in random order; a line of unknown page counts as a page."""
    pages: dict[str | int, list[Sample]] = defaultdict(list)
    for number, sample in enumerate(samples):
        pages[page_of(sample) or number].append(sample)
    found = list(pages.values())
    return [tuple(found[place]) for place in np.random.default_rng(seed).permutation(len(found))]


def choose(pages: Sequence[Sequence[Sample]], lines: int) -> set[int] | None:
    """Numbers of pages that together make up the share of the lines, or a little more; None if none do."""
    chosen: set[int] = set()
    taken = 0
    for number, page in enumerate(pages):  # a long page is skipped; a later, shorter one may fit
        if taken + len(page) <= MAX_SHARE * lines:
            chosen.add(number)
            taken += len(page)
        if taken >= SHARE * lines:
            return chosen
    return None


def joined(pages: Sequence[Sequence[Sample]]) -> tuple[Sample, ...]:
    """The lines of all pages, in order."""
    return tuple(sample for page in pages for sample in page)


def drop_unreadable(parts: Parts, preparation: Preparation, widest: int) -> Parts:
    """The parts without training lines that are too narrow for their text, or wider than `widest` columns.

    The columns are those after preprocessing. Validation lines are only left out if no model can read them.

    Raises:
        DataError: if an image cannot be read, or too few lines are left.
    """
    left_out = Counter(parts.left_out)
    kept = fitting(parts.train, preparation, widest, left_out)
    # Half of the initial requirement, so that a few broken images do not stop a run.
    if len(kept) < MIN_LINES / 2:
        raise DataError(
            f"only {len(kept)} of {len(parts.train)} lines are short enough to train on; does each image show one line?"
        )
    validation = readable(parts.validation, preparation, left_out)
    if parts.validation and not validation:
        raise DataError(f"none of the {len(parts.validation)} validation lines is short enough to be read")
    return replace(parts, train=tuple(kept), validation=tuple(validation), left_out=left_out)


def readable(samples: Sequence[Sample], preparation: Preparation, left_out: Counter[str]) -> list[Sample]:
    """The lines that are not too long for their height; lines left out are counted.

    Raises:
        DataError: if an image cannot be read.
    """
    kept = []
    for sample in samples:
        if prepared_columns(sample.size(), preparation) == inf:
            left_out["too long for their height to be read"] += 1
        else:
            sample.line()  # before anything is written
            kept.append(sample)
    return kept


def fitting(samples: Sequence[Sample], preparation: Preparation, widest: int, left_out: Counter[str]) -> list[Sample]:
    """The lines that are neither too narrow for their text nor too wide; lines left out are counted.

    Raises:
        DataError: if an image cannot be read.
    """
    kept = []
    for sample in samples:
        columns = prepared_columns(sample.size(), preparation)
        if columns > widest:
            left_out["too wide to train on"] += 1
        elif columns < MIN_COLUMNS * len(sample.text):
            left_out["with more text than fits the image"] += 1
        else:
            sample.line()  # a truncated image would end a run in its middle
            kept.append(sample)
    return kept


def prepared_columns(size: tuple[int, int], preparation: Preparation) -> float:
    """The columns of a line of width x height pixels after preprocessing, infinite if it is too wide for that."""
    try:
        return preparation.columns(*size)
    except DataError:
        return inf


def widest_line(model: Model) -> int:
    """Columns of the widest line that a model is trained on."""
    return min(LONGEST_PIECE, network_without_weights(model).backbone.widest or LONGEST_PIECE)


def network_without_weights(model: Model) -> DRetHTR:
    """The shape of a model's network."""
    with torch.device("meta"):
        return DRetHTR(model.network, model.tokenizer.size)
