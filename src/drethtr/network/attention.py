"""Softmax attention: of text to the image, shared by all beams of a line, and of image tokens, with the image prior.

Shapes: q (R, H, N, K) with R = lines x beams, the beams of a line in adjacent rows; image keys (B, H, I, K), once per
line.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.retention import log_gamma
from drethtr.network.variants import Variants
from drethtr.recognition.model.architecture import Added, Multiplied, NoPrior
from drethtr.recognition.model.decay import LayerPosition


class KeyValue(NamedTuple):
    """Keys and values of tokens, (B, H, N, head width) each."""

    keys: Tensor
    values: Tensor


def softmax_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0) -> Tensor:
    """softmax(q kᵀ / √K) v, (B, H, N, K) from q (B, H, N, K) and k, v (B, H, M, K).

    A boolean mask (broadcast to B, H, N, M) is true where to attend; any other mask is added to the scores.
    On a CPU in half precision, the gradient of PyTorch's kernel takes six times as long as that of the plain formula
    (LOG.md, 2026-11-21).
    """
    if q.device.type == "cpu" and q.dtype.itemsize == 2 and q.requires_grad:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        return F.dropout(scores.softmax(-1), dropout, training=dropout > 0).to(v.dtype) @ v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)


def fold_beams(q: Tensor, lines: int) -> Tensor:
    """Queries (lines x beams, H, N, K) as (lines, H, beams x N, K), so that a line's beams share its image."""
    return q.reshape(lines, len(q) // lines, *q.shape[1:]).transpose(1, 2).flatten(2, 3)


def unfold_beams(x: Tensor, rows: int) -> Tensor:
    """The inverse of `fold_beams`."""
    return x.reshape(*x.shape[:2], rows // len(x), -1, x.shape[-1]).transpose(1, 2).flatten(0, 1)


def attend_image(q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """Attention of each text query to its line's image, (R, H, N, K); `mask` (B, I) is true where a token is."""
    keys = None if mask is None else mask[:, None, None, :]
    folded = fold_beams(q, image.keys.shape[0])
    return unfold_beams(softmax_attention(folded, *image, keys, dropout), q.shape[0])


class ImagePrior(nn.Module, ABC):
    """Attention between all image tokens, weighted by distance (paper, Table 7)."""

    @abstractmethod
    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor: ...


PRIORS = Variants[ImagePrior]("image prior")
"""Made from config and position of the layer."""


@PRIORS.computes(NoPrior)
class Unweighted(ImagePrior):
    """Plain softmax attention."""

    def __init__(self, config: NoPrior, position: LayerPosition) -> None:
        super().__init__()

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        return attend_image(q, image, mask, dropout)


def log_distance(log_gamma: Tensor, tokens: int) -> Tensor:
    """|i - j| log γ, (H, N, N)."""
    places = torch.arange(tokens, device=log_gamma.device)
    return (places[:, None] - places[None, :]).abs() * log_gamma[:, None, None]


class DecayPrior(ImagePrior):
    """Base of both decay priors, with a γ per head."""

    log_gamma: Tensor

    def __init__(self, config: Multiplied | Added, position: LayerPosition) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma(config.decay, position), persistent=False)


@PRIORS.computes(Multiplied)
class MultipliedDecay(DecayPrior):
    """Softmax weights times γ^|i-j| / √(Σ_j γ^|i-j|), not renormalized: the published form."""

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        log_prior = log_distance(self.log_gamma, q.shape[2])[None]
        scores = q @ image.keys.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
            log_prior = log_prior.masked_fill(~mask[:, None, None, :], -torch.inf)
        # In log-space: deep in the padding of a short line every γ^|i-j| is 0, and 0/0 would spread NaN over the line.
        prior = (log_prior - log_prior.logsumexp(-1, keepdim=True) / 2).exp()
        weights = scores.softmax(-1) * prior
        return F.dropout(weights, dropout, training=dropout > 0).to(image.values.dtype) @ image.values


FAINTEST = -60.0
"""Lower bound of an added log decay: lower values do not change a weight in float32.

Deep in the padding of a short line all scores would be so low that cuDNN's gradient is NaN: below −88 it overflows
(pytorch issue 196678; LOG.md, 2026-11-26).
"""


@PRIORS.computes(Added)
class AddedDecay(DecayPrior):
    """|i-j| log γ added before the softmax, so that the weights still sum to 1."""

    def forward(self, q: Tensor, image: KeyValue, mask: Tensor | None, dropout: float) -> Tensor:
        bias = log_distance(self.log_gamma, q.shape[2]).clamp(min=FAINTEST)[None]
        if mask is not None:
            bias = bias.masked_fill(~mask[:, None, None, :], -torch.inf)
        return softmax_attention(q, *image, bias.to(q.dtype), dropout)
