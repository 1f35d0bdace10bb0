"""A network computed by onnxruntime: each line alone, at its own width.

Sessions are created on first use, so CTC decoding never builds the text side. They share the weights.

Shapes, everywhere in this file: B lines, R rows; H heads of K channels; I image tokens; V tokens of the vocabulary.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Ints
from drethtr.base.errors import ConfigError, DataError
from drethtr.images.prepare import Prepared
from drethtr.recognition.decoding.stepwise import BeamSearch
from drethtr.recognition.model.architecture import (
    PPOCR,
    Added,
    DecoderOnly,
    Light,
    NetworkConfig,
    NoPrior,
    Plain,
    Retentive,
    Sinusoidal,
    Unplaced,
)
from drethtr.recognition.model.decay import Scheduled
from drethtr.recognition.model.file import Rescorer
from drethtr.recognition.onnx.graph import Graph, refuse_left_over
from drethtr.recognition.onnx.image import blank_graph, image_graph
from drethtr.recognition.onnx.session import RUNS, Session
from drethtr.recognition.onnx.text import Feeds, LayerDecay, rescorer_graph, step_graph, tree_feeds, tree_graph
from drethtr.recognition.protocol import Attention, Dimensions, ImageMemory, Logits, TextTree

KNOWN = {
    "architecture": DecoderOnly,
    "backbone": PPOCR | Light,
    "positions": Sinusoidal | Unplaced,
    "prior": Added | NoPrior,
    "mixer": Retentive,
    "output": Plain,
}
"""The variants of each part of a network that onnxruntime can compute: those of networks like the shipped one."""


def supports(config: NetworkConfig) -> str | None:
    """Why a network needs torch; None if it does not."""
    unknown = [
        type(part).__name__ for name, known in KNOWN.items() if not isinstance(part := getattr(config, name), known)
    ]
    if isinstance(config.mixer, Retentive) and not isinstance(config.mixer.decay, Scheduled):
        unknown.append(f"{type(config.mixer.decay).__name__} decay")
    return f"only torch computes {', '.join(unknown)}" if unknown else None


COLUMNS_PER_TOKEN = 8
"""The same for all backbones with a graph; a narrower line is padded with paper on the right."""
PAPER = -1.0  # in a prepared line
LONG = 8192
"""Columns up to which all image tokens attend at once: 1,024 tokens, whose weights take 4 MB per head.

`recognition/pieces.py` cuts lines long before, unless they are to be read whole."""

BUILDING = Lock()
"""Held while a session is built."""

Numbers = NDArray[np.float32]
Kept = tuple[tuple[Numbers, Numbers], ...]
"""Keys and values (H, I, K) of a line's image tokens in each layer."""


class TextState(NamedTuple):
    """The number of tokens so far, and the retention state of each layer, (R, H, K, K)."""

    length: int
    memories: tuple[Numbers, ...]


