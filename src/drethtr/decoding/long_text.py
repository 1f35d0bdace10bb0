"""Texts of any length, read piece by piece: with retention, what is remembered does not grow with them.

Shapes, everywhere in this file: tokens (R, N) for R rows of an image memory, as in `DRetHTR.decode_text`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from drethtr.model.network import DecoderState, DRetHTR, ImageMemory
from drethtr.model.retention import CHUNK


class Piece(NamedTuple):
    """Some tokens of a text, the logits (R, n, vocabulary) behind each of them, and the state after the last."""

    tokens: Tensor
    logits: Tensor
    state: DecoderState


def in_pieces(
    network: DRetHTR, tokens: Tensor, memory: ImageMemory, state: DecoderState, *, longest: int = CHUNK
) -> Iterator[Piece]:
    """`decode_text` of at most `longest` tokens at a time; only one piece is held in memory."""
    for piece in torch.split(tokens, longest, dim=1):
        logits, state = network.decode_text(piece, memory, state)
        yield Piece(piece, logits, state)


def prefill(network: DRetHTR, tokens: Tensor, memory: ImageMemory, *, longest: int = CHUNK) -> DecoderState:
    """The state after tokens that are known already, from which more can be written."""
    state = network.initial_state(memory, tokens.shape[0] // memory.layers[0].keys.shape[0])
    for piece in in_pieces(network, tokens, memory, state, longest=longest):
        state = piece.state
    return state


def score_text(network: DRetHTR, tokens: Tensor, memory: ImageMemory, *, longest: int = CHUNK) -> Tensor:
    """Log-probability of each token but the first, given those before it, (R, N - 1) in float32."""
    if tokens.shape[1] < 2:
        return tokens.new_empty(tokens.shape[0], 0, dtype=torch.float32)
    state = network.initial_state(memory, tokens.shape[0] // memory.layers[0].keys.shape[0])
    following, gains = iter(torch.split(tokens[:, 1:], longest, dim=1)), []
    for piece in in_pieces(network, tokens[:, :-1], memory, state, longest=longest):
        log_probabilities = piece.logits.float().log_softmax(-1)
        gains.append(log_probabilities.gather(2, next(following)[..., None])[..., 0])
    return torch.cat(gains, dim=1)
