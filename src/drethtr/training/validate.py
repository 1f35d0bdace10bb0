"""Validation: the averaged weights read lines the way users' lines are read."""

from drethtr.evaluation.evaluate import Scores, evaluate, to_read
from drethtr.lines.sample import Sample, check_apart, lines_digest
from drethtr.lines.sources import open_all
from drethtr.network.backend import TorchNetwork
from drethtr.network.network import DRetHTR
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.run import ValidationConfig


class Validator:
    """Holds the validation lines and reads them when asked."""

    def __init__(self, config: ValidationConfig, training: list[Sample]) -> None:
        self.decoder = config.decoder
        self.samples = to_read(open_all(config.paths), config.lines)
        check_apart({"training": training, "validation": self.samples})

    def digest(self) -> str:
        """What they are, and a digest of them."""
        return f"validation: {len(self.samples):,} lines [{lines_digest(self.samples)}]"

    def __call__(self, model: Model, network: DRetHTR) -> Scores:
        """Read all lines with `model`, whose weights `network` has."""
        return evaluate(Recognizer(model, self.decoder, network=TorchNetwork(network)), self.samples)
