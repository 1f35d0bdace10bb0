"""Validation: the averaged weights become a model, read the validation lines as users would, and the best is saved."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from drethtr.base import config
from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, check_apart, lines_digest
from drethtr.documents.names import free_name, stored
from drethtr.evaluation.evaluate import Scores, count_unknown, evaluate
from drethtr.evaluation.reading import to_read
from drethtr.images.prepare import Preparation
from drethtr.network.backend import TorchNetwork, with_network
from drethtr.network.network import DRetHTR
from drethtr.recognition.backends import CPU
from drethtr.recognition.model.file import Model, save_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import Tokenizer
from drethtr.training.metrics_log import TrainingLog
from drethtr.training.run import RunConfig, ValidationConfig
from drethtr.training.snapshot import Learner, Progress


class Candidate(NamedTuple):
    """A model to save, and the network with its weights, to read with."""

    model: Model
    network: DRetHTR


def without_weights(run: RunConfig, tokenizer: Tokenizer) -> Model:
    """The parts that training does not change: settings, alphabet, and the language models of the start."""
    languages, rescorer = run.start.languages(tokenizer), run.start.rescorer(tokenizer)
    return Model(run.network, {}, tokenizer, run.preparation, run.start.card(), languages=languages, rescorer=rescorer)


def candidate_of(model: Model, learner: Learner[DRetHTR], progress: Progress, run: RunConfig) -> Candidate:
    """The model with the averaged weights."""
    network = run.tuning.finish(learner.average.network)
    return Candidate(replace(with_network(model, network), card={**model.card, **card_of(progress, run)}), network)


def card_of(progress: Progress, run: Any) -> dict[str, Any]:
    """The card of a model: how long it has been trained, and the settings of its run.

    Cards are made to be published, so credentials are removed.
    """
    return {
        "samples": progress.samples,
        "hours": round(progress.seconds / 3600, 3),
        "trained_by": f"drethtr {__version__}",
        "run": json.loads(without_credentials(json.dumps(config.changes(run)))),
    }


class Validator:
    """Holds the validation lines and evaluates models on them.

    Raises:
        DataError: if lines cannot be used, are for training, too, or have no character of the alphabet.
    """

    def __init__(
        self, config: ValidationConfig, preparation: Preparation, training: list[Sample], tokenizer: Tokenizer
    ) -> None:
        self.decoder = config.decoder
        self.samples = to_read(open_all(config.paths), config.lines) if config.paths else []
        check_apart({"training": training, "validation": self.samples})
        try:
            count_unknown(tokenizer, self.samples)
        except DataError as error:
            raise error.of("validation.paths") from error
        widest = preparation.at_width(max(self.decoder.stretches))
        for sample in self.samples:  # one that cannot be read would end a run at its first validation
            height, width = sample.line().shape
            try:
                widest.columns(width, height)
            except DataError as error:
                raise error.of(sample.key) from error

    def digest(self) -> str:
        """A description of the lines, with a digest."""
        return f"validation: {len(self.samples):,} lines [{lines_digest(self.samples)}]"

    def __call__(self, model: Model, network: DRetHTR) -> Scores:
        """Evaluate a model, whose weights `network` has, on all lines.

        Raises:
            DataError: naming the line, if an image cannot be used.
        """
        if next(network.parameters()).device.type == "cpu":
            # As users read on a CPU; onnxruntime takes 0.4 of the time of torch.
            recognizer = Recognizer(model, self.decoder, device=CPU, threads=torch.get_num_threads())
        else:
            recognizer = Recognizer(model, self.decoder, network=TorchNetwork.of(model, network))
        scores = evaluate(recognizer, self.samples)
        if scores.unreadable:
            raise scores.unreadable[0]
        return scores


def validate(validator: Validator, candidate: Candidate, best: Path, log: TrainingLog, progress: Progress) -> Progress:
    """Read the validation lines, and save the model as `best` if it is the best so far; without lines, it is."""
    if not validator.samples:
        save_model(candidate.model, best)
        return progress
    scores = validator(*candidate)
    cer = scores.overall.cer
    taken = {"all"}  # a set may be called so
    found = {**{free_name(stored(name), taken): rate for name, rate in scores.sets.items()}, "all": scores.overall}
    rates = {name: round(rate.cer, 4) for name, rate in found.items() if rate.characters}
    log.record_validation(progress.samples, rates)
    # Equal is not better: earlier weights have seen less, and forgotten less.
    if progress.best is not None and cer >= progress.best:
        return replace(progress, stale=progress.stale + 1)
    card = {**candidate.model.card, "validation_cer": rates}
    save_model(replace(candidate.model, card=card), best)
    return replace(progress, best=cer, stale=0)
