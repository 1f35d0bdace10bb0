"""How far the parallel form of a network and its recurrent form drift apart on the same text.

On paper they are one function. In finite precision their sums run in another order, so their results differ a little,
and the difference may grow with the text; what drifts too far no longer writes what it was trained to write.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from drethtr.decoding.long_text import in_pieces
from drethtr.decoding.scorer import side_by_side
from drethtr.model.network import DRetHTR, ImageMemory
from drethtr.model.retention import CHUNK

TOLERANCE = 1e-3
"""Log-probabilities that differ by more are worth a warning; in float32 the forms agree some twenty times better."""


def drift(network: DRetHTR, tokens: Tensor, memory: ImageMemory, *, longest: int = CHUNK) -> Tensor:
    """The largest difference between log-probabilities behind each of the tokens (R, N), (R, N).

    The parallel form takes at most `longest` tokens at a time, the recurrent one a single token.
    """
    start = network.initial_state(memory, tokens.shape[0] // memory.layers[0].keys.shape[0])
    stepping, differences = start, []
    for piece in in_pieces(network, tokens, memory, start, longest=longest):
        steps = []
        for token in torch.split(piece.tokens, 1, dim=1):
            logits, stepping = network.decode_text(token, memory, stepping)
            steps.append(logits)
        at_once, stepped = (part.float().log_softmax(-1) for part in (piece.logits, torch.cat(steps, dim=1)))
        differences.append((at_once - stepped).abs().amax(-1))
    return torch.cat(differences, dim=1)


def text_drift(network: DRetHTR, texts: Sequence[Sequence[int]], memory: ImageMemory) -> list[float]:
    """The largest drift on each of some texts, one per line of the memory."""
    found = drift(network, side_by_side(texts).to(memory.layers[0].keys.device), memory).cpu()
    return [float(row[: len(text) + 1].max()) for row, text in zip(found, texts, strict=True)]
