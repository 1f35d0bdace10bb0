"""Small networks that read another text on every line of noise."""

from dataclasses import replace

import numpy as np
import torch
from conftest import TINY

from drethtr.language.languages import NO_LANGUAGE
from drethtr.network.backend import TorchNetwork
from drethtr.network.network import DRetHTR
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.protocol import ImageMemory, Network

VOCABULARY = 12


def noisy_weights(**changes) -> DRetHTR:
    """A network with random weights so large that small changes of image or text have a large effect."""
    torch.manual_seed(0)
    made = DRetHTR(replace(TINY, **changes), VOCABULARY).eval().requires_grad_(False)
    for weight in (made.embed.tokens.weight, *(w for block in made.blocks for w in block.parameters() if w.dim() > 1)):
        torch.nn.init.normal_(weight, std=0.5)
    for weight in (made.ctc.refine.weight, made.to_logits.weight):
        torch.nn.init.normal_(weight)
    return made


def network(**changes) -> TorchNetwork:
    """The backend of a network with such weights."""
    return TorchNetwork(noisy_weights(**changes))


def noise_lines(made: Network, lines: int, seed: int = 0) -> ImageMemory:
    """The image memory of lines of noise of different widths."""
    rng = np.random.default_rng(seed)
    return made.encode([rng.uniform(-1, 1, (48, rng.integers(40, 200))).astype(np.float32) for _ in range(lines)])


def find(strategy: Strategy, made: Network, memory: ImageMemory, alternatives: int = 0, languages=NO_LANGUAGE):
    """Decode with a strategy, from a single view."""
    return strategy.find(made, [View.of(memory)], alternatives, languages)
