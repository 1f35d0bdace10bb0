"""Scales of experiments: as in the paper, small enough for two cores, or just large enough to run."""

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from drethtr.images.prepare import Preparation
from drethtr.paper.published_decoding import PublishedBeam, PublishedGreedy
from drethtr.paper.speed.race import Rounds
from drethtr.paper.starts import FinishedImagePart
from drethtr.paper.tables.material import PaperData, make_material
from drethtr.recognition.decoding.strategies import Greedy, Strategy
from drethtr.recognition.model.architecture import PPOCR, CTCConfig, Light, Sinusoidal, Unplaced
from drethtr.recognition.model.file import SHIPPED
from drethtr.training.feed.batch import BatchConfig
from drethtr.training.objective import LossConfig
from drethtr.training.optimize import Muon, OptimizerConfig
from drethtr.training.run import RunConfig
from drethtr.training.tuning import Whole


class Scale(ABC):
    """How the paper's runs are scaled before a row changes them.

    strategy      default strategy for reading test lines
    batch         lines decoded at a time when measuring time and memory
    rounds        rounds of these measurements
    memory        whether memory is measured
    trocr_layers  layers of a TrOCR's encoder and decoder; empty: as published
    """

    name: ClassVar[str]
    strategy: ClassVar[Strategy]
    batch: ClassVar[int]
    rounds: ClassVar[Rounds] = Rounds()
    memory: ClassVar[bool] = True
    trocr_layers: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def fit(self, run: RunConfig) -> RunConfig:
        """Scale a run."""

    def material(self, given: PaperData, folder: Path) -> PaperData:
        """The training data; generated data go to `folder`."""
        return given


class Full(Scale):
    """As published."""

    name = "full"
    strategy = PublishedBeam(10)
    batch = 128

    def fit(self, run: RunConfig) -> RunConfig:
        return run


class Small(Scale):
    """Two minutes per training run on one core: a narrow decoder with as many layers, on a trained image encoder.

    The tables vary the decoder, but an autoregressive decoder needs far more lines than fit into this time to learn to
    attend to the image. So the image encoder is that of the shipped model, whose CTC draft tells the decoder its
    reading position and the characters there.
    """

    name = "small"
    strategy = Greedy()
    samples = 3_200
    batch = 8

    def fit(self, run: RunConfig) -> RunConfig:
        network = replace(
            run.network,
            layers=4,
            width=128,
            heads=4,
            hidden=256,
            dropout=0.1,
            weight_dropout=0.0,
            embedding_dropout=0.0,
            final_norm=True,
            backbone=PPOCR(),
            positions=Unplaced(),
            ctc=CTCConfig(),
        )
        return replace(
            run,
            network=network,
            preparation=Preparation(height=48, stretch=1.5),
            augmentation=(),
            start=FinishedImagePart.of(SHIPPED),
            tuning=Whole(frozen=("backbone.", "ctc.draft.")),
            samples=self.samples,
            batches=BatchConfig(lines=4, pixels=300_000),
            batches_per_step=1,
            loss=LossConfig(ctc=0.0, draft=0.0),
            optimizer=OptimizerConfig(method=Muon(), learning_rate=2e-3, warm_up=100, average=0.99),
            validation=replace(run.validation, lines=40, every=self.samples),
            minimum_count=2,
            save_every=self.samples,
            bfloat16=True,
        )


class Smoke(Scale):
    """A second or two on generated lines; the figures are meaningless."""

    name = "smoke"
    strategy = PublishedGreedy(limit=6)
    batch = 2
    rounds = Rounds(least=1, most=1)
    memory = False
    trocr_layers = (1, 1)

    def fit(self, run: RunConfig) -> RunConfig:
        network = replace(
            run.network, layers=2, width=32, heads=2, hidden=48, backbone=Light(height=48), positions=Sinusoidal()
        )
        return replace(
            run,
            network=network,
            preparation=Preparation(height=48),
            augmentation=(),
            samples=8,
            batches=BatchConfig(lines=4, pixels=4 * 64 * 640, max_columns=640, chunk=8),
            batches_per_step=1,
            validation=replace(run.validation, lines=2, every=8, decoder=self.strategy),
            save_every=8,
        )

    def material(self, given: PaperData, folder: Path) -> PaperData:
        return make_material(folder)
