"""How far the parallel form of a network and its recurrent form drift apart on the same text.

On paper they are one function. In finite precision their sums run in another order, so their results differ a little,
and the difference may grow with the text; what drifts too far no longer writes what it was trained to write.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from drethtr.language.ngrams import NGrams
from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.network.retention import CHUNK
from drethtr.recognition.search.decoded import Decoded
from drethtr.recognition.search.decoder import Decoder
from drethtr.recognition.search.scorer import side_by_side

TOLERANCE = 1e-3
"""Log-probabilities that differ by more are worth a warning; in float32 the forms agree some twenty times better."""


def drift(network: DRetHTR, tokens: Tensor, memory: ImageMemory) -> Tensor:
    """The largest difference between log-probabilities behind each of the tokens (R, N), (R, N).

    The parallel form takes at most `CHUNK` tokens at a time, the recurrent one a single token.
    """
    parallel = recurrent = network.initial_state(memory, tokens.shape[0] // memory.layers[0].keys.shape[0])
    differences = []
    for piece in torch.split(tokens, CHUNK, dim=1):
        at_once, parallel = network.decode_text(piece, memory, parallel)
        steps = []
        for token in torch.split(piece, 1, dim=1):
            logits, recurrent = network.decode_text(token, memory, recurrent)
            steps.append(logits)
        one, other = (part.float().log_softmax(-1) for part in (at_once, torch.cat(steps, dim=1)))
        differences.append((one - other).abs().amax(-1))
    return torch.cat(differences, dim=1)


def text_drift(network: DRetHTR, texts: Sequence[Sequence[int]], memory: ImageMemory) -> list[float]:
    """The largest drift on each of some texts, one per line of the memory."""
    found = drift(network, side_by_side(texts).to(memory.layers[0].keys.device), memory).cpu()
    return [float(row[: len(text) + 1].max()) for row, text in zip(found, texts, strict=True)]


class DriftTold(Decoder):
    """A decoder as it is, and how far the two forms are apart on the texts of every batch; longer than reading.

    It asks for the network that writes token by token, since that is measured: in bfloat16, a narrow one is in float32.
    """

    def __init__(self, decoder: Decoder, tell: Callable[[float], object]) -> None:
        self.decoder = decoder
        self.tell = tell

    @property
    def widths(self) -> tuple[float, ...]:
        return self.decoder.widths

    def decode_views(
        self, network: DRetHTR, views: Sequence[ImageMemory], alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        decoded = self.decoder.decode_views(network, views, alternatives, ngrams)
        self.tell(max(text_drift(network, [line.tokens for line in decoded], views[0])))
        return decoded
