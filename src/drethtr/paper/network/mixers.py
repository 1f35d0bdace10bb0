"""Mixers of the paper's baselines and ablations, and the outputs of heads in RetNet and the released code.

Mixers: one softmax, two of them, with or without decay; and a gated decay. Outputs: RetNet's own block normalizes and
gates every head; the paper omits both (Sec. 4.1.2).

Shapes as in `drethtr.network.mixer`; of outputs: found, x (B, N, width), the heads of a token next to each other.
Source: RetNet, arXiv 2307.08621, Sec. 2.3.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.ancestry import AncestralCache
from drethtr.network.attention import KeyValue, fold_beams, softmax_attention, unfold_beams
from drethtr.network.block import OUTPUTS, Output
from drethtr.network.cache import TextCache, distances
from drethtr.network.mixer import ARMF, MIXERS, AttentionWeights, PastMixer, Query, TextMixer, image_scores, scores
from drethtr.network.retention import DECAYS, Decay, log_gamma
from drethtr.paper.variants import Fade, Gated, HeadNorm, JointSoftmax, Sigmoid, SplitSoftmax, SwishGate
from drethtr.recognition.model.decay import LayerPosition

Written = TextCache | AncestralCache
"""The state of softmax attention."""


@DECAYS.computes(Gated)
class GatedDecay(Decay):
    """γ = sigmoid(x W)^(1/τ): each token decides how much of the past to keep (paper, eq. 5)."""

    def __init__(self, config: Gated, position: LayerPosition, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, position.heads, bias=False)
        self.temperature = config.temperature

    def forward(self, x: Tensor) -> Tensor:
        return F.logsigmoid(self.gate(x).to(torch.promote_types(x.dtype, torch.float32))).mT / self.temperature


def mask_scores(scores: Tensor, seen: Tensor | None) -> Tensor:
    """Set scores to -inf where a query may not attend."""
    return scores if seen is None else scores.masked_fill(~seen, -torch.inf)


class FadedWeights(nn.Module):
    """Softmax weights of the text times γ^(n-m), so that they no longer sum to 1; unchanged without a `fade`."""

    def __init__(self, fade: Fade | None, position: LayerPosition) -> None:
        super().__init__()
        self.normalize = fade is not None and fade.normalize
        self.register_buffer("log_gamma", None if fade is None else log_gamma(fade.decay, position), persistent=False)

    log_gamma: Tensor | None

    def forward(self, weights: Tensor, distance: Tensor) -> Tensor:
        """Multiply weights (R, H, queries, keys) by the decay over a distance (queries, keys); same shape."""
        if self.log_gamma is None:
            return weights
        decay = (distance.clamp(min=0) * self.log_gamma[:, None, None]).exp()
        if self.normalize:
            decay = decay / (decay * (distance >= 0)).sum(-1, keepdim=True).sqrt()
        return weights * decay

    @property
    def reach(self) -> Tensor | None:
        """See `AttentionWeights`."""
        return None if self.log_gamma is None else 1 / -torch.expm1(self.log_gamma.float())


class SoftmaxMixer(PastMixer[Written]):
    """Causal softmax attention; its state holds every text token."""

    def __init__(self, fade: Fade | None, position: LayerPosition) -> None:
        super().__init__()
        self.fade = FadedWeights(fade, position)

    def initial_state(self, like: KeyValue) -> TextCache:
        return TextCache.empty(like)

    def forward(self, query: Query, state: Written, *, dropout: float) -> tuple[Tensor, Written]:
        _, q, text = query
        state = state.followed_by(text)
        if isinstance(state, AncestralCache) and self.fade.log_gamma is None:
            return state.attend(q * q.shape[-1] ** -0.5)[0].to(q.dtype), state
        written, seen = state.tokens, state.seen(q.shape[2])
        if self.fade.log_gamma is None:
            return softmax_attention(q, *written, seen, dropout), state
        found = mask_scores(q * q.shape[-1] ** -0.5 @ written.keys.mT, seen)
        weights = F.dropout(self.fade(found.softmax(-1), state.distance(q.shape[2])), dropout, training=dropout > 0)
        return weights.to(q.dtype) @ written.values, state

    def weigh(self, query: Query) -> tuple[Tensor, Tensor | None]:
        return self.fade(past_scores(query).softmax(-1), distances_of(query))[0], self.fade.reach


@MIXERS.computes(JointSoftmax)
class JointSoftmaxMixer(TextMixer[Written]):
    """One softmax over image and text together: the DTrHTR baseline."""

    def __init__(self, config: JointSoftmax, position: LayerPosition, width: int) -> None:
        super().__init__()
        self.fade = FadedWeights(config.fade, position)

    def initial_state(self, like: KeyValue) -> TextCache:
        return TextCache.empty(like)

    def forward(
        self, query: Query, image: KeyValue, mask: Tensor | None, state: Written, *, dropout: float
    ) -> tuple[Tensor, Written]:
        _, q, text = query
        state = state.followed_by(text)
        rows, lines, places = q.shape[0], image.keys.shape[0], image.keys.shape[2]
        scaled = q * q.shape[-1] ** -0.5
        to_image = mask_scores(
            fold_beams(scaled, lines) @ image.keys.mT, None if mask is None else mask[:, None, None, :]
        )
        if isinstance(state, AncestralCache) and self.fade.log_gamma is None:
            # One softmax over both is the mean of two softmaxes, weighted by their denominators.
            from_text, text_mass = state.attend(scaled)
            from_image = unfold_beams(to_image.softmax(-1) @ image.values, rows)
            image_mass = unfold_beams(to_image.logsumexp(-1, keepdim=True), rows)
            share = (image_mass - text_mass).sigmoid()
            return (share * from_image + (1 - share) * from_text).to(q.dtype), state
        written, seen = state.tokens, state.seen(q.shape[2])
        to_text = mask_scores(scaled @ written.keys.mT, seen)
        weights = torch.cat([unfold_beams(to_image, rows), to_text], dim=-1).softmax(-1)
        # Faded after the softmax, as released: the weights of the text then sum to less than they did.
        from_past = self.fade(weights[..., places:], state.distance(q.shape[2]))
        weights = torch.cat([weights[..., :places], from_past], dim=-1)
        weights = F.dropout(weights, dropout, training=dropout > 0).to(q.dtype)
        from_image = unfold_beams(fold_beams(weights[..., :places], lines) @ image.values, rows)
        return from_image + weights[..., places:] @ written.values, state

    def weigh(self, query: Query, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        of_image = image_scores(query.q, image, mask)
        weights = torch.cat([of_image, past_scores(query)], dim=-1).softmax(-1)[..., of_image.shape[-1] :]
        return AttentionWeights(of_image.softmax(-1)[0], self.fade(weights, distances_of(query))[0], self.fade.reach)


@MIXERS.computes(SplitSoftmax)
def split_softmax(config: SplitSoftmax, position: LayerPosition, width: int) -> ARMF[Written]:
    """ARMF with a second softmax in the place of retention."""
    return ARMF(SoftmaxMixer(config.fade, position))


def past_scores(query: Query) -> Tensor:
    """Scaled dot products (1, H, N, N) of a whole text, -inf for later tokens."""
    return mask_scores(scores(query.q, query.text), distances_of(query) >= 0)


def distances_of(query: Query) -> Tensor:
    """How far the tokens of a whole text are from each other, (N, N)."""
    tokens = query.q.shape[2]
    return distances(tokens, tokens, query.q.device)


@OUTPUTS.computes(Sigmoid)
class SigmoidOutput(Output):
    """A sigmoid."""

    def __init__(self, config: Sigmoid, width: int, heads: int) -> None:
        super().__init__()

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return found.sigmoid()


@OUTPUTS.computes(HeadNorm)
class NormedHeads(Output):
    """Norms every head of every token separately."""

    def __init__(self, config: HeadNorm | SwishGate, width: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(heads, width)
        self.on_image = config.on_image

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(found.flatten(0, 1)).view_as(found)
        return normed


@OUTPUTS.computes(SwishGate)
class SwishGated(NormedHeads):
    """Norms the heads, then gates each channel by the token."""

    def __init__(self, config: SwishGate, width: int, heads: int) -> None:
        super().__init__(config, width, heads)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return F.silu(self.gate(x)) * super().forward(found, x)
