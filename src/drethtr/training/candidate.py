"""Models made while training: the averaged weights, with everything else that a model file holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from drethtr.base import config
from drethtr.base.version import __version__
from drethtr.network.backend import with_network
from drethtr.network.network import DRetHTR
from drethtr.recognition.model_file import Model
from drethtr.text.tokenizer import Tokenizer
from drethtr.training.run import RunConfig
from drethtr.training.snapshot import Learner, Progress


class Candidate(NamedTuple):
    """A model to save, and the network with its weights, to read with."""

    model: Model
    network: DRetHTR


@dataclass(frozen=True)
class ModelTemplate:
    """The parts of a model that training does not change; `model` has no weights."""

    model: Model

    @classmethod
    def of(cls, run: RunConfig, tokenizer: Tokenizer) -> Self:
        """Those of the models of a run: its settings and alphabet, and the language models of its start."""
        languages, rescorer = run.start.languages(tokenizer), run.start.rescorer(tokenizer)
        return cls(Model(run.network, {}, tokenizer, run.preparation, languages=languages, rescorer=rescorer))

    def with_weights(self, network: DRetHTR, card: Mapping[str, Any]) -> Model:
        """The model with a copy of the weights of a network."""
        return replace(with_network(self.model, network), card=card)

    def candidate(self, learner: Learner[DRetHTR], progress: Progress, run: RunConfig) -> Candidate:
        """The model with the averaged weights; its card says how long it has been trained, and with which settings."""
        network = run.tuning.finish(learner.average.network)
        card = {
            "samples": progress.samples,
            "hours": round(progress.seconds / 3600, 3),
            "trained_by": f"drethtr {__version__}",
            "run": config.changes(run),
        }
        return Candidate(self.with_weights(network, card), network)
