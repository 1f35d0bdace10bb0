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


def with_trust(model: Model, samples: Sequence[Sample], device: str) -> Model:
    """The model calibrated as far as there are enough lines; it keeps its strategy."""
    untold = replace(model, trust=Trust(strategy=model.trust.strategy))
    if len(samples) < TO_CALIBRATE:
        return untold
    try:
        return calibrate(untold, samples, usual_strategies(untold), device=device)
    except DataError:  # all characters were correct, or none, so there is nothing to calibrate
        return untold
