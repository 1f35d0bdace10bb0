"""How much every token of a text counts for every later one, in each layer and head: for pictures.

For softmax these are its weights; for retention, the size of the score times the decay, |Q Kᵀ| ⊙ D.

Shapes, everywhere in this file: H heads, N tokens of one text, I image tokens.
"""

import math
from contextlib import ExitStack
from functools import singledispatch
from typing import Any

import torch
from torch import Tensor, nn

from drethtr.model.attention import KeyValue
from drethtr.model.mixer import FadedWeights, JointSoftmaxMixer, RetentiveMixer, SoftmaxMixer
from drethtr.model.network import DRetHTR, ImageMemory


@torch.inference_mode()
def text_weights(network: DRetHTR, memory: ImageMemory, tokens: Tensor) -> Tensor:
    """(layers, H, N, N) for `tokens` (1, N) of one line, each row a token that looks back."""
    found: list[Tensor] = []

    def watch(mixer: nn.Module, given: tuple[Any, ...]) -> None:
        found.append(weights_of(mixer, *given)[0])

    with ExitStack() as watching:
        for module in network.blocks.modules():  # type: ignore[attr-defined]
            if isinstance(module, RetentiveMixer | SoftmaxMixer | JointSoftmaxMixer):
                watching.callback(module.register_forward_pre_hook(watch).remove)
        network.decode_text(tokens, memory, network.initial_state(memory))
    return torch.stack(found)


def reach(weights: Tensor) -> Tensor:
    """How many tokens back the weights (..., N, N) lie on average, (...)."""
    tokens = weights.shape[-1]
    places = torch.arange(tokens, device=weights.device)
    distance = (places[:, None] - places).clamp(min=0)
    return (weights * distance).sum((-2, -1)) / weights.sum((-2, -1)).clamp(min=1e-9)


@singledispatch
def weights_of(mixer: nn.Module, *given: Any) -> Tensor:
    """(1, H, N, N), from what a mixer is given: token vectors, queries, keys and values, ..."""
    raise TypeError(f"no weights are known of a {type(mixer).__name__}")


@weights_of.register
def of_retention(mixer: RetentiveMixer, x: Tensor, q: Tensor, text: KeyValue, *_: Any) -> Tensor:
    fade: Tensor = mixer.decay(x).float().cumsum(-1)
    distance = fade[..., :, None] - fade[..., None, :]
    decay = distance.masked_fill(future(q.shape[2], q.device), -torch.inf).exp()
    if mixer.normalize:
        decay = decay / decay.sum(-1, keepdim=True).sqrt()
    return scores(q, text.keys).abs() * decay


@weights_of.register
def of_softmax(mixer: SoftmaxMixer, x: Tensor, q: Tensor, text: KeyValue, *_: Any) -> Tensor:
    weights: Tensor = scores(q, text.keys).masked_fill(future(q.shape[2], q.device), -torch.inf).softmax(-1)
    return faded(mixer.fade, weights)


@weights_of.register
def of_joint_softmax(
    mixer: JointSoftmaxMixer, x: Tensor, q: Tensor, text: KeyValue, image: KeyValue, mask: Tensor | None, *_: Any
) -> Tensor:
    to_text = scores(q, text.keys).masked_fill(future(q.shape[2], q.device), -torch.inf)
    to_image = scores(q, image.keys)
    if mask is not None:
        to_image = to_image.masked_fill(~mask[:, None, None, :], -torch.inf)
    return faded(mixer.fade, torch.cat([to_image, to_text], dim=-1).softmax(-1)[..., -q.shape[2] :])


def faded(fade: FadedWeights | None, weights: Tensor) -> Tensor:
    """Weights as they are after the decay, if there is one."""
    return weights if fade is None else fade.forward(weights)


def scores(q: Tensor, keys: Tensor) -> Tensor:
    """Scaled dot products."""
    return q.float() @ keys.float().mT / math.sqrt(q.shape[-1])


def future(tokens: int, device: torch.device) -> Tensor:
    """True where a token would look at a later one, (N, N)."""
    return torch.ones(tokens, tokens, dtype=torch.bool, device=device).triu(1)