class OnnxNetwork:
    """See `drethtr.recognition.protocol.Network`.

    Args:
        config: The architecture.
        weights: Weights with the names that the torch network gives them.
        vocabulary: Number of tokens.
        rescorer: The model's language model of whole texts, if there is one.
        threads: Number of parallel calls to expect; each uses one processor.
        int8: Whether to compute images, trees and the rescorer with 8-bit matrix products: faster, and hardly less
            accurate. Single steps and attention stay in float32.

    Raises:
        ConfigError: if the network has parts that only torch can compute.
        CheckpointError: if the weights do not fit the network.
    """

    def __init__(
        self,
        config: NetworkConfig,
        weights: Mapping[str, Numbers],
        vocabulary: int,
        *,
        rescorer: Rescorer | None = None,
        threads: int = 1,
        int8: bool = False,
    ) -> None:
        if reason := supports(config):
            raise ConfigError(f"{reason}; run: pip install 'drethtr[train]'")
        self.config = config
        self.workers = threads
        self._decays = tuple(LayerDecay.of(config, layer) for layer in range(config.layers))
        image = image_graph(config, weights, vocabulary, int8=int8)
        tree = tree_graph(config, weights, vocabulary, int8=int8)
        refuse_left_over(weights, (image, tree))
        rescoring = None
        if rescorer is not None:
            rescoring = rescorer_graph(rescorer.config, rescorer.weights, vocabulary, int8=int8)
            refuse_left_over(rescorer.weights, (rescoring,))
        self.dimensions = Dimensions(
            vocabulary=vocabulary,
            height=config.backbone.height,  # type: ignore[attr-defined]  # of all that are supported
            columns_per_token=COLUMNS_PER_TOKEN,
            steps_per_token=config.ctc.steps if config.ctc else None,
            features=2 * config.width,
            rescores=rescoring is not None,
        )
        of_image_side = {name: weights[name] for name in image.used}
        of_text = {name: weights[name] for name in tree.used}
        self._graphs: dict[str, Callable[[], Graph]] = {
            "image": lambda: image,
            "long": lambda: image_graph(config, of_image_side, vocabulary, int8=int8, long_lines=True),
            "blank": lambda: blank_graph(config, of_text),
            "tree": lambda: tree,
            "step": lambda: step_graph(config, of_text, vocabulary),
            "watched": lambda: tree_graph(config, of_text, vocabulary, watched=True),
        }
        if rescoring is not None:
            self._graphs["rescorer"] = lambda: rescoring
        self._sessions: dict[str, Session] = {}
        self._blank: Feeds | None = None

    def groups(self, columns: Sequence[int]) -> Iterator[list[int]]:
        """Each line alone, the longest first."""
        yield from ([line] for line in sorted(range(len(columns)), key=lambda line: -columns[line]))

    def encode(self, images: Sequence[Prepared]) -> ImageMemory:
        """See `Network.encode`.

        Raises:
            DataError: if an image does not have the height that the backbone expects.
            MemoryError: if there is not enough memory.
        """
        return concatenate([self._encode(image) for image in images])

    def keep(self, memory: ImageMemory, lines: Sequence[int]) -> ImageMemory:
        return memory.select(lines, tuple(memory.kept[line] for line in lines))

    def score_trees(self, memory: ImageMemory, trees: Sequence[TextTree]) -> list[Logits]:
        """See `Network.score_trees`; a pass for each line."""
        session = self._session("tree")
        pairs = zip(memory.kept, trees, strict=True)
        return [session.run(of_image(kept) | tree_feeds(tree))[0] for kept, tree in pairs]

    def score_texts(self, trees: Sequence[TextTree]) -> list[Logits]:
        """See `Network.score_texts`; a pass for each tree."""
        if self.dimensions.rescores:
            return [self._session("rescorer").run(tree_feeds(tree))[0] for tree in trees]
        return [self._session("tree").run(self._blank_image() | tree_feeds(tree))[0] for tree in trees]

    def begin(self, memory: ImageMemory) -> TextState:
        channels = self.config.width // self.config.heads
        nothing = np.zeros((memory.lines, self.config.heads, channels, channels), dtype=np.float32)
        return TextState(0, (nothing,) * self.config.layers)

    def step(self, memory: ImageMemory, tokens: Ints, state: TextState) -> tuple[Logits, TextState]:
        """See `Network.step`; a pass for the rows of each line."""
        session, found, length = self._session("step"), [], state.length + 1
        common = {"share": self._shares(length)}
        for kept, rows in zip(memory.kept, np.split(np.arange(len(tokens)), memory.lines), strict=True):
            own: Feeds = {
                "tokens": tokens[rows],
                "places": np.full((len(rows), 1), state.length, dtype=np.float32),
                **{f"memory_{layer}": part[rows] for layer, part in enumerate(state.memories)},
            }
            found.append(session.run(of_image(kept) | common | own))
        logits, *memories = (part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*found, strict=True))
        return logits, TextState(length, tuple(memories))

    def search(self, memory: ImageMemory, wanted: BeamSearch) -> None:
        return None

    def reorder(self, state: TextState, rows: Ints) -> TextState:
        return TextState(state.length, tuple(part[rows] for part in state.memories))

    def attend(self, memory: ImageMemory, tokens: Sequence[int]) -> Attention:
        [kept] = memory.kept
        seen = self._session("watched").run(of_image(kept) | tree_feeds(TextTree.of([tokens[1:]])))
        reach = [-1 / np.expm1(decay.log_gamma) for decay in self._decays]
        return Attention(np.stack(seen[::2]), np.stack(seen[1::2]), np.stack(reach))

    def _encode(self, image: Prepared) -> ImageMemory:
        """The memory of one line."""
        height = self.dimensions.height
        if image.shape[0] != height:
            raise DataError(
                f"the line has {image.shape[0]} rows, but this network needs {height}; prepare lines with that height"
            )
        if (missing := COLUMNS_PER_TOKEN - image.shape[1]) > 0:
            image = np.pad(image, ((0, 0), (0, missing)), constant_values=PAPER)
        long = image.shape[1] > LONG
        outputs = self._session("long" if long else "image").run({"image": image[None, None]}, seldom=long)
        split = 2 * self.config.layers
        kept, (mean, *readings) = outputs[:split], outputs[split:]
        drafts, ctc = ((part,) for part in readings) if readings else (None, None)
        return ImageMemory((kept[0].shape[1],), drafts, ctc, mean.reshape(1, -1), (in_pairs(kept),))

    def _blank_image(self) -> Feeds:
        """Keys and values for scoring without an image, computed once."""
        if self._blank is None:
            # One image token of zeros stands for "no image"; the decoder learned that on prose (LOG.md, 2026-11-23).
            nothing = np.zeros((1, self.config.width), dtype=np.float32)
            *kept, _ = self._session("blank").run({"tokens": nothing})
            self._blank = of_image(in_pairs(kept))
        return self._blank

    def _shares(self, length: int) -> Numbers:
        """The scale of the retention state after `length` tokens when it is read, (layers, H)."""
        log_gamma = np.stack([decay.log_gamma for decay in self._decays]).astype(np.float64)
        normalize = np.array([[decay.normalize] for decay in self._decays])
        # 1 + γ + … + γ^(n-1), the row sum of D; by expm1, since γ is so near 1 that 1 - γ would lose digits.
        mass = np.expm1(length * log_gamma) / np.expm1(log_gamma)
        return np.where(normalize, mass**-0.5, 1.0).astype(np.float32)

    def _session(self, name: str) -> Session:
        """A session, created when first used."""
        with RUNS.counted(), BUILDING:
            if name not in self._sessions:
                self._sessions[name] = Session(self._graphs[name]())
                del self._graphs[name]  # only after success: if memory is short, the next call tries again
            return self._sessions[name]


def concatenate(memories: Sequence[ImageMemory]) -> ImageMemory:
    """Concatenate the memories of lines."""
    drafts = [memory.drafts for memory in memories if memory.drafts is not None]
    ctc = [memory.ctc for memory in memories if memory.ctc is not None]
    return ImageMemory(
        tuple(chain.from_iterable(memory.tokens for memory in memories)),
        tuple(chain.from_iterable(drafts)) if drafts else None,
        tuple(chain.from_iterable(ctc)) if ctc else None,
        np.concatenate([memory.mean for memory in memories]),
        tuple(chain.from_iterable(memory.kept for memory in memories)),
    )


def in_pairs(kept: Sequence[Numbers]) -> Kept:
    """Keys and values of each layer, from alternating keys and values."""
    return tuple(zip(kept[::2], kept[1::2], strict=True))


def of_image(kept: Kept) -> Feeds:
    """Keys and values as inputs of the graphs of the text side."""
    feeds: Feeds = {}
    for layer, (keys, values) in enumerate(kept):
        feeds |= {f"keys_{layer}": keys, f"values_{layer}": values}
    return feeds
