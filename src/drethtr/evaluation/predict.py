"""Learn to predict the error rate of untranscribed lines, and measure how well that works on transcribed sets."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import exp
from statistics import fmean, stdev
from typing import Any, NamedTuple, Self

import numpy as np

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.datasets.sample import Sample, page_of, set_of
from drethtr.evaluation.metrics import Counts
from drethtr.evaluation.reading import ScoredLine, by_name
from drethtr.layout.doubt import NO_DOUBT, LayoutDoubt
from drethtr.recognition.confidence.error_rate import ErrorRate, Expected, TotalDoubt, doubt_of
from drethtr.recognition.decoding.strategies import Strategy

MIN_SETS = 3
"""Minimum number of sets for estimating how sets differ."""

NEAR_ONE = 0.5
"""Regularization of the power towards 1; the sum of squares it competes with is about 5 for the validation sets."""

POWERS = 0.5, 2.0
"""Limits of the power; on real sets it is 1.2."""

DIGITS = 4


@dataclass(frozen=True)
class Prediction:
    """The predicted error rate of a set or page, and the true one, None without text."""

    name: str
    lines: int
    characters: int
    expected: Expected
    cer: float | None

    @property
    def inside(self) -> bool | None:
        """Whether the interval contains the true rate."""
        return None if self.cer is None else self.expected.low <= self.cer <= self.expected.high


class PageDoubt(NamedTuple):
    """The doubt in the readings of a page, and that about its layout, if it was found."""

    read: TotalDoubt
    layout: LayoutDoubt = NO_DOUBT

    @classmethod
    def together(cls, pages: Collection[Self]) -> Self:
        """The doubts of some pages together; those about layouts are weighted by the characters of each page."""
        read = TotalDoubt(*(sum(numbers) for numbers in zip(*(page.read for page in pages), strict=True)))
        shares = [page.read.characters / max(read.characters, 1) for page in pages]
        expected, high = (
            sum(share * getattr(page.layout, name) for share, page in zip(shares, pages, strict=True))
            for name in ("expected", "high")
        )
        return cls(read, LayoutDoubt(expected, 0.0, high))

    def expected(self, rate: ErrorRate) -> Expected:
        """The expected error rate."""
        return rate(self.read).with_cost(self.layout.expected, self.layout.high)

    def to_json(self, rate: ErrorRate) -> dict[str, Any]:
        """A page of `drethtr model predict-cer --json`: rates as fractions, and the part due to the layout."""
        return {
            "lines": self.read.lines,
            "characters": self.read.characters,
            "empty": self.read.empty,
            **self.expected(rate)._asdict(),
            "unknown_hand": rate.unknown_hand(self.read),
            "layout": self.layout.expected,
            "layout_reason": self.layout.reason,
        }


@dataclass(frozen=True)
class LabeledDoubt:
    """The doubt in some lines, and their true error rate, None without text."""

    read: TotalDoubt
    cer: float | None

    @property
    def can_be_fitted(self) -> bool:
        """Whether the lines have both doubt and text, so that the prediction can be fitted on them."""
        return self.read.doubt > 0 and self.cer is not None

    @property
    def edits(self) -> float:
        """The number of edits, scaled to as many characters as were read."""
        return (self.cer or 0.0) * self.read.characters

    @property
    def rate(self) -> float:
        """Doubt per character, with half a character added to it as to `factor`."""
        return (self.read.doubt + 0.5) / max(self.read.characters, 1)

    @property
    def factor(self) -> float:
        """Edits per expected error, with half of one added to both to keep it finite."""
        return (self.edits + 0.5) / (self.read.doubt + 0.5)


def labeled_doubt(lines: Sequence[ScoredLine]) -> LabeledDoubt:
    """The doubt in some lines, with their true error rate."""
    counts = sum((line.counts for line in lines), Counts())
    return LabeledDoubt(doubt_of(line.reading for line in lines), counts.cer if counts.characters else None)


def learn(strategy: Strategy, lines: Sequence[ScoredLine]) -> ErrorRate:
    """Learn the factor and the power that turn doubt into an error rate, and their uncertainty.

    The power is the slope of a line through the sets, on logarithmic scales; `NEAR_ONE` keeps it near 1 if sets are few
    or similar. Every set has the same weight, however many lines it has, since the next collection will be another set.
    """
    sets = [of_set for of_set in by_name(lines, set_of).values() if labeled_doubt(of_set).can_be_fitted]
    if len(sets) < MIN_SETS:
        raise DataError(
            f"lines of {counted(len(sets), 'set')}; at least {MIN_SETS} sets are needed to estimate how sets differ"
        )
    known = list(map(labeled_doubt, sets))
    doubts, factors = np.log([one.rate for one in known]), np.log([one.factor for one in known])
    apart = doubts - doubts.mean()
    # Ridge regression of the exponent towards 1, as few or similar sets hardly determine it.
    power = float(np.clip(1 + apart @ factors / (apart @ apart + NEAR_ONE), *POWERS))
    logs = (factors - (power - 1) * doubts).tolist()
    residuals = [residual for of_set in sets for residual in residuals_of(of_set)]
    return ErrorRate(
        strategy,
        factor=round(exp(fmean(logs)), DIGITS),
        spread=round(stdev(logs), DIGITS),
        # Each set has used one degree of freedom for its own factor.
        noise=round(sum(residuals) / max(len(residuals) - len(sets), 1), DIGITS),
        sets=len(sets),
        power=round(power, DIGITS),
    )


def residuals_of(of_set: Sequence[ScoredLine]) -> list[float]:
    """Squared residuals of the edits on each page of a set, relative to the expected edits.

    If the set has a single page, from which the factor comes, its lines are used instead of pages.
    """
    factor, by_page = labeled_doubt(of_set).factor, by_name(of_set, page_or_line)
    pages = map(labeled_doubt, (by_page if len(by_page) > 1 else by_name(of_set, lambda sample: sample.key)).values())
    return [
        (page.edits - factor * page.read.doubt) ** 2 / (factor * page.read.doubt)
        for page in pages
        if page.can_be_fitted
    ]


def page_or_line(sample: Sample) -> str:
    """The page of a line, or the line itself if its page is unknown."""
    return page_of(sample) or sample.key


def predict(
    error_rate: ErrorRate, lines: Sequence[ScoredLine], name_of: Callable[[Sample], str] = set_of
) -> list[Prediction]:
    """Predict the error rate of each set, or of each group given by `name_of`, beside the true rate."""
    found = {name: labeled_doubt(group) for name, group in by_name(lines, name_of).items()}
    return [
        Prediction(name, one.read.lines, one.read.characters, error_rate(one.read), one.cer)
        for name, one in found.items()
    ]


def check_sets(samples: Sequence[Sample]) -> None:
    """Check that there are enough sets to leave one out.

    Raises:
        DataError: if there are not.
    """
    sets = len(set(map(set_of, samples)))
    if sets <= MIN_SETS:
        raise DataError(f"lines of {counted(sets, 'set')}; at least {MIN_SETS + 1} are needed to leave one out")


def leave_one_set_out(
    strategy: Strategy, lines: Sequence[ScoredLine], name_of: Callable[[Sample], str] = set_of
) -> list[Prediction]:
    """Predict the error rate of each set with a factor learned from all other sets.

    Raises:
        DataError: if there are too few sets.
    """
    check_sets([line.sample for line in lines])
    predictions = []
    for name, own in by_name(lines, set_of).items():
        others = [line for line in lines if line.sample.set != name]
        predictions += predict(learn(strategy, others), own, name_of)
    return predictions


def mean_absolute_error(predictions: Sequence[Prediction]) -> float:
    """The mean absolute error of the predictions for groups with text."""
    return fmean(abs(one.expected.cer - one.cer) for one in predictions if one.cer is not None)


class Agreement(NamedTuple):
    """How accurate some predictions are.

    mean_absolute_error  None without predictions
    inside               how many intervals contain the true rate
    """

    number: int
    mean_absolute_error: float | None
    inside: int

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> Self:
        """The agreement of predictions with the true rates."""
        error = mean_absolute_error(predictions) if predictions else None
        return cls(len(predictions), error, sum(bool(one.inside) for one in predictions))
