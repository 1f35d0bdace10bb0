"""Validation: read the validation lines with the averaged weights, as users would."""

from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, check_apart, lines_digest
from drethtr.evaluation.evaluate import Scores, evaluate, to_read
from drethtr.network.backend import TorchNetwork
from drethtr.network.network import DRetHTR
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.run import ValidationConfig


class Validator:
    """Holds the validation lines and evaluates models on them."""

    def __init__(self, config: ValidationConfig, training: list[Sample]) -> None:
        self.decoder = config.decoder
        self.samples = to_read(open_all(config.paths), config.lines)
        check_apart({"training": training, "validation": self.samples})

    def digest(self) -> str:
        """A description of the lines, with a digest."""
        return f"validation: {len(self.samples):,} lines [{lines_digest(self.samples)}]"

    def __call__(self, model: Model, network: DRetHTR) -> Scores:
        """Evaluate a model, whose weights `network` has, on all lines.

        Raises:
            DataError: naming the line, if an image cannot be used.
        """
        scores = evaluate(Recognizer(model, self.decoder, network=TorchNetwork(network)), self.samples)
        if scores.unreadable:
            raise scores.unreadable[0]
        return scores
