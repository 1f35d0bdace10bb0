"""One training run, complete: what to build, what to feed it, how long."""

from dataclasses import dataclass, field

from drethtr.base.errors import ConfigError
from drethtr.images.prepare import Preparation
from drethtr.recognition.architecture import COMPACT, NetworkConfig
from drethtr.recognition.search.strategies import CTC, Strategy
from drethtr.synthesis.augment import SCANS
from drethtr.synthesis.random_step import RandomStep
from drethtr.training.feed.batch import BatchConfig
from drethtr.training.feed.prose import Prose
from drethtr.training.feed.supply import Source
from drethtr.training.objective import LossConfig
from drethtr.training.optimize import OptimizerConfig
from drethtr.training.start import Fresh, Start
from drethtr.training.tuning import Tuning, Whole


@dataclass(frozen=True, kw_only=True)
class ValidationConfig:
    """What the best weights are chosen by: lines of these files, `lines` of each, read with `decoder`.

    `at_start` reads them before the first step, too: the best is never worse than the start.
    """

    paths: tuple[str, ...]
    lines: int = 100
    every: int = 20_000
    at_start: bool = False
    decoder: Strategy = field(default_factory=CTC)

    def __post_init__(self) -> None:
        check_positive(self, "lines", "every", room="validation.")


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that decides a result. Saved beside the model; two equal runs train alike, if in the same precision.

    `samples` are the lines seen in all; validation and snapshots come every so many of them. `batches_per_step` are
    taken together for one step of the optimizer, one after another or shared out among processes: the result is the
    same. `minimum_count` is how often a character must occur in the training texts to enter the alphabet. `bfloat16`
    left open is measured when the run begins. A run with `patience` ends after so many validations in a row that found
    nothing better.
    """

    train: tuple[Source, ...]
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
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    minimum_count: int = 5
    save_every: int = 5_000
    patience: int | None = None
    bfloat16: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "samples", "batches_per_step", "minimum_count", "save_every", "patience")
        if self.seed < 0:
            raise ConfigError(f"seed must be at least 0, not {self.seed}")


def check_positive(settings: object, *names: str, room: str = "") -> None:
    """Refuse numbers below 1; what is left open is fine.

    Raises:
        ConfigError: naming the setting, as it is called in a recipe.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise ConfigError(f"{room}{name} must be at least 1, not {value}")
