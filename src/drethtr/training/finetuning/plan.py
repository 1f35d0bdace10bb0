"""The options of fine-tuning."""

from dataclasses import dataclass

from drethtr.base.config import check_positive, check_seed
from drethtr.base.errors import ConfigError
from drethtr.recognition.model.file import SHIPPED


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of fine-tuning; equal plans on the same files give the same model, in the same precision.

    data            the lines, as accepted by `drethtr.datasets.open.open_all`
    model           the starting model
    validation      validation lines, never learned; default: a part of the data, learned at the end
    old_data        lines that the model must not forget, mixed in
    adapter         train a LoRA adapter only
    minimum_count   how often a new character must occur to be added
    drop_unused     remove characters that no text has
    own_readings    the lines have no texts: learn what the model reads on them
    learning_curve  also train on a quarter and on half of the lines, to estimate the gain from more
    cross_fit       measure on lines read by models trained on the others, then train on all lines
    samples         lines seen in a training, over several epochs; default: depends on their number
    seed            of all randomness: the order of lines and their augmentation
    """

    data: tuple[str, ...]
    model: str = str(SHIPPED)
    validation: tuple[str, ...] = ()
    old_data: tuple[str, ...] = ()
    adapter: bool = False
    minimum_count: int = 2
    drop_unused: bool = False
    own_readings: bool = False
    learning_curve: bool = False
    cross_fit: bool = False
    samples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "samples")
        check_seed(self.seed)
        if self.adapter and self.drop_unused:
            raise ConfigError("an adapter cannot change the alphabet; use either --adapter or --drop-unused")
        if self.own_readings and (self.validation or self.learning_curve or self.cross_fit or self.drop_unused):
            raise ConfigError(
                "--own-readings learns lines without texts, on which nothing can be measured; leave out --validation, "
                "--learning-curve, --cross-fit and --drop-unused"
            )
        if self.cross_fit and (self.validation or self.learning_curve):
            raise ConfigError("--cross-fit measures on DATA itself; leave out --validation and --learning-curve")
