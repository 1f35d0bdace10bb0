"""The complete configuration of a training run of the line detector."""

from dataclasses import dataclass, field

from drethtr.base.config import check_positive, check_seed
from drethtr.training.layout.crops import CropConfig
from drethtr.training.layout.sources import MarkedSource
from drethtr.training.optimize import OptimizerConfig
from drethtr.training.tuning import Whole


@dataclass(frozen=True, kw_only=True)
class PagesValidation:
    """The pages that select the best weights: at most `pages` of each collection, compared as `evaluate --layout` does.

    images    a folder in which their images are looked for first
    every     crops between validations
    at_start  also validate before the first step, so that the best weights are never worse than the first
    """

    paths: tuple[str, ...]
    images: str | None = None
    pages: int | None = None
    every: int = 2_000
    at_start: bool = True

    def __post_init__(self) -> None:
        check_positive(self, "pages", "every")


@dataclass(frozen=True, kw_only=True)
class LayoutLoss:
    """Weights of the parts of the loss, and extra weights of places next to cores, or beyond their ends.

    Every part is the binary cross-entropy of its maps; that of the cores and the text also has one minus the Dice
    coefficient, times `dice`. Cores that extend beyond their ends join two lines, so such places count most. The
    included network was trained with these weights; no others are on record.
    """

    cores: float = 1.0
    text: float = 1.0
    roles: float = 0.3
    dice: float = 0.5
    near: float = 1.0
    past: float = 3.0


@dataclass(frozen=True, kw_only=True)
class LayoutRun:
    """Everything that affects the result. It is saved beside the model; equal runs in the same precision train alike.

    samples    crops seen in total; validations and snapshots are also counted in crops
    start      the model file to start from; the included one if it is None
    bfloat16   None measures at the start which precision is faster
    patience   validations in a row without improvement after which the run ends
    """

    train: tuple[MarkedSource, ...]
    validation: PagesValidation
    samples: int
    start: str | None = None
    crops: CropConfig = field(default_factory=CropConfig)
    tuning: Whole = field(default_factory=Whole)
    loss: LayoutLoss = field(default_factory=LayoutLoss)
    optimizer: OptimizerConfig = field(default_factory=lambda: OptimizerConfig(learning_rate=6e-4, warm_up=100))
    save_every: int = 1_000
    patience: int | None = None
    bfloat16: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "samples", "save_every", "patience")
        check_seed(self.seed)
