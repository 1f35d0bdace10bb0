"""The effect of fine-tuning on validation and old lines, the gain to expect from more lines, and the model card.

Error rates follow a power law in the amount of data, which is a straight line on logarithmic scales. The line is fitted
to the rates after a quarter, half and all of the lines, and extrapolated by one doubling. Its interval has two parts:
the choice of pages to measure on, and the variation between trainings, estimated from the distance of the points from
the line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, page_of
from drethtr.evaluation.calibrate import TO_CALIBRATE, calibrate, usual_strategies
from drethtr.evaluation.compare import Difference, of_words, paired, paired_by
from drethtr.evaluation.evaluate import plain
from drethtr.evaluation.metrics import (
    CONVENTION,
    DRAWS,
    MIN_PAGES,
    Counts,
    Rates,
    bootstrap,
    drawn_sums,
    interval_95,
    sum_by_group,
    units,
)
from drethtr.evaluation.reading import read_lines
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.sharing.card import NOT_STATED, mappings
from drethtr.training.finetuning.material import Material

SHARES = (0.25, 0.5, 1.0)
"""Shares of the training lines from which the learning curve is measured."""


NOT_INHERITED = ("evaluation", "validation_cer", "samples", "hours", "trained_by", "run", "command", "fine_tuned")
"""Entries of a card that do not hold for other weights."""


@dataclass(frozen=True)
class Forgotten:
    """Error rates on old lines that were not trained on: of all, and of each set, most forgotten first."""

    overall: Difference
    sets: tuple[Difference, ...]

    @classmethod
    def between(cls, start: Model, trained: Model, samples: Sequence[Sample], device: str, threads: int | None) -> Self:
        """Read old lines with both models."""
        before, after = (errors_on(model, samples, device, threads) for model in (start, trained))
        pages, names = list(map(page_of, samples)), [sample.set for sample in samples]
        sets = paired_by(names, sorted(set(names)), before, after, pages)
        ordered = sorted(sets, key=lambda change: -change.difference)
        return cls(paired(before, after, pages, name="CER"), tuple(ordered))


def errors_on(model: Model, samples: Sequence[Sample], device: str, threads: int | None) -> list[Counts]:
    """The errors of a model on each line, read with its default strategy."""
    lines = read_lines(Recognizer(model, device=device, threads=threads), samples)
    return [line.counts for line in lines]


def compared(
    before: Sequence[Counts], after: Sequence[Counts], pages: Sequence[str]
) -> tuple[Rates, Rates, Difference, Difference]:
    """Error rates before and after, and the changes for characters and words."""
    words = paired(list(map(of_words, before)), list(map(of_words, after)), pages, name="WER")
    return bootstrap(before, pages), bootstrap(after, pages), paired(before, after, pages, name="CER"), words


def calibrated(
    model: Model, start: CalibrationRecord, samples: Sequence[Sample], device: str, threads: int | None
) -> Model:
    """The model calibrated by its lines and what its start knew; it keeps its strategy.

    Decoders that were not calibrated in the starting model are only calibrated on enough lines.
    """
    uncalibrated = replace(model, record=CalibrationRecord(strategy=model.record.strategy))
    enough = len(samples) >= TO_CALIBRATE
    groups = [group for group in usual_strategies(uncalibrated) if enough or start.calibration(group[0]) is not None]
    if not groups:
        return uncalibrated
    try:
        return calibrate(uncalibrated, samples, groups, prior=start, device=device, threads=threads)
    except DataError:  # nothing was read, or everything is right or wrong, so there is nothing to calibrate
        return uncalibrated


@dataclass(frozen=True)
class LearningCurve:
    """Error rates by number of training lines, and the expected reduction from doubling the largest number.

    The gain and the limits of its 95 % interval are fractions: 0.01 is one point.

    drawn  number of pages to draw from; a line of unknown page counts as one
    """

    lines: tuple[int, ...]
    cers: tuple[float, ...]
    gain: float
    low: float
    high: float
    drawn: int

    @property
    def sure(self) -> bool:
        """Whether there are enough pages for a meaningful interval."""
        return self.drawn >= MIN_PAGES


def learning_curve(lines: Sequence[int], edits: Sequence[Sequence[Counts]], pages: Sequence[str]) -> LearningCurve:
    """The curve of several models, trained on `lines` lines, from their errors on the same validation lines.

    Args:
        edits: For each model, its counts on each line.
        pages: Page of each validation line, "" if unknown; such lines are drawn one by one.
    """
    rng = np.random.default_rng(0)
    # All models use the same draws of pages, so that the difficulty of the drawn pages cancels out of the slope.
    columns = [[count.edits for count in counts] for counts in edits] + [[count.characters for count in edits[0]]]
    of_page = sum_by_group(np.array(columns, dtype=np.int64).T, pages)
    drawn = drawn_sums(of_page, DRAWS, rng)
    doublings = np.log2(np.array(lines) / lines[-1])
    found, rates = log_rates(of_page.sum(0)[None]), log_rates(drawn)
    # Draws of pages do not show how much a second training on the same lines would differ.
    rates = rates + rng.normal(0, residual_deviation(found, doublings), rates.shape)
    low, high = interval_95(gains(rates, doublings), len(of_page))
    cers = tuple(float(rate) for rate in of_page.sum(0)[:-1] / max(of_page[:, -1].sum(), 1))
    return LearningCurve(tuple(lines), cers, float(gains(found, doublings)[0]), low, high, len(set(units(pages))))


def log_rates(sums: NDArray[np.int64]) -> Floats:
    """Logarithms of error rates, from rows of edits with the number of characters last; zero edits count as half."""
    return np.asarray(np.log(np.maximum(sums[:, :-1], 0.5) / np.maximum(sums[:, -1:], 1)))


def slope_and_intercept(rates: Floats, doublings: Floats) -> Floats:
    """Slope and intercept of the line through each row of logarithmic rates, (rows, 2)."""
    return np.asarray(np.polyfit(doublings, rates.T, 1).T)


def residual_deviation(rates: Floats, doublings: Floats) -> float:
    """Standard deviation of the points from their line."""
    slope, height = slope_and_intercept(rates, doublings)[0]
    off = rates[0] - height - slope * doublings
    return float(np.sqrt((off**2).sum() / max(len(off) - 2, 1)))


def gains(rates: Floats, doublings: Floats) -> Floats:
    """The reduction of the rate from the end of the line, 0, to one doubling further, for each row."""
    slope, height = slope_and_intercept(rates, doublings).T
    return np.asarray(np.exp(height) - np.exp(height + slope))


@dataclass(frozen=True)
class Outcome:
    """The result of fine-tuning; the rates are on the lines that were not trained on.

    change     the character error rate after minus the one before, with its interval
    words      the same of the word error rate
    forgotten  the changes on old lines that were not trained on; None without `--old-data`
    """

    model: Model
    before: Rates
    after: Rates
    change: Difference
    words: Difference
    forgotten: Forgotten | None = None
    curve: LearningCurve | None = None

    @property
    def better(self) -> bool:
        """Whether the model makes fewer errors than the one it started from; otherwise it is not written."""
        return self.change.difference < 0


def card_of(material: Material, trained: Model, outcome: Outcome) -> dict[str, Any]:
    """The card of a fine-tuned model; the card of `trained` so far has the training time."""
    validation = {"validation_before": plain(outcome.before), "validation_after": plain(outcome.after)}
    measured = validation | {"change": change_of(outcome), "convention": CONVENTION}
    return trained_card(material, trained, outcome.change.lines, **measured, **rates_of(outcome.forgotten))


def rates_of(forgotten: Forgotten | None) -> dict[str, float]:
    """The entries of a card about old lines."""
    return {} if forgotten is None else {"old_data_before": forgotten.overall.a, "old_data_after": forgotten.overall.b}


def trained_card(material: Material, trained: Model, measured: int, **results: Any) -> dict[str, Any]:
    """The card of a model trained on the material, with the results on the number of lines it was measured on."""
    start = material.start.card
    name = start.get("name", Path(material.plan.model).stem)
    kept = {key: value for key, value in start.items() if key not in NOT_INHERITED}
    described = facts(material, f"{name} {material.start.hash}", trained.card, measured)
    return kept | {
        "name": f"{name}, fine-tuned",
        "data": data_of(kept, material),
        "fine_tuned": {**described, **results},
    }


def change_of(outcome: Outcome) -> dict[str, float | None]:
    """The changes of both rates with the limits of their intervals, which are null with too few pages."""
    return {
        key: value
        for name, change in (("cer", outcome.change), ("wer", outcome.words))
        for key, value in (
            (name, change.difference),
            (f"{name}_low", change.low if change.sure else None),
            (f"{name}_high", change.high if change.sure else None),
        )
    }


def data_of(card: Mapping[str, Any], material: Material) -> list[Mapping[str, Any]]:
    """The data of the starting model and the new sets; existing descriptions are kept.

    Only the owner of new lines can add their license.
    """
    stated = mappings(card.get("data"))
    names = {entry.get("set") for entry in stated}
    sets = Counter(sample.set for sample in (*material.learned, *material.old))
    return [
        *stated,
        *(
            {"set": name, "license": NOT_STATED, "source": f"{lines:,} lines passed to drethtr model finetune"}
            for name, lines in sorted(sets.items())
            if name not in names
        ),
    ]


def facts(material: Material, start: str, trained: Mapping[str, Any], measured: int) -> dict[str, Any]:
    """A description of the fine-tuning, with the number of lines it was measured on."""
    parts, alphabet, plan = material.parts, material.alphabet, material.plan
    return {
        "from": start,
        "lines": len(material.learned),
        "validation_lines": measured,
        "cross_fitted": plan.cross_fit,
        "own_readings": plan.own_readings,
        "validation_by_page": parts.by_page,
        "old_data": list(map(without_credentials, plan.old_data)),  # cards are made to be published
        "characters_added": "".join(alphabet.added),
        "characters_dropped": alphabet.dropped,
        "seed": plan.seed,
        "samples": trained["samples"],
        "part_of_change": trained["part_of_change"],
        "minutes": round(60 * trained["hours"], 1),
    }
