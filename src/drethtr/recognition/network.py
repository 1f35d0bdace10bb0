"""The wall between reading and computing: what a network can be asked, in numpy arrays.

Two backends stand behind it: `drethtr.recognition.onnx` computes with onnxruntime and is what reads by default;
`drethtr.network.backend` computes with torch, for training, CUDA and research networks. Search, confidences and the
recognizer know only this protocol, so both backends give the same texts (tests/recognition/test_backends.py).

Shapes, everywhere in this file: B lines; R rows, that is lines times beams, the beams of a line next to each other; V
tokens of the vocabulary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drethtr.images.prepare import Prepared
from drethtr.recognition.search.tree import TextTree

Logits = NDArray[np.float32]
Tokens = NDArray[np.int64]
State = Any
"""What the layers remember of the text so far: a value, opaque to all but the network that made it."""


class Dimensions(NamedTuple):
    """What search and recognizer must know of a network.

    vocabulary         tokens it knows, V
    height             rows of the lines it takes
    columns_per_token  image columns between one image token and the next
    steps_per_token    CTC steps for an image token; None without a CTC head
    features           numbers in `ImageMemory.mean`
    widest             columns of the widest line it can take, if there is a limit
    epsilon            rounding error of the numbers its layers compute with, relative to 1
    rescores           whether `score_texts` is that of a rescorer, a network trained for it
    """

    vocabulary: int
    height: int
    columns_per_token: int
    steps_per_token: int | None
    features: int
    widest: int | None = None
    epsilon: float = float(np.finfo(np.float32).eps)
    rescores: bool = False


@dataclass(frozen=True)
class ImageMemory:
    """What a network keeps of B lines once it has seen their images.

    tokens  image tokens of each line
    drafts  logits (tokens, V) of each line's draft reading, straight from the backbone; None without a CTC head
    ctc     logits (steps, V) of each line's refined CTC reading; None without a CTC head
    mean    (B, features) each line's mean key and value in the last layer: what its writing looks like
    kept    keys and values of the image tokens in every layer, as the network that made them stores them
    """

    tokens: tuple[int, ...]
    drafts: tuple[Logits, ...] | None
    ctc: tuple[Logits, ...] | None
    mean: NDArray[np.float32]
    kept: Any

    @property
    def lines(self) -> int:
        """How many lines there are, B."""
        return len(self.tokens)


class Attention(NamedTuple):
    """What each layer attended to while N tokens of one line were written.

    image  (layers, H, N, I) share of its attention that each token gives to each image token, summing to 1
    text   (layers, H, N, N) weight of each earlier token: softmax weights, or |Q Kᵀ| ⊙ D
    reach  (layers, H) how many tokens a memory lasts on average, 1 / (1 - γ); None where nothing decays
    """

    image: NDArray[np.float32]
    text: NDArray[np.float32]
    reach: NDArray[np.float32] | None


class Network(Protocol):
    """Pure functions of a trained network. Methods may be called from several threads at once, see `workers`."""

    @property
    def dimensions(self) -> Dimensions:
        """See `Dimensions`."""

    @property
    def workers(self) -> int:
        """Number of threads that can call it in parallel with profit."""

    def groups(self, columns: Sequence[int]) -> Iterator[list[int]]:
        """Which lines to encode together, as numbers of lines with so many columns."""

    def encode(self, images: Sequence[Prepared]) -> ImageMemory:
        """Run prepared lines through every layer; the answer for a line does not depend on the others.

        Raises:
            MemoryError: if they do not fit into the device's memory together.
        """

    def keep(self, memory: ImageMemory, lines: Sequence[int]) -> ImageMemory:
        """The memory of some of its lines."""

    def score_trees(self, memory: ImageMemory, trees: Sequence[TextTree]) -> list[Logits]:
        """Logits (nodes, V) of what follows each node of one tree of texts for each line, in one parallel pass."""

    def score_texts(self, trees: Sequence[TextTree]) -> list[Logits]:
        """Logits (nodes, V) of what follows each node of some trees by language alone, in one parallel pass each.

        They are the rescorer's if the model has one, else the decoder's without an image.
        """

    def begin(self, memory: ImageMemory) -> State:
        """The state before the first token, one row for each line."""

    def step(self, memory: ImageMemory, tokens: Tokens, state: State) -> tuple[Logits, State]:
        """Logits (R, V) of what follows one more token in each row, tokens (R,), and the state after it."""

    def reorder(self, state: State, rows: Tokens) -> State:
        """Keep, repeat or reorder the rows of a state."""

    def attend(self, memory: ImageMemory, tokens: Sequence[int]) -> Attention:
        """What each layer attends to while the decoder writes these tokens of the memory's only line."""
