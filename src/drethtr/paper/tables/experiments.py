"""Rows that train a system and read test lines with it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from drethtr.base import config
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, check_apart, page_of
from drethtr.evaluation.evaluate import count_unknown
from drethtr.evaluation.metrics import Counts
from drethtr.evaluation.reading import ScoredLine, portions, read_lines, to_read
from drethtr.images.line import Line
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.network.network import DRetHTR
from drethtr.paper.speed.decoding import VOCABULARY, Task, prepare_ours
from drethtr.paper.speed.peers import TROCR_PIXELS, check_transformers, write_pieces
from drethtr.paper.speed.race import Contender, Work, memory_race, time_race
from drethtr.paper.speed.report import machine
from drethtr.paper.tables.material import IAM, DataFiles, contents
from drethtr.paper.tables.runs import Change, Course, Variation, real_only, training
from drethtr.paper.tables.stage import Conditions, TrainingStage, carry_out, digest
from drethtr.paper.tables.table import (
    CER,
    GIGABYTES,
    LINES,
    MEAN_OF_BATCHES,
    NATS,
    PARAMETERS,
    SECONDS,
    WER,
    Experiment,
    LineResult,
    Measurement,
    Share,
    mean_of_batches,
)
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.architecture import NetworkConfig
from drethtr.recognition.model.file import Model, load_model
from drethtr.recognition.pieces import PreparedPiece
from drethtr.recognition.protocol import TextTree
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import EOS
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
    course: Course = real_only
    lines: str = IAM
    alphabet: tuple[str, ...] = (IAM,)
    strategy: Strategy | None = None

    def stage(self, conditions: Conditions, seed: int) -> TrainingStage:
        """The training stages of the row."""
        material = conditions.material
        alphabet = [path for name in self.alphabet for path in material.lines(name).train]
        variation = Variation(self.change, conditions.scale, seed)
        return self.course(variation, material.lines(self.lines), alphabet, material).on(conditions.device)

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
        # torch for every row, so that times are comparable
        network = TorchNetwork.of(model, network_of(model, conditions.device))
        recognizer = Recognizer(model, self.reader(conditions), network=network)
        files = conditions.material.lines(self.lines).test
        samples = to_read(open_all(files))
        unknown = count_unknown(model.tokenizer, samples).total()
        conditions.say(
            f"reading {len(samples):,} test lines ({unknown} characters are not in the model's alphabet) with "
            f"{recognizer.strategy!r}"
        )
        if conditions.device.type == "cuda":
            read_lines(recognizer, samples)  # so that the planning of convolutions and steps is not timed
        begun = time.monotonic()
        read = read_lines(recognizer, samples)
        seconds = time.monotonic() - begun
        figures, lines = figures_of(recognizer.model, read, nats_of_lines(recognizer, samples))
        return Measurement(
            figures=figures | {SECONDS: seconds},
            lines=lines,
            files=files,
            model=str(path),
            decoder=repr(recognizer.strategy),
        )


def figures_of(
    model: Model, read: Sequence[ScoredLine], nats: Sequence[float | None]
) -> tuple[dict[str, float], tuple[LineResult, ...]]:
    """The figures of readings, and the results line by line."""
    counts = [line.counts for line in read]
    total = sum(counts, Counts())
    lines = tuple(
        LineResult(sample.key, page_of(sample), sample.text, reading.text, of_line, of_text)
        for (sample, reading), of_line, of_text in zip(read, counts, nats, strict=True)
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


def nats_of_lines(recognizer: Recognizer, samples: Sequence[Sample]) -> list[float | None]:
    """Nats of each line's text with its end; None for lines read in pieces, whose texts are unknown."""
    found: list[float | None] = []
    for some in portions(recognizer, samples):
        found += nats_of_opened(recognizer, some)
    return found


