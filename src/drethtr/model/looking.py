"""What a network looked at while it wrote a text: for pictures and questions, never on the way of reading.

The text is written again at once, and every layer is watched: where on the image each token looked, and how fast what
was written before it faded.
"""

from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from drethtr.model.attention import KeyValue
from drethtr.model.decay import Decay
from drethtr.model.fusion import CrossAttention
from drethtr.model.mixer import FadedWeights, TextMixer
from drethtr.model.network import DRetHTR, ImageMemory


class Looks(NamedTuple):
    """What was seen in each layer, for N tokens of one line.

    attention  (layers, H, N, I) share of its attention that each token gives to each image token, summing to 1
    reach      (layers, H) tokens that what was written lasts, 1 / (1 - γ), on average; None where nothing fades
    """

    attention: Tensor
    reach: Tensor | None


@torch.inference_mode()
def watch(network: DRetHTR, memory: ImageMemory, tokens: Tensor) -> Looks:
    """Write a text again: `tokens` (1, N) are what stands before each of the N watched ones; the line is alone."""
    attention: list[Tensor] = []
    reach: list[Tensor] = []

    def watch_mixer(_: nn.Module, given: tuple[Any, ...]) -> None:
        _x, q, _text, image, mask, *_state = given
        attention.append(shares(q, image, mask))

    def watch_cross(cross: nn.Module, given: tuple[Any, ...]) -> None:
        assert isinstance(cross, CrossAttention)
        x, image, mask = given
        attention.append(shares(cross.to_q(x).unflatten(-1, (cross.heads, -1)).transpose(1, 2), image, mask))

    def watch_decay(_: nn.Module, _given: tuple[Any, ...], log_gamma: Tensor) -> None:
        reach.append((1 / -torch.expm1(log_gamma.float())).mean((0, 2)))

    def watch_fade(fade: nn.Module, _given: tuple[Any, ...]) -> None:
        assert isinstance(fade, FadedWeights)
        reach.append(1 / -torch.expm1(fade.log_gamma.float()))

    with ExitStack() as watching:
        for module in (part for block in network.blocks for part in block.modules()):
            if isinstance(module, TextMixer):
                watching.callback(module.register_forward_pre_hook(watch_mixer).remove)
            elif isinstance(module, CrossAttention):
                watching.callback(module.register_forward_pre_hook(watch_cross).remove)
            elif isinstance(module, FadedWeights):
                watching.callback(module.register_forward_pre_hook(watch_fade).remove)
            elif isinstance(module, Decay):
                watching.callback(module.register_forward_hook(watch_decay).remove)
        network.decode_text(tokens, memory, network.initial_state(memory))
    return Looks(torch.stack(attention), torch.stack(reach) if reach else None)


def shares(q: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
    """Softmax weights (H, N, I) of queries (1, H, N, K) on the image tokens of the same line."""
    scores = q.float() @ image.keys.float().mT * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
    weights: Tensor = scores.softmax(-1)[0]
    return weights
