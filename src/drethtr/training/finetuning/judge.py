"""Measure the effect of fine-tuning on the validation lines, and recalibrate the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, page_of
from drethtr.evaluation.calibrate import TO_CALIBRATE, calibrate, usual_strategies
from drethtr.evaluation.compare import Difference, paired, paired_by
from drethtr.evaluation.evaluate import read_lines
from drethtr.evaluation.metrics import Counts, score
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer


@dataclass(frozen=True)
class Forgotten:
    """Error rates on old lines that were not trained on: of all, and of each set, most forgotten first."""

    overall: Difference
    sets: tuple[Difference, ...]

    @classmethod
    def between(cls, start: Model, trained: Model, samples: Sequence[Sample], device: str, threads: int | None) -> Self:
        """Read old lines with both models."""
        before, after = (edits(model, samples, device, threads) for model in (start, trained))
        pages, names = pages_of(samples), [sample.set for sample in samples]
        sets = paired_by(names, sorted(set(names)), before, after, pages)
        ordered = sorted(sets, key=lambda change: -change.difference)
        return cls(paired(before, after, pages, name="CER"), tuple(ordered))


def edits(model: Model, samples: Sequence[Sample], device: str, threads: int | None) -> list[Counts]:
    """The errors of a model on each line, read with its default strategy."""
    readings = read_lines(Recognizer(model, device=device, threads=threads), samples)
    return score([sample.text for sample in samples], [reading.text for reading in readings])


def pages_of(samples: Sequence[Sample]) -> list[str]:
    """The page of each line, "" if unknown."""
    return list(map(page_of, samples))


def with_trust(model: Model, start: Trust, samples: Sequence[Sample], device: str, threads: int | None) -> Model:
    """The model calibrated by its lines and what its start knew; it keeps its strategy.

    Decoders that the start knew nothing of are only calibrated on enough lines.
    """
    untold = replace(model, trust=Trust(strategy=model.trust.strategy))
    enough = len(samples) >= TO_CALIBRATE
    groups = [group for group in usual_strategies(untold) if enough or start.calibration(group[0]) is not None]
    if not groups:
        return untold
    try:
        return calibrate(untold, samples, groups, prior=start, device=device, threads=threads)
    except DataError:  # nothing was read, or all of it is right, or nothing, so there is nothing to calibrate
        return untold
