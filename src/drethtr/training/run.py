"""The complete configuration of a training run."""

from dataclasses import dataclass, field

from drethtr.base.config import check_positive, check_seed
from drethtr.base.errors import ConfigError
from drethtr.images.prepare import Preparation
from drethtr.recognition.decoding.strategies import CTC, Strategy
from drethtr.recognition.model.architecture import COMPACT, NetworkConfig
from drethtr.synthesis.augment import SCANS
from drethtr.synthesis.random_step import RandomStep
from drethtr.training.feed.batch import BatchConfig, Prose
from drethtr.training.feed.supply import LineSource
from drethtr.training.objective import LossConfig
from drethtr.training.optimize import OptimizerConfig
from drethtr.training.start import Fresh, Start
from drethtr.training.teacher import TeacherConfig
from drethtr.training.tuning import Tuning, Whole


@dataclass(frozen=True, kw_only=True)
class ValidationConfig:
    """The lines that select the best weights: at most `lines` of each set in these files, read with `decoder`.

    Without files, the last weights are the best.

    `at_start` also reads them before the first step, so that the best model is never worse than the starting model.
    """

    paths: tuple[str, ...]
    lines: int = 100
    every: int = 20_000
    at_start: bool = False
    decoder: Strategy = field(default_factory=CTC)

    def __post_init__(self) -> None:
        check_positive(self, "lines", "every")


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that affects the result. It is saved beside the model; equal runs in the same precision train alike.

    `samples` is the number of lines seen in total; validations and snapshots are also counted in lines.
    `batches_per_step` batches make up one optimizer step, one after another or divided among processes, with the same
    result. `minimum_count` is how often a character must occur in the training texts to enter the alphabet. If
    `bfloat16` is None, the faster precision is measured at the start. With `patience`, a run ends after this many
    validations in a row without improvement.
    """

    train: tuple[LineSource, ...]
    validation: ValidationConfig
    samples: int
    network: NetworkConfig = COMPACT
    preparation: Preparation = field(default_factory=lambda: Preparation(height=48, stretch=1.5))
    augmentation: tuple[RandomStep, ...] = SCANS
    batches: BatchConfig = field(default_factory=BatchConfig)
    batches_per_step: int = 1
    prose: Prose | None = None
    start: Start = field(default_factory=Fresh)
    tuning: Tuning = field(default_factory=Whole)
    loss: LossConfig = field(default_factory=LossConfig)
    teacher: TeacherConfig | None = None
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    minimum_count: int = 5
    save_every: int = 5_000
    patience: int | None = None
    bfloat16: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "samples", "batches_per_step", "minimum_count", "save_every", "patience")
        check_seed(self.seed)
        if self.teacher is not None and self.network.ctc is None:
            raise ConfigError("teacher needs a network with a CTC head; set network.ctc, or leave out [teacher]")
