"""Measure the effect of fine-tuning on the validation lines, and recalibrate the model."""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.evaluation.calibrate import TO_CALIBRATE, calibrate, usual_strategies
from drethtr.evaluation.evaluate import read_lines
from drethtr.evaluation.metrics import Counts, score
from drethtr.lines.sample import Sample, page_of
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer


def edits(model: Model, samples: Sequence[Sample], device: str) -> list[Counts]:
    """The errors of a model on each line, read with its default strategy."""
    readings = read_lines(Recognizer(model, device=device), samples)
    return score([sample.text for sample in samples], [reading.text for reading in readings])


def pages_of(samples: Sequence[Sample]) -> list[str]:
    """The page of each line, "" if unknown."""
    return list(map(page_of, samples))


def with_trust(model: Model, start: Trust, samples: Sequence[Sample], device: str) -> Model:
    """The model calibrated by its lines and what its start knew; it keeps its strategy.

    Decoders that the start knew nothing of are only calibrated on enough lines.
    """
    untold = replace(model, trust=Trust(strategy=model.trust.strategy))
    enough = len(samples) >= TO_CALIBRATE
    groups = [group for group in usual_strategies(untold) if enough or start.calibration(group[0]) is not None]
    if not groups:
        return untold
    try:
        return calibrate(untold, samples, groups, prior=start, device=device)
    except DataError:  # nothing was read, or all of it is right, or nothing, so there is nothing to calibrate
        return untold
