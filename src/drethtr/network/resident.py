"""Beam search that stays on a GPU from the first token to the last.

`stepwise.beam_search` runs one step of the network, fetches its scores and chooses in numpy: on a GPU, every token then
waits for the host. Here a step is a few hundred kernels over tensors with fixed addresses, which a CUDA graph launches
at once; the host only checks now and then whether all lines are done. Without a GPU the same step is called, so that
tests compare it with `beam_search`, text by text.

Finished lines stay in the batch, where `beam_search` drops them. No line affects another one in either.

Shapes, everywhere in this file: B lines, R rows = lines x beams, the beams of a line next to each other; V tokens of
the vocabulary; `room` for tokens.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from drethtr.network.ancestry import AncestralCache, Ancestry, Kernels
from drethtr.network.attention import KeyValue
from drethtr.network.cache import RetentionCache, TextCache
from drethtr.network.capture import captured
from drethtr.network.fused import kernels_for
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.recognition.batching import padded_lines
from drethtr.recognition.decoding.stepwise import BeamSearch, Candidates, Hypothesis, best_of
from drethtr.text.tokenizer import BOS

ROOM = 64
"""Initial room for tokens of a search; then twice as much, and so on, each with its own graph."""


def room_for(tokens: int) -> int:
    """The room in which a search of this many steps ends."""
    return ROOM << ((tokens - 1) // ROOM).bit_length()


CHECKED = 8
"""Steps after which the host asks whether all lines are done."""

LINES, IMAGE = 8, 64
"""Batches are padded to a power of two of lines, at least `LINES`, and to multiples of `IMAGE` image tokens: each shape
is captured, so there must be few. 2,404 lines of real data, 256 at a time, come in 15 shapes."""


def lines_for(lines: int) -> int:
    """The lines to which a batch is padded."""
    return max(LINES, padded_lines(lines))


def image_for(tokens: int) -> int:
    """The image tokens to which a batch is padded."""
    return -(-tokens // IMAGE) * IMAGE


KEPT = 24
"""Maximum number of captured searches that are kept, with their memory. It must be above the number of shapes: lines
come widest first, so shapes take turns, and each would push out the one that comes next. It must be below
`capture.STREAMS`, of which each takes one."""

KEPT_SHARE = 0.25
"""Share of a GPU's memory that they may take."""


class Shape(NamedTuple):
    """The sizes and settings that a captured step depends on."""

    lines: int
    image: int
    beams: int
    room: int
    nbest: int
    length_exponent: float
    end: int
    forbidden: tuple[int, ...]

    @classmethod
    def of(cls, memory: BatchMemory, wanted: BeamSearch) -> Self:
        """The smallest shape for a batch."""
        lines, _, image, _ = memory.layers[0].keys.shape
        return cls(
            lines_for(lines),
            image_for(image),
            wanted.beams,
            ROOM,
            wanted.nbest,
            wanted.length_exponent,
            wanted.end,
            wanted.forbidden,
        )


class Texts(NamedTuple):
    """The texts so far, with the parts of `Candidates`, and `last` (R, 1), the last token of each."""

    tokens: Tensor
    gains: Tensor
    scores: Tensor
    lengths: Tensor
    closed: Tensor
    last: Tensor

    @classmethod
    def empty(cls, rows: int, room: int, device: torch.device) -> Self:
        """Texts without tokens."""
        return cls(
            torch.zeros(rows, room, dtype=torch.long, device=device),
            torch.zeros(rows, room, dtype=torch.float64, device=device),
            torch.zeros(rows, dtype=torch.float64, device=device),
            torch.zeros(rows, dtype=torch.long, device=device),
            torch.zeros(rows, dtype=torch.bool, device=device),
            torch.zeros(rows, 1, dtype=torch.long, device=device),
        )