def nats_of_opened(recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]]) -> list[float | None]:
    """Like `nats_of_lines`, for no more lines than may be prepared at a time."""
    found: list[float | None] = [None] * len(samples)
    whole = recognizer.pieces.prepare_whole([line for _, line in samples])

    def work(group: Sequence[PreparedPiece], view: View) -> list[float]:
        texts = [recognizer.model.tokenizer.encode(samples[piece.line][0].text) for piece in group]
        scorer = NetworkScorer(recognizer.network, view.memory, forbidden=())
        scores = scorer.score_trees([TextTree.of([text]) for text in texts])
        return [-float(rows[range(len(rows)), [*text, EOS]].sum()) for rows, text in zip(scores, texts, strict=True)]

    for piece, nats in zip(whole, recognizer.pieces.map_views(whole, work), strict=True):
        found[piece.line] = nats
    return found


TEST_LINES = 2915
"""Number of test lines of IAM."""
CHARACTERS, PIECES = 44, 17
"""Mean number of tokens in a test line of IAM: characters, and 500 subwords (paper, Table 10)."""
NONE = DataFiles((), (), ())


def hardware(device: torch.device) -> list[Any]:
    """What times depend on, as those of different hardware are not comparable."""
    found = machine(device)
    return [device.type, *(found[name] for name in ("processor", "threads", "gpu"))]


@dataclass(frozen=True, kw_only=True)
class Timed(Experiment):
    """Decode texts of `tokens` tokens from a vocabulary of this size, with `beams` beams."""

    change: Change = unchanged
    beams: int
    tokens: int = CHARACTERS
    vocabulary: int = VOCABULARY

    def task(self, conditions: Conditions) -> Task:
        """The decoding task."""
        network: NetworkConfig = self.change(conditions.scale.fit(training(NONE))).network
        return Task(
            name=conditions.scale.name,
            config=network,
            batch=conditions.scale.batch,
            beams=self.beams,
            characters=self.tokens,
            vocabulary=self.vocabulary,
            device=conditions.device,
        )

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        task = self.task(conditions)
        sizes = [task.batch, task.beams, task.characters, task.vocabulary, task.pixels]
        return digest([config.to_dict(task.config), sizes, hardware(conditions.device)])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Do nothing, since the weights are random."""

    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        task = self.task(conditions)
        contender = Contender("ours", partial(prepare_ours, task, task.config.mixer))
        with torch.device("meta"):  # only to count its parameters
            network = DRetHTR(task.config, task.vocabulary)
        return timed(contender, network, conditions)


@dataclass(frozen=True, kw_only=True)
class TimedTrOCR(Experiment):
    """Decode with a TrOCR from the transformers package; `network` builds it from numbers of layers."""

    network: Callable[..., Any]
    beams: int

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        scale = conditions.scale
        sizes = [scale.batch, self.beams, scale.trocr_layers]
        return digest([self.network.__name__, sizes, hardware(conditions.device)])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Check that the package is installed; the weights are random."""
        check_transformers()

    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        made = partial(self.network, *conditions.scale.trocr_layers)
        prepare = partial(prepare_trocr, made, conditions.scale.batch, self.beams, conditions.device)
        with torch.device("meta"):  # only to count its parameters
            network = made()
        return timed(Contender("TrOCR", prepare), network, conditions)


def prepare_trocr(build: Callable[[], Any], batch: int, beams: int, device: torch.device) -> Work:
    """Prepare encoding random images on the device, and decoding."""
    network, pixels = build().to(device), torch.rand(batch, 3, TROCR_PIXELS, TROCR_PIXELS, device=device) * 2 - 1
    return partial(write_pieces, network, pixels, CHARACTERS, beams)


def timed(contender: Contender, network: nn.Module, conditions: Conditions) -> Measurement:
    """Measure the memory of one batch, and the time scaled to all test lines."""
    scale = conditions.scale
    conditions.say(f"decoding {scale.batch} lines at a time")
    race = time_race(contender.name, [contender], scale.rounds, conditions.device)
    figures = {
        SECONDS: race.spread(contender.name).median * TEST_LINES / scale.batch,
        PARAMETERS: sum(parameter.numel() for parameter in network.parameters()) / 1e6,
    }
    if scale.memory:
        peak = memory_race(contender.name, [contender], conditions.device, {})
        figures[GIGABYTES] = peak.spread(contender.name).median / 1e3
    return Measurement(figures=figures)
