"""A network as search sees it: the next token, or a whole text at once."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drethtr.network.network import DecoderState, DRetHTR, ImageMemory
from drethtr.network.tree import Tree
from drethtr.recognition.search.search import select_rows
from drethtr.recognition.search.tree import TextTree, stack_trees
from drethtr.text.tokenizer import BOS, PAD

LONGEST = 400
"""Tokens of a text, where no CTC head says how many fit."""


class NetworkScorer(NamedTuple):
    """A network and the image memory of B lines, which stays here, once per line.

    `forbidden` tokens are no text, and never written.
    """

    network: DRetHTR
    memory: ImageMemory
    forbidden: tuple[int, ...] = (BOS, PAD)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """See `Scorer.step`."""
        logits, state = self.network.decode_text(tokens[:, None], self.memory, state)
        return self.allowed(logits[:, -1]).log_softmax(-1), state

    def keep(self, lines: Tensor) -> "NetworkScorer":
        """See `Scorer.keep`."""
        return self._replace(memory=select_lines(self.memory, lines))

    def blind(self) -> "NetworkScorer":
        """The same network, with as many lines of which it sees nothing."""
        return self._replace(memory=self.network.blank(self.lines))

    def allowed(self, logits: Tensor) -> Tensor:
        """The logits in float32, those of forbidden tokens made impossible."""
        logits = logits.float()
        for token in self.forbidden:  # one by one: a list would be copied to a GPU at every step, and waited for
            logits[..., token] = -torch.inf
        return logits

    @property
    def lines(self) -> int:
        """How many lines there are, B."""
        return self.memory.layers[0].keys.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the image memory is."""
        return self.memory.layers[0].keys.device

    @property
    def dtype(self) -> torch.dtype:
        """The numbers in which the layers compute."""
        return self.memory.layers[0].keys.dtype

    def first_tokens(self) -> Tensor:
        """The start of every line's text, (B,)."""
        return torch.full((self.lines,), BOS, device=self.device)

    def logits(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Logits (B, N + 1, vocabulary) of what follows each beginning of one text per line, in one parallel pass.

        N is the length of the longest text. What stands behind the end of a shorter text means nothing.
        """
        tokens = side_by_side(texts).to(self.device)
        state = self.network.initial_state(self.memory)
        logits, _ = self.network.decode_text(tokens, self.memory, state)
        return self.allowed(logits)

    def foretell(self, trees: Sequence[TextTree]) -> Tensor:
        """Log-probabilities (B, N, vocabulary) of what follows each node of one tree of texts per line, on the CPU.

        All in one parallel pass.
        """
        tokens, tree = stack_trees(trees)
        here = Tree(*(part.to(self.device) for part in tree))
        return self.allowed(self.network.decode_tree(tokens.to(self.device), here, self.memory)).log_softmax(-1).cpu()


def side_by_side(texts: Sequence[Sequence[int]]) -> Tensor:
    """The start and each text, filled up with padding to one length, (texts, N + 1)."""
    longest = max(map(len, texts), default=0)
    return torch.tensor([[BOS, *text, *[PAD] * (longest - len(text))] for text in texts])


def select_lines(memory: ImageMemory, lines: Tensor) -> ImageMemory:
    """The memory of some lines."""
    return ImageMemory(
        select_rows(memory.layers, lines),
        None if memory.mask is None else memory.mask[lines],
        None if memory.ctc is None else select_rows(memory.ctc, lines),
    )


def text_limits(memory: ImageMemory) -> Tensor:
    """The longest text of each line, (B,), its end included: as many characters as CTC could hold."""
    if memory.ctc is not None:
        return memory.ctc.steps + 1
    keys = memory.layers[0].keys
    return torch.full((keys.shape[0],), LONGEST, device=keys.device)
