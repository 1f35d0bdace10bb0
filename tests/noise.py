"""Small networks that write a text of their own on every line of noise."""

from dataclasses import replace

import torch
from conftest import TINY

from drethtr.network.network import DRetHTR, ImageMemory

VOCABULARY = 12


def network(**changes) -> DRetHTR:
    """Random weights, so large that little in the image or the text changes much in what is written."""
    torch.manual_seed(0)
    made = DRetHTR(replace(TINY, **changes), VOCABULARY).eval()
    for weight in (made.embed.tokens.weight, *(w for block in made.blocks for w in block.parameters() if w.dim() > 1)):
        torch.nn.init.normal_(weight, std=0.5)
    for weight in (made.ctc.refine.weight, made.to_logits.weight):
        torch.nn.init.normal_(weight)
    return made


def noise_lines(made: DRetHTR, lines: int, seed: int = 0) -> ImageMemory:
    """Image memory of lines of noise of different widths."""
    generator = torch.Generator().manual_seed(seed)
    widths = torch.randint(40, 200, (lines,), generator=generator)
    images = torch.rand(lines, 1, 48, 200, generator=generator) * 2 - 1
    return made.encode_image(images.to(made.to_logits.weight.dtype), widths)
