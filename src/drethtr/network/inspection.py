"""Record what a network attends to while it decodes a text, for pictures and inspection; reading never needs this.

The text is decoded once more in one pass, while hooks record for every layer where on the image each token attends, how
much it weighs the preceding text, and how fast that decays.

Shapes, everywhere in this file: H heads, N tokens of one text, I image tokens.
"""

from contextlib import ExitStack
from functools import singledispatch
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from drethtr.network.attention import KeyValue
from drethtr.network.decay import Decay
from drethtr.network.fusion import CrossAttention
from drethtr.network.mixer import (
    FadedWeights,
    JointSoftmaxMixer,
    PastMixer,
    RetentiveMixer,
    SoftmaxMixer,
    TextMixer,
    causal_mask,
    mask_scores,
)
from drethtr.network.network import BatchMemory, DRetHTR


class LayerWeights(NamedTuple):
    """Weights in each layer, for N tokens of one line.

    attention  (layers, H, N, I) attention of each token to each image token, normalized to a sum of 1
    text       (layers, H, N, N) weight of each earlier token: softmax weights, or |Q Kᵀ| ⊙ D
    reach      (layers, H) mean number of tokens that a memory lasts, 1 / (1 - γ); None without decay
    """

    attention: Tensor
    text: Tensor
    reach: Tensor | None


@torch.inference_mode()
def record_weights(network: DRetHTR, memory: BatchMemory, tokens: Tensor) -> LayerWeights:
    """Decode a text of one line again, and record the weights; `tokens` (1, N) are the inputs of the N steps."""
    attention: list[Tensor] = []
    text: list[Tensor] = []
    reach: list[Tensor] = []

    def watch_image(_: nn.Module, given: tuple[Any, ...]) -> None:
        _x, q, _text, image, mask, *_state = given
        attention.append(shares(q, image, mask))

    def watch_cross(cross: nn.Module, given: tuple[Any, ...]) -> None:
        assert isinstance(cross, CrossAttention)
        x, image, mask = given
        attention.append(shares(cross.to_q(x).unflatten(-1, (cross.heads, -1)).transpose(1, 2), image, mask))

    def watch_text(mixer: nn.Module, given: tuple[Any, ...]) -> None:
        text.append(text_weights(mixer, *given)[0])

    def watch_decay(_: nn.Module, _given: tuple[Any, ...], log_gamma: Tensor) -> None:
        reach.append((1 / -torch.expm1(log_gamma.float())).mean((0, 2)))

    def watch_fade(fade: nn.Module, _given: tuple[Any, ...]) -> None:
        assert isinstance(fade, FadedWeights)
        reach.append(1 / -torch.expm1(fade.log_gamma.float()))

    with ExitStack() as watching:
        for module in (part for block in network.blocks for part in block.modules()):
            if isinstance(module, TextMixer):
                watching.callback(module.register_forward_pre_hook(watch_image).remove)
            if isinstance(module, PastMixer | JointSoftmaxMixer):
                watching.callback(module.register_forward_pre_hook(watch_text).remove)
            if isinstance(module, CrossAttention):
                watching.callback(module.register_forward_pre_hook(watch_cross).remove)
            if isinstance(module, FadedWeights):
                watching.callback(module.register_forward_pre_hook(watch_fade).remove)
            if isinstance(module, Decay):
                watching.callback(module.register_forward_hook(watch_decay).remove)
        network.decode_text(tokens, memory, network.initial_state(memory))
    return LayerWeights(torch.stack(attention), torch.stack(text), torch.stack(reach) if reach else None)


def shares(q: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
    """Softmax weights (H, N, I) of queries (1, H, N, K) on the image tokens of their line."""
    weights: Tensor = image_scores(q, image, mask).softmax(-1)[0]
    return weights


@singledispatch
def text_weights(mixer: nn.Module, *given: Any) -> Tensor:
    """The weights (1, H, N, N) of a whole text, from a mixer's inputs: token vectors, queries, keys and values."""
    raise TypeError(f"no weights are known of a {type(mixer).__name__}")


@text_weights.register
def of_retention(mixer: RetentiveMixer, x: Tensor, q: Tensor, text: KeyValue, *_: Any) -> Tensor:
    fade = mixer.decay.forward(x).float().cumsum(-1)  # bypasses the hook, which would record it twice
    decay = past_only(fade[..., :, None] - fade[..., None, :]).exp()
    if mixer.normalize:
        decay = decay / decay.sum(-1, keepdim=True).sqrt()
    return scores(q, text).abs() * decay


@text_weights.register
def of_softmax(mixer: SoftmaxMixer, x: Tensor, q: Tensor, text: KeyValue, *_: Any) -> Tensor:
    return apply_fade(mixer.fade, past_only(scores(q, text)).softmax(-1))


@text_weights.register
def of_joint_softmax(
    mixer: JointSoftmaxMixer, x: Tensor, q: Tensor, text: KeyValue, image: KeyValue, mask: Tensor | None, *_: Any
) -> Tensor:
    weights = torch.cat([image_scores(q, image, mask), past_only(scores(q, text))], dim=-1).softmax(-1)
    return apply_fade(mixer.fade, weights[..., -q.shape[2] :])


def scores(q: Tensor, tokens: KeyValue) -> Tensor:
    """Scaled dot products."""
    found: Tensor = q.float() @ tokens.keys.float().mT * q.shape[-1] ** -0.5
    return found


def image_scores(q: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
    """Scaled dot products with image tokens, -inf in padding."""
    return mask_scores(scores(q, image), None if mask is None else mask[:, None, None, :])


def past_only(of_text: Tensor) -> Tensor:
    """Scores (..., N, N) of a text, -inf for later tokens."""
    tokens = of_text.shape[-1]
    return mask_scores(of_text, causal_mask(tokens, tokens, of_text.device))


def apply_fade(fade: FadedWeights | None, weights: Tensor) -> Tensor:
    """Apply the decay to weights, if there is one."""
    return weights if fade is None else fade.forward(weights)
