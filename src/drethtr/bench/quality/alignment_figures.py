"""Metrics of text alignment, for each set and for pools of sets."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.bench.quality.alignment import AlignedPage
from drethtr.bench.quality.check_figures import PRECISION, pools_of
from drethtr.cli.tables import figure
from drethtr.cli.tables import interval as shown_interval
from drethtr.evaluation.confidence import Booleans
from drethtr.evaluation.metrics import DRAWS, MIN_PAGES, drawn_sums, interval_95, rates_of
from drethtr.proofreading.fit import WRONG_LINES
from drethtr.proofreading.ground_truth import acceptable

CONVENTION = (
    "The texts of the lines of a page are joined by spaces and aligned with its lines. Exact: share of the marked "
    "lines that get exactly their words; where lines are detected, on the one that covers the same area (IoU of 0.5 "
    "or more). In brackets the 95 % interval of a bootstrap over pages, widened for few pages; none for fewer than "
    f"{MIN_PAGES}. Accepted: {100 * WRONG_LINES:.0f} % of the lines get an error in their text before it is aligned; "
    f"of the lines with text, those whose probabilities promise that {100 * PRECISION:.0f} % of them are right, "
    "decided for each set. Precision: share of the accepted lines whose text is right."
)


@dataclass(frozen=True)
class AlignmentFigures:
    """The metrics of a set or pool, see `CONVENTION`; rates are fractions, the interval is None for few pages.

    lines    marked lines
    written  lines that get some of the text with errors
    """

    name: str
    pages: int
    lines: int
    exact: float
    exact_low: float | None
    exact_high: float | None
    written: int
    accepted: float | None
    precision: float | None

    def to_json(self) -> dict[str, Any]:
        """The metrics as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class AlignedSet:
    """The pages of a set, and which of the lines with text are accepted."""

    pages: tuple[AlignedPage, ...]
    accepted: Booleans

    @classmethod
    def of(cls, pages: Sequence[AlignedPage]) -> Self:
        """The pages of a set; lines are accepted over the whole set."""
        return cls(tuple(pages), acceptable(np.concatenate([page.probability for page in pages]), PRECISION))

    @property
    def right(self) -> Booleans:
        """Which of the lines with text have the correct one."""
        return np.concatenate([page.right for page in self.pages])


def measure_alignment(pages: Sequence[AlignedPage], known: Collection[str]) -> list[AlignmentFigures]:
    """The metrics of each set, and of the known and the held-out sets together.

    Args:
        known: The sets that the model was trained on.
    """
    sets = {name: AlignedSet.of([page for page in pages if page.set == name]) for name in {page.set for page in pages}}
    return [figures_of(pool, [sets[name] for name in some]) for pool, some in pools_of(sets, known).items()]


def figures_of(name: str, sets: Sequence[AlignedSet]) -> AlignmentFigures:
    """The metrics of some sets together."""
    pages = np.array([(page.exact.sum(), len(page.exact)) for some in sets for page in some.pages])
    accepted, right = (np.concatenate([getattr(some, part) for some in sets]) for part in ("accepted", "right"))
    exact, lines = pages.sum(0).tolist()
    low, high = interval(pages) if len(pages) >= MIN_PAGES else (None, None)
    return AlignmentFigures(
        name,
        pages=len(pages),
        lines=lines,
        exact=exact / lines,
        exact_low=low,
        exact_high=high,
        written=len(accepted),
        accepted=float(accepted.mean()) if len(accepted) else None,
        precision=float(right[accepted].mean()) if accepted.any() else None,
    )


def interval(pages: NDArray[np.int64]) -> tuple[float, float]:
    """The limits of the 95 % interval of a share, from the numbers of each page: successes, and all."""
    counted, every = drawn_sums(pages, DRAWS, np.random.default_rng(0)).T
    return interval_95(rates_of(counted, every), len(pages))


def table(pools: Sequence[AlignmentFigures]) -> str:
    """Figures in percent, a row per set and pool of sets."""
    width = max(len(pool.name) for pool in pools)
    rows = [
        f"{'':{width}}  {'pages':>6}  {'lines':>6}  {'exact %':>21}  {'with text':>9}  {'accepted %':>10}"
        f"  {'precision %':>11}"
    ]
    rows += [
        f"{pool.name:{width}}  {pool.pages:>6,}  {pool.lines:>6,}  {shown_interval(pool.to_json(), 'exact'):>21}"
        f"  {pool.written:>9,}  {figure(pool.accepted, 1):>10}  {figure(pool.precision, 1):>11}"
        for pool in pools
    ]
    return "\n".join([*rows, "", CONVENTION])
