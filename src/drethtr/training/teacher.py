"""A teacher: another model whose probabilities a run learns beside the texts of its lines, so that it forgets less.

Texts of lines that both models have seen often reveal little of what would be forgotten on other lines; probabilities
reveal more. Source: Learning without Forgetting, arXiv 1606.09282.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.base.errors import ConfigError
from drethtr.images.prepare import Preparation
from drethtr.network.backend import network_of
from drethtr.network.ctc import CTCReading, ctc_loss
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.file import Model, weights_hash
from drethtr.text.tokenizer import Tokenizer
from drethtr.training.feed.batch import Batch
from drethtr.training.start import converted, load_whole


@dataclass(frozen=True, kw_only=True)
class TeacherConfig:
    """The model in the file `path`, which needs a CTC head and the preparation of the run.

    It is used for a random share of the `batches`, each of which takes a quarter more time. Of the losses of a line
    that it reads with a CTC loss of at most `known` nats per character, `share` is the divergence from its
    probabilities, and the rest the usual loss; other lines are learned from their text alone.
    """

    # Run 29 had these values (LOG.md, 2026-11-28, night); no others were compared.
    path: str
    share: float = 0.8
    batches: float = 0.5
    known: float = 0.4

    def __post_init__(self) -> None:
        for name in ("share", "batches"):
            if not 0 < (value := getattr(self, name)) <= 1:
                raise ConfigError(f"{name} must be greater than 0 and at most 1, not {value}")
        if not self.known > 0:
            raise ConfigError(f"known must be greater than 0, not {self.known}")

    @cached_property
    def model(self) -> Model:
        """The model that teaches, read once.

        Raises:
            CheckpointError: if the file is no model, or its weights do not fit its networks.
        """
        return load_whole(Path(self.path))

    def digest(self) -> str:
        """A description of the teacher, with a digest.

        Raises:
            CheckpointError: if the file is no model.
        """
        return f"teacher [{weights_hash(self.model.weights)[:16]}]"


class TeacherOutput(NamedTuple):
    """The output of a teacher for B lines.

    logits  (B, N, vocabulary)  after each token of their texts
    ctc     its CTC reading
    share   (B,)                how much of each line's loss is the divergence from it
    """

    logits: Tensor
    ctc: CTCReading
    share: Tensor


class Teacher:
    """A network that teaches another one and does not learn."""

    def __init__(self, config: TeacherConfig, network: DRetHTR) -> None:
        self.config = config
        self.network = network.requires_grad_(False).eval()

    @classmethod
    def open(cls, config: TeacherConfig, tokenizer: Tokenizer, preparation: Preparation, device: torch.device) -> Self:
        """Load the model of a config, in the alphabet of a run.

        Raises:
            CheckpointError: if the file is no model.
            ConfigError: if the model cannot teach the run.
        """
        model = config.model
        if model.network.ctc is None:
            raise ConfigError(f"teacher.path: {config.path} has no CTC head; use another model")
        if model.preparation != preparation:
            raise ConfigError(
                f"teacher.path: {config.path} sees lines at another size than this run; use another model"
            )
        weights = {
            name: weight.numpy() for name, weight in converted(model.weights, model.tokenizer, tokenizer).items()
        }
        network = network_of(replace(model, tokenizer=tokenizer, weights=weights), device)
        return cls(config, network)

    @torch.no_grad()
    def output(self, batch: Batch, before: Tensor) -> TeacherOutput | None:
        """Its output for a batch with decoder input `before` (B, N); None for batches in which it is not used."""
        if float(torch.rand(())) >= self.config.batches:
            return None
        logits, reading = self.network(batch.images, batch.widths, before)
        assert reading is not None, "opened with a CTC head"
        losses = ctc_loss(reading.refined, reading.steps, batch.tokens, batch.lengths)
        # The loss of a line that is longer than its CTC steps is 0.
        known = (losses > 0) & (losses <= self.config.known * batch.lengths)
        return TeacherOutput(logits, reading, self.config.share * known.float())


def divergence(taught: Tensor, logits: Tensor) -> Tensor:
    """Kullback-Leibler divergence of logits (…, V) from those of a teacher, in nats, (…)."""
    log_taught, log_probs = taught.float().log_softmax(-1), logits.float().log_softmax(-1)
    return (log_taught.exp() * (log_taught - log_probs)).sum(-1)


def ctc_divergence(taught: CTCReading, reading: CTCReading) -> Tensor:
    """Divergence of the refined readings of B lines, in nats, summed over the steps of each line, (B,).

    Raises:
        ConfigError: if teacher and run see lines in different steps.
    """
    if taught.refined.shape != reading.refined.shape:
        raise ConfigError("teacher.path: its CTC head has other steps than this run's; use another model")
    inside = torch.arange(reading.refined.shape[1], device=reading.steps.device) < reading.steps[:, None]
    return (divergence(taught.refined, reading.refined) * inside).sum(1)
