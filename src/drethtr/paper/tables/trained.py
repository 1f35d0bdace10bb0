"""Rows that train a system and read test lines with it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from drethtr.base import config
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, check_apart, page_of
from drethtr.evaluation.evaluate import count_unknown, read_lines, to_read
from drethtr.evaluation.metrics import Counts, score
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.paper.tables.course import Change, Course, RealOnly, Variation
from drethtr.paper.tables.likelihood import nats_of_lines
from drethtr.paper.tables.material import IAM, contents
from drethtr.paper.tables.result import (
    CER,
    LINES,
    MEAN_OF_BATCHES,
    NATS,
    PARAMETERS,
    SECONDS,
    WER,
    LineResult,
    Measurement,
    Share,
    mean_of_batches,
)
from drethtr.paper.tables.stage import Conditions, TrainingStage, carry_out, digest
from drethtr.paper.tables.table import Experiment
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import Model, load_model
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.run import RunConfig


def unchanged(run: RunConfig) -> RunConfig:
    """No change: the baseline."""
    return run


@dataclass(frozen=True, kw_only=True)
class Trained(Experiment):
    """Train on a data set, then read its test lines.

    change      the system's difference from the baseline
    course      the course of training
    lines       the data set
    alphabet    the data sets whose characters pretraining must know
    strategy    the strategy for reading test lines; None: the scale's
    """

    change: Change = unchanged
    course: Course = field(default_factory=RealOnly)
    lines: str = IAM
    alphabet: tuple[str, ...] = (IAM,)
    strategy: Strategy | None = None

    def stage(self, conditions: Conditions, seed: int) -> TrainingStage:
        """The training stages of the row."""
        material = conditions.material
        alphabet = [path for name in self.alphabet for path in material.lines(name).train]
        variation = Variation(self.change, conditions.scale, seed)
        return self.course.stage(variation, material.lines(self.lines), alphabet, material)

    def reader(self, conditions: Conditions) -> Strategy:
        """The strategy for reading test lines."""
        return self.strategy or conditions.scale.strategy

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        test = conditions.material.lines(self.lines).test
        reader = config.to_dict(self.reader(conditions))
        return digest([self.stage(conditions, seed).fingerprint, reader, contents(test)])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        lines = conditions.material.lines(self.lines)
        splits = {"training": lines.train, "validation": lines.validation, "test": lines.test}
        check_apart({name: open_all(files) for name, files in splits.items()})
        carry_out(self.stage(conditions, seed), conditions)

    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        path = carry_out(self.stage(conditions, seed), conditions)
        model = load_model(path)
        network = TorchNetwork(
            network_of(model, conditions.device)
        )  # torch for every row, so that times are comparable
        recognizer = Recognizer(model, self.reader(conditions), network=network)
        files = conditions.material.lines(self.lines).test
        samples = to_read(open_all(files))
        unknown = count_unknown(recognizer, samples).total()
        conditions.say(
            f"reading {len(samples):,} test lines ({unknown} characters are not in the model's alphabet) with "
            f"{recognizer.strategy!r}"
        )
        begun = time.monotonic()
        readings = read_lines(recognizer, samples)
        seconds = time.monotonic() - begun
        figures, read = measured(recognizer.model, samples, readings, nats_of_lines(recognizer, samples))
        return Measurement(figures=figures | {SECONDS: seconds}, lines=read, files=files, model=str(path))


def measured(
    model: Model, samples: Sequence[Sample], readings: Sequence[Reading], nats: Sequence[float | None]
) -> tuple[dict[str, float], tuple[LineResult, ...]]:
    """The figures of readings, and the results line by line."""
    counts = score([sample.text for sample in samples], [reading.text for reading in readings])
    total = sum(counts, Counts())
    lines = tuple(
        LineResult(sample.key, page_of(sample), sample.text, reading.text, of_line, of_text)
        for sample, reading, of_line, of_text in zip(samples, readings, counts, nats, strict=True)
    )
    figures = {
        CER: 100 * total.cer,
        MEAN_OF_BATCHES: 100 * mean_of_batches(counts),
        WER: 100 * total.wer,
        NATS: sum((line.nats_per_character for line in lines), Share()).rate,
        LINES: float(total.lines),
        PARAMETERS: model.parameter_count / 1e6,
    }
    return figures, lines
