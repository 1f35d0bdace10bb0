"""The training objective: cross-entropy of the text, plus the CTC losses of the draft and the final output.

With a teacher, part of the text's and of the final output's loss is the divergence from its probabilities.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import ConfigError
from drethtr.network.ctc import ctc_loss
from drethtr.network.network import DRetHTR
from drethtr.text.tokenizer import BOS, EOS, PAD
from drethtr.training.feed.batch import Batch
from drethtr.training.teacher import Teacher, ctc_divergence, divergence


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """Weights of the losses; the paper trains with a label smoothing of 0.4 and no CTC.

    `language` is the weight of text without images, if a run has `prose`; its labels are not smoothed.
    """

    # In short runs from PP-OCRv6 these hardly matter: smoothing 0 instead of 0.1 is better by 0.3 points, 0.4 the same;
    # three times the CTC weight gives 28.9 instead of 29.4 % CER, no draft loss 29.3 (LOG.md, 2026-11-23 and 24). With
    # text without images at 0.5, and more prose, text is predicted better, but lines are read worse (LOG.md,
    # 2026-11-23, later).
    label_smoothing: float = 0.1
    ctc: float = 1.0
    draft: float = 0.3
    language: float = 0.3

    def __post_init__(self) -> None:
        if not 0 <= self.label_smoothing < 1:
            raise ConfigError(f"label_smoothing must be at least 0 and less than 1, not {self.label_smoothing}")
        for name in ("ctc", "draft", "language"):
            if not (weight := getattr(self, name)) >= 0:
                raise ConfigError(f"{name} must be at least 0, not {weight}")


class BatchCounts(NamedTuple):
    """The denominators of the losses of a step, over all its batches; end tokens count."""

    lines: int
    characters: int
    tokens: int
    prose: int = 0


class Losses(NamedTuple):
    """The total loss and its parts, each in nats per token; a part that is not trained is 0."""

    total: Tensor
    text: Tensor
    ctc: Tensor
    draft: Tensor
    language: Tensor


class Objective(nn.Module):
    """A network with its losses, as wrapped by data-parallel training."""

    def __init__(self, network: DRetHTR, config: LossConfig, teacher: Teacher | None = None) -> None:
        super().__init__()
        self.network = network
        self.config = config
        self.teacher = teacher

    def forward(self, batch: Batch, counts: BatchCounts) -> Losses:
        """The contribution of a batch to the losses of its step.

        Losses are divided by the counts of the whole step, so that their sum does not depend on how its lines are
        divided into batches. Lines with more characters than CTC steps train only the decoder.
        """
        before, after = teacher_forcing(batch.tokens, batch.lengths)
        taught = self.teacher.output(batch, before) if self.teacher is not None else None
        logits, reading = self.network(batch.images, batch.widths, before)
        of_tokens = cross_entropies(logits, after, self.config.label_smoothing)
        if taught is not None:
            of_tokens = torch.lerp(of_tokens, divergence(taught.logits, logits) * (after != PAD), taught.share[:, None])
        text = of_tokens.sum() / counts.tokens
        ctc = draft = language = text.new_zeros(())
        if reading is not None:
            characters = max(counts.characters, 1)
            if self.config.ctc:
                of_lines = ctc_loss(reading.refined, reading.steps, batch.tokens, batch.lengths)
                if taught is not None:
                    of_lines = torch.lerp(of_lines, ctc_divergence(taught.ctc, reading), taught.share)
                ctc = of_lines.sum() / characters
            if self.config.draft:
                draft = ctc_loss(reading.draft, reading.counts, batch.tokens, batch.lengths).sum() / characters
        if batch.prose is not None and self.config.language:
            language = self.of_language(batch.prose) / counts.prose
        extra = self.config.ctc * ctc + self.config.draft * draft + self.config.language * language
        return Losses(text + extra, text, ctc, draft, language)

    def of_language(self, prose: Tensor) -> Tensor:
        """The cross-entropy of texts (P, T) without images, summed over all their tokens."""
        before, after = teacher_forcing(prose, (prose != PAD).sum(1))
        nothing = self.network.without_image(len(prose))
        logits, _ = self.network.decode_text(before, nothing, self.network.initial_state(nothing))
        return cross_entropies(logits, after).sum()


def cross_entropies(logits: Tensor, after: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropies of targets (B, T), from logits (B, T, vocabulary), in nats, (B, T); 0 for padding."""
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        after.flatten(),
        ignore_index=PAD,
        label_smoothing=label_smoothing,
        reduction="none",
    ).view_as(after)


def teacher_forcing(tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Texts (B, T) as decoder input `BOS t1 … tn` and target `t1 … tn EOS`, both (B, T + 1) and padded."""
    start = tokens.new_full((tokens.shape[0], 1), BOS)
    target = F.pad(tokens, (0, 1), value=PAD).scatter(1, lengths[:, None], EOS)
    return torch.cat([start, tokens], dim=1), target
