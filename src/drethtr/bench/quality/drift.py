"""Measure how far the parallel and the recurrent form of a network drift apart on the same text.

Mathematically they are the same function. In finite precision they add in different orders, so results differ slightly,
and the difference may grow along the text. With too much drift, a network decodes differently from how it was trained.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from drethtr.images.line import Line
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.network.retention import CHUNK
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import Model
from drethtr.recognition.pieces import PreparedPiece
from drethtr.recognition.protocol import Precision
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, PAD

TOLERANCE = 1e-3
"""Difference of log-probabilities worth a warning; in float32 the forms agree about twenty times better."""


def measure(
    model: Model, strategy: Strategy | None, lines: Sequence[Line], device: torch.device, precision: Precision
) -> list[float]:
    """The largest drift for each piece of the lines, on the text that was read.

    It covers the text side only, which in bfloat16 still computes in float32 for narrow networks.
    """
    network = TorchNetwork.of(model, network_of(model, device), precision)
    recognizer = Recognizer(model, strategy, network=network, precision=precision)

    def work(group: Sequence[PreparedPiece], view: View) -> list[float]:
        texts = [piece.tokens for piece in recognizer.pieces.read(group)]
        with torch.inference_mode():
            return text_drift(network.text, texts, view.memory.kept)

    return recognizer.pieces.map_views(recognizer.pieces.prepare_all(lines), work)


def text_drift(network: DRetHTR, texts: Sequence[Sequence[int]], memory: BatchMemory) -> list[float]:
    """The largest drift on each text; there is one per line of the memory."""
    tokens = pad_sequence([torch.tensor([BOS, *text]) for text in texts], batch_first=True, padding_value=PAD)
    found = drift(network, tokens.to(memory.layers[0].keys.device), memory).cpu()
    return [float(row[: len(text) + 1].max()) for row, text in zip(found, texts, strict=True)]


def drift(network: DRetHTR, tokens: Tensor, memory: BatchMemory) -> Tensor:
    """The largest difference of log-probabilities (R, N) after each token (R, N).

    The parallel form takes up to `CHUNK` tokens at a time, the recurrent form a single token.
    """
    parallel = recurrent = network.initial_state(memory, tokens.shape[0] // memory.layers[0].keys.shape[0])
    differences = []
    for piece in torch.split(tokens, CHUNK, dim=1):
        # Both forms continue from their own state, to see how the difference grows along a text.
        at_once, parallel = network.decode_text(piece, memory, parallel)
        steps = []
        for token in torch.split(piece, 1, dim=1):
            logits, recurrent = network.decode_text(token, memory, recurrent)
            steps.append(logits)
        one, other = (part.float().log_softmax(-1) for part in (at_once, torch.cat(steps, dim=1)))
        differences.append((one - other).abs().amax(-1))
    return torch.cat(differences, dim=1)
