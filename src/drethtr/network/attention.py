"""Softmax attention to the image, shared by all beams of a line, and the image prior.

Shapes: q (R, H, N, K) with R = lines x beams, the beams of a line in adjacent rows; image keys (B, H, I, K), once per
line.
"""

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.decay import log_gamma
from drethtr.network.softmax import softmax_attention
from drethtr.recognition.model.architecture import Added, Multiplied, NoPrior, PriorConfig
from drethtr.recognition.model.decay import LayerPosition


class KeyValue(NamedTuple):
    """Keys and values of tokens, (B, H, N, head width) each."""

    keys: Tensor
    values: Tensor


def fold_beams(q: Tensor, lines: int) -> Tensor:
    """Queries (lines x beams, H, N, K) as (lines, H, beams x N, K), so that a line's beams share its image."""
    rows, heads, tokens, width = q.shape
    if rows == lines:
        return q
    return q.view(lines, rows // lines, heads, tokens, width).transpose(1, 2).flatten(2, 3)


def unfold_beams(x: Tensor, rows: int) -> Tensor:
    """The inverse of `fold_beams`."""
    lines, heads, folded, width = x.shape
    if rows == lines:
        return x
    beams = rows // lines
    return x.view(lines, heads, beams, folded // beams, width).transpose(1, 2).flatten(0, 1)


def attend_image(q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """Attention of each text query to its line's image, (R, H, N, K); `mask` (B, I) is true where a token is."""
    keys = None if mask is None else mask[:, None, None, :]
    folded = fold_beams(q, image.keys.shape[0])
    return unfold_beams(softmax_attention(folded, *image, keys, dropout), q.shape[0])


class ImagePrior(nn.Module, ABC):
    """Attention between all image tokens, weighted by distance."""

    @abstractmethod
    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor: ...


class Unweighted(ImagePrior):
    """Plain softmax attention."""

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        return attend_image(q, image, mask, dropout)


def log_distance(log_gamma: Tensor, tokens: int) -> Tensor:
    """|i - j| log γ, (H, N, N)."""
    places = torch.arange(tokens, device=log_gamma.device)
    return (places[:, None] - places[None, :]).abs() * log_gamma[:, None, None]


class DecayPrior(ImagePrior):
    """Base of both decay priors, with a γ per head."""

    log_gamma: Tensor

    def __init__(self, log_gamma: Tensor) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma, persistent=False)


class MultipliedDecay(DecayPrior):
    """Softmax weights times γ^|i-j| / √(Σ_j γ^|i-j|), not renormalized: the published form."""

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        log_prior = log_distance(self.log_gamma, q.shape[2])[None]
        scores = q @ image.keys.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
            log_prior = log_prior.masked_fill(~mask[:, None, None, :], -torch.inf)
        # In log space: deep in the padding of a short line every γ^|i-j| is 0, and 0/0 would spread NaN over the line.
        prior = (log_prior - log_prior.logsumexp(-1, keepdim=True) / 2).exp()
        weights = scores.softmax(-1) * prior
        return F.dropout(weights, dropout, training=dropout > 0).to(image.values.dtype) @ image.values


FAINTEST = -60.0
"""Lower bound of an added log decay: less does not change a weight in float32.

Deep in the padding of a short line all scores would be so low that cuDNN's gradient is NaN (pytorch issue 196678).
"""


class AddedDecay(DecayPrior):
    """|i-j| log γ added before the softmax, so that the weights still sum to 1."""

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        bias = log_distance(self.log_gamma, q.shape[2]).clamp(min=FAINTEST)[None]
        if mask is not None:
            bias = bias.masked_fill(~mask[:, None, None, :], -torch.inf)
        return softmax_attention(q, *image, bias.to(q.dtype), dropout)


@singledispatch
def build_prior(config: PriorConfig, position: LayerPosition) -> ImagePrior:
    """Build the image prior of a layer."""
    raise TypeError(f"no image prior is registered for {config!r}")


@build_prior.register
def unweighted(config: NoPrior, position: LayerPosition) -> ImagePrior:
    """Build plain attention."""
    return Unweighted()


@build_prior.register
def multiplied(config: Multiplied, position: LayerPosition) -> ImagePrior:
    """Build a decay after the softmax."""
    return MultipliedDecay(log_gamma(config.decay, position))


@build_prior.register
def added(config: Added, position: LayerPosition) -> ImagePrior:
    """Build a decay before the softmax."""
    return AddedDecay(log_gamma(config.decay, position))
