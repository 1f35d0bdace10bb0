"""The interface between reading and computing: the `Network` protocol, in numpy arrays.

Two backends implement it: `drethtr.recognition.onnx` computes with onnxruntime and is the default;
`drethtr.network.backend` computes with torch, for training, CUDA and research networks. Search, confidences and the
recognizer know only this protocol. The numbers of both backends agree to rounding (tests/recognition/onnx).

Shapes, everywhere in this file: B lines; R rows: lines times beams, with the beams of a line next to each other; V
tokens of the vocabulary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Ints
from drethtr.base.config import member_named
from drethtr.images.prepare import Prepared
from drethtr.recognition.decoding.stepwise import BeamSearch, Hypothesis
from drethtr.text.tokenizer import BOS


class Precision(Enum):
    """The precision of weights and activations.

    FLOAT32   the reference
    INT8      matrix products in 8 bits: fastest on a CPU
    BFLOAT16  backbone and projections in 16 bits; needs torch, and pays off on GPUs and CPUs that support it
    """

    FLOAT32 = "float32"
    INT8 = "int8"
    BFLOAT16 = "bfloat16"

    @property
    def calibrated_as(self) -> "Precision":
        """The precision whose calibration applies: int8 has its own, float32 and bfloat16 share one."""
        return Precision.INT8 if self is Precision.INT8 else Precision.FLOAT32


def precision_named(precision: Precision | str) -> Precision:
    """The precision with this name.

    Raises:
        ConfigError: if there is none.
    """
    if isinstance(precision, Precision):
        return precision
    return member_named("precision", precision, Precision)


class TextTree(NamedTuple):
    """The prefix tree of some texts of one line, in which shared prefixes occur once.

    The candidates for a line differ in a few letters, so the tree has far fewer nodes than they have tokens together.

    tokens  of the nodes; the root is BOS
    paths   for each text its nodes, including the root
    homes   for each node one text that contains it, and its place there
    """

    tokens: list[int]
    paths: list[list[int]]
    homes: list[tuple[int, int]]

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Self:
        """The tree of any number of texts, or of none."""
        tokens, paths, homes = [BOS], [], [(0, 0)]
        known: dict[tuple[int, int], int] = {}
        for number, text in enumerate(texts):
            path = [0]
            for place, token in enumerate(text, start=1):
                node = known.setdefault((path[-1], token), len(tokens))
                if node == len(tokens):
                    tokens.append(token)
                    homes.append((number, place))
                path.append(node)
            paths.append(path)
        return cls(tokens, paths, homes)


Logits = NDArray[np.float32]
State = Any
"""The recurrent state of the layers after the text so far: a value, opaque to all but the network that made it."""


class Dimensions(NamedTuple):
    """What search and recognizer need to know about a network.

    vocabulary         number of tokens, V
    height             rows of its input lines
    columns_per_token  image columns per image token
    steps_per_token    CTC steps per image token; None without a CTC head
    features           size of `ImageMemory.mean`
    widest             columns of its widest input line, if there is a limit
    epsilon            relative rounding error of the numbers its layers compute with
    rescores           whether `score_texts` uses a rescorer, a network trained for it
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
    """B encoded lines.

    tokens  image tokens of each line
    drafts  logits (tokens, V) of each line's draft reading, directly from the backbone; None without a CTC head
    ctc     logits (steps, V) of each line's refined CTC reading; None without a CTC head
    mean    (B, features) each line's mean key and value in the last layer, which depend on its writing
    kept    keys and values of the image tokens in every layer, in the form of the network that made them
    """

    tokens: tuple[int, ...]
    drafts: tuple[Logits, ...] | None
    ctc: tuple[Logits, ...] | None
    mean: NDArray[np.float32]
    kept: Any

    @property
    def lines(self) -> int:
        """The number of lines, B."""
        return len(self.tokens)

    def select(self, lines: Sequence[int], kept: Any) -> "ImageMemory":
        """The memory of some of its lines, whose keys and values are `kept`."""
        return ImageMemory(
            tuple(self.tokens[line] for line in lines),
            None if self.drafts is None else tuple(self.drafts[line] for line in lines),
            None if self.ctc is None else tuple(self.ctc[line] for line in lines),
            self.mean[list(lines)],
            kept,
        )


class Attention(NamedTuple):
    """The attention of each layer while N tokens of one line were written.

    image  (layers, H, N, I) attention of each token to each image token, normalized to a sum of 1
    text   (layers, H, N, N) weight of each earlier token: softmax weights, or |Q Kᵀ| ⊙ D
    reach  (layers, H) mean number of tokens that a memory lasts, 1 / (1 - γ); None without decay
    """

    image: NDArray[np.float32]
    text: NDArray[np.float32]
    reach: NDArray[np.float32] | None


class Network(Protocol):
    """Pure functions of a trained network; several threads may call them at once, see `workers`."""

    @property
    def dimensions(self) -> Dimensions:
        """See `Dimensions`."""

    @property
    def workers(self) -> int:
        """Number of threads that are worth running in parallel."""

    def groups(self, columns: Sequence[int]) -> Iterator[list[int]]:
        """Which lines to encode together, given their columns: groups of their numbers."""

    def encode(self, images: Sequence[Prepared]) -> ImageMemory:
        """Run prepared lines through every layer; the result for a line does not depend on the others.

        Raises:
            MemoryError: if they do not fit into the device's memory together.
        """

    def keep(self, memory: ImageMemory, lines: Sequence[int]) -> ImageMemory:
        """The memory of some of its lines."""

    def score_trees(self, memory: ImageMemory, trees: Sequence[TextTree]) -> list[Logits]:
        """Logits (nodes, V) of the token after each node of one tree of texts per line, in one parallel pass."""

    def score_texts(self, trees: Sequence[TextTree]) -> list[Logits]:
        """Logits (nodes, V) of the token after each node, without an image, in one parallel pass per tree.

        They come from the rescorer if the model has one, else from the decoder.
        """

    def begin(self, memory: ImageMemory) -> State:
        """The state before the first token, one row for each line."""

    def step(self, memory: ImageMemory, tokens: Ints, state: State) -> tuple[Logits, State]:
        """Logits (R, V) of the token after one more token in each row, tokens (R,), and the state after it."""

    def reorder(self, state: State, rows: Ints) -> State:
        """Keep, repeat or reorder the rows of a state."""

    def search(self, memory: ImageMemory, wanted: BeamSearch) -> list[list[Hypothesis]] | None:
        """The texts that `beam_search` would find for each line, if the network has a faster way; else None."""

    def attend(self, memory: ImageMemory, tokens: Sequence[int]) -> Attention:
        """The attention of each layer while the decoder reads `BOS` and the text after it; the memory has one line."""