class ResidentSearch:
    """The tensors of a search, and its step; for one batch at a time."""

    def __init__(self, network: DRetHTR, shape: Shape, like: KeyValue, kernels: Kernels) -> None:
        device, rows = like.keys.device, shape.lines * shape.beams
        self.network = network
        self.shape = shape
        _, heads, _, width = like.keys.shape
        self.images = tuple(
            KeyValue(*(like.keys.new_zeros(shape.lines, heads, shape.image, width) for _ in range(2)))
            for _ in network.blocks
        )
        self.mask = torch.zeros(shape.lines, shape.image, dtype=torch.bool, device=device)
        self.limits = torch.ones(shape.lines, dtype=torch.long, device=device)
        self.texts = Texts.empty(rows, shape.room, device)
        self.ancestry = Ancestry.empty(rows, shape.room, device)
        self.caches = tuple(AncestralCache.empty(self.ancestry, like, kernels) for _ in network.blocks)
        self.finite = torch.ones((), dtype=torch.bool, device=device)
        self.forbidden = torch.zeros(network.to_logits.out_features, dtype=torch.bool, device=device)
        self.forbidden[list(shape.forbidden)] = True
        self.advance: Callable[[], None] = self.step
        if device.type == "cuda":
            self.mask[:, 0] = True  # attention to nothing would be NaN
            self.advance = captured(self.step)

    def begin(self, memory: BatchMemory, limits: Tensor) -> None:
        """Put a batch in place; lines that pad it are done before they begin."""
        lines, _, image, _ = memory.layers[0].keys.shape
        self.mask.zero_()
        self.mask[:lines, :image] = True if memory.mask is None else memory.mask
        self.mask[lines:, 0] = True
        for ours, theirs in zip(self.images, memory.layers, strict=True):
            for part, given in zip(ours, theirs, strict=True):
                part[:lines, :, :image] = given
        self.limits[:lines] = limits
        self.texts.last.fill_(BOS)
        self.texts.lengths.zero_()
        self.texts.closed.zero_()
        self.texts.scores.fill_(-math.inf)
        self.texts.scores[: lines * self.shape.beams : self.shape.beams] = 0  # one empty text each
        self.ancestry.position.zero_()
        for cache in self.caches:
            cache.fade[0] = 0
        self.finite.fill_(True)

    def tensors(self) -> Iterator[Tensor]:
        """All tensors that differ from batch to batch or step to step."""
        yield from (part for image in self.images for part in image)
        yield from (self.mask, self.limits, *self.texts, *self.ancestry, self.finite)
        yield from (part for cache in self.caches for part in (*cache.written, cache.fade))

    def take_over(self, smaller: "ResidentSearch") -> None:
        """Take over a batch from a search that has no more room."""
        for ours, theirs in zip(self.tensors(), smaller.tensors(), strict=True):
            ours[tuple(map(slice, theirs.shape))] = theirs

    def step(self) -> None:
        """Choose the next token of each text."""
        shape, texts, position = self.shape, self.texts, self.ancestry.position
        self.ancestry.begin_step()
        logits, _ = self.network.decode_at(
            texts.last, position[None], BatchMemory(self.images, self.mask, None), self.caches
        )
        logits = logits[:, -1].double()
        self.finite.logical_and_(logits.isfinite().all())
        logits.masked_fill_(self.forbidden, -torch.inf)
        # From here on as in `stepwise`: a closed text has one continuation, the end at no cost, and keeps its place.
        gains = logits.log_softmax(-1).masked_fill(texts.closed[:, None], -torch.inf)
        gains[:, shape.end] = gains[:, shape.end].where(~texts.closed, 0)
        priority = texts.scores[:, None] + gains
        priority[:, shape.end] = priority[:, shape.end].where(~texts.closed, torch.inf)
        vocabulary = logits.shape[1]
        best = priority.view(shape.lines, -1).topk(shape.beams).indices
        first = torch.arange(shape.lines, device=best.device)[:, None] * shape.beams
        parents, tokens = (first + best // vocabulary).flatten(), (best % vocabulary).flatten()
        self.write(parents, tokens, gains[parents, tokens])
        self.ancestry.end_step(parents)

    def write(self, parents: Tensor, tokens: Tensor, gains: Tensor) -> None:
        """Let each row continue the text of its parent, close the texts that end, and drop those that cannot win."""
        texts, position, shape = self.texts, self.ancestry.position, self.shape
        for part in texts:
            part.copy_(part[parents])
        texts.tokens.index_copy_(1, position[None], tokens[:, None])
        texts.gains.index_copy_(1, position[None], gains[:, None])
        texts.last.copy_(tokens[:, None])
        texts.scores.add_(gains)
        texts.lengths.add_(~texts.closed)
        at_limit = (self.limits <= position + 1).repeat_interleave(shape.beams)
        texts.closed.logical_or_((tokens == shape.end) | at_limit).logical_and_(~texts.scores.isneginf())
        closed, scores = texts.closed.view(shape.lines, -1), texts.scores.view(shape.lines, -1)
        quality = (texts.scores / texts.lengths.double() ** shape.length_exponent).view(shape.lines, -1)
        worst = quality.masked_fill(~closed, -torch.inf).topk(shape.nbest).values[:, -1]
        hope = scores.masked_fill(closed, -torch.inf).amax(1) / self.limits.double() ** shape.length_exponent
        scores.masked_fill_(~closed & (hope <= worst)[:, None], -torch.inf)

    def done(self) -> bool:
        """Whether no text is open any more, or the network's numbers overflow."""
        going_on = (~self.texts.closed & ~self.texts.scores.isneginf()).any() & self.finite
        return not going_on

    def candidates(self) -> Candidates:
        """A copy of the texts in numpy, as the next batch is written into the same tensors."""
        tokens, gains, scores, lengths, closed, _ = (part.to("cpu", copy=True).numpy() for part in self.texts)
        return Candidates(tokens, gains, scores, lengths, closed)


class ResidentSearches:
    """Captured searches of one network; threads take turns."""

    def __init__(self, network: DRetHTR) -> None:
        self.network = network
        self.kept: OrderedDict[Shape, ResidentSearch] = OrderedDict()
        self.turn = Lock()
        device = next(network.parameters()).device
        self.most_bytes = math.inf
        if device.type == "cuda":
            self.most_bytes = KEPT_SHARE * torch.cuda.get_device_properties(device).total_memory

    def run(self, memory: BatchMemory, wanted: BeamSearch) -> list[list[Hypothesis]]:
        """The best texts of each line.

        Raises:
            FloatingPointError: if the network's numbers overflow.
        """
        keys = memory.layers[0].keys
        lines = keys.shape[0]
        # Streams, graphs and kernels use the current GPU, which may not be the network's.
        with self.turn, torch.cuda.device(keys.device) if keys.is_cuda else nullcontext():
            found = self.run_batch(memory, wanted)
        rows = np.arange(lines * wanted.beams).reshape(lines, -1)
        return [best_of(found.select(own), wanted) for own in rows]

    def run_batch(self, memory: BatchMemory, wanted: BeamSearch) -> Candidates:
        """The texts of all rows at the end."""
        search = self.search(Shape.of(memory, wanted), memory.layers[0])
        search.begin(memory, torch.from_numpy(np.ascontiguousarray(wanted.limits)).to(search.limits.device))
        for step in range(1, int(wanted.limits.max()) + 1):
            if step > search.shape.room:
                larger = self.search(search.shape._replace(room=2 * search.shape.room), memory.layers[0])
                larger.take_over(search)
                search = larger
            search.advance()
            if step % CHECKED == 0 and search.done():
                break
        if not search.finite:
            self.kept.clear()  # non-finite values would stay in their tensors
            raise FloatingPointError("logits that are not finite")
        return search.candidates()

    def search(self, shape: Shape, like: KeyValue) -> ResidentSearch:
        """A search of this shape, which is made and captured if there is none."""
        if shape not in self.kept:
            self.kept[shape] = self.make(shape, like)
            while len(self.kept) > KEPT or (len(self.kept) > 1 and self.kept_bytes > self.most_bytes):
                self.kept.popitem(last=False)
        self.kept.move_to_end(shape)
        return self.kept[shape]

    def make(self, shape: Shape, like: KeyValue) -> ResidentSearch:
        """A new search of this shape."""
        with suppress(torch.cuda.OutOfMemoryError):
            return ResidentSearch(self.network, shape, like, kernels_for(like))
        self.kept.clear()  # freeing the other searches may give enough memory
        return ResidentSearch(self.network, shape, like, kernels_for(like))

    @property
    def kept_bytes(self) -> int:
        """Memory of the searches that are kept, without that of their graphs."""
        return sum(tensor.nbytes for search in self.kept.values() for tensor in search.tensors())


def can_stay(network: DRetHTR, memory: BatchMemory) -> bool:
    """Whether the states of a network's layers have a form that stays in place."""
    return all(isinstance(state, RetentionCache | TextCache) for state in network.initial_state(memory).layers)
