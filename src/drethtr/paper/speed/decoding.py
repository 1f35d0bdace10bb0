"""Benchmark decoding, in time and memory: retention against a key-value cache and the published algorithm.

The weights are random, so texts would end at random. They are forced to end after `Task.characters` characters. All
contenders have networks of the same shape. Retention and key-value cache use the same search, on a GPU the one that
stays there (`drethtr.network.resident`); the published algorithm has its own, step by step, also on a GPU.

The published algorithm is reimplemented with the same work, not run from its code: every line is on a canvas of 2,227
columns; every beam has its own copy of the image's keys and values; and every step sums the decay over the whole text.
Beam search stops once all beams of all lines have ended. Greedy search stops at a step at which all lines end: a single
line at its own end, several lines almost never, since their texts differ in length, so that they run to the limit of 94
tokens. Source: paper, Sec. 5.3 and 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from drethtr.base.arrays import Floats, Ints
from drethtr.images.prepare import Preparation, Prepared
from drethtr.network.attention import KeyValue
from drethtr.network.backbones import BACKBONES
from drethtr.network.backend import TorchNetwork
from drethtr.network.mixer import ARMF, MIXERS, MixerState, PastMixer, Query
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.network.resident import image_for, lines_for, room_for
from drethtr.network.retention import RetentionState, log_gamma, recurrent
from drethtr.paper.authors import CANVAS
from drethtr.paper.published_decoding import LIMIT, published_beam_search
from drethtr.paper.speed.race import MEGABYTE, Contender, Rounds, Work, memory_race, time_race
from drethtr.paper.speed.report import BenchmarkReport
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.model.architecture import PRESETS, MixerConfig, NetworkConfig, Retentive
from drethtr.recognition.model.decay import LayerPosition, Scheduled
from drethtr.recognition.protocol import ImageMemory, Network, Precision, State
from drethtr.text.tokenizer import BOS, EOS

PAPER_HEIGHT = 64


class GrowingState(NamedTuple):
    """The state of the recurrent form, and its number of tokens."""

    memory: RetentionState
    length: int


class PublishedRetention(PastMixer[GrowingState]):
    """S ← γ S + k ⊗ v, read with q and divided by √(Σ γ^p), which every step sums over the whole text."""

    log_gamma: Tensor

    def __init__(self, decay: Scheduled, position: LayerPosition) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma(decay, position), persistent=False)

    def initial_state(self, like: KeyValue) -> GrowingState:
        return GrowingState(RetentionState.empty(*like), 0)

    def forward(self, query: Query, state: GrowingState, *, dropout: float) -> tuple[Tensor, GrowingState]:
        _, q, text = query
        decay = self.log_gamma[None, :, None]
        read, memory = recurrent(q * q.shape[-1] ** -0.5, *text, decay, state.memory)
        length = state.length + 1
        mass = (decay * torch.arange(length, device=q.device)).exp().sum(-1)
        return read / mass[..., None, None].sqrt(), GrowingState(memory, length)


@dataclass(frozen=True)
class PublishedRetentive(MixerConfig):
    """Has the weights of `Retentive`, but only decodes token by token."""

    decay: Scheduled = field(default_factory=Scheduled)


@MIXERS.computes(PublishedRetentive)
def published_retentive(config: PublishedRetentive, position: LayerPosition, width: int) -> ARMF[GrowingState]:
    """ARMF with retention as published."""
    return ARMF(PublishedRetention(config.decay, position))


def on_canvas(image: Prepared) -> Prepared:
    """Pad an image (height, columns) with paper on the right to the width of the canvas."""
    height, columns = image.shape
    return np.pad(image, ((0, 0), (0, max(0, round(CANVAS * height / PAPER_HEIGHT) - columns))), constant_values=-1)


class CopyingScorer:
    """Scores tokens for the search; with several beams, each has its own copy of the line's image."""

    def __init__(self, network: Network, memory: ImageMemory, copies: int = 1) -> None:
        self.network = network
        self.memory = memory
        self.copies = copies

    def step(self, tokens: Ints, state: State) -> tuple[Floats, State]:
        """See `Scorer.step`."""
        copies = len(tokens) // self.memory.lines
        if copies > 1:
            # As published: the image is copied once for each beam, at the first step with several beams.
            rows = np.repeat(np.arange(self.memory.lines), copies)
            self.memory, self.copies = self.network.keep(self.memory, rows.tolist()), copies
        return NetworkScorer(self.network, self.memory, forbidden=()).step(tokens, state)

    def reorder(self, state: State, rows: Ints) -> State:
        """See `Scorer.reorder`."""
        return self.network.reorder(state, rows)

    def keep(self, lines: Ints) -> "CopyingScorer":
        """See `Scorer.keep`."""
        rows = (lines[:, None] * self.copies + np.arange(self.copies)).ravel()
        return CopyingScorer(self.network, self.network.keep(self.memory, rows.tolist()), self.copies)


def read_published(network: Network, images: Sequence[Prepared], beams: int) -> list[Hypothesis]:
    """Read lines; returns the best text of each."""
    memory = network.encode([on_canvas(image) for image in images])
    first = np.full(len(images), BOS)
    scorer, state = CopyingScorer(network, memory), network.begin(memory)
    return published_beam_search(scorer, state, first, end=EOS, beams=beams, limit=LIMIT)


VOCABULARY = 83  # of the paper's IAM model
CERTAIN = 1e4
"""A logit that dominates all others."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A reading task: `batch` lines at a time, `pixels` wide at a height of 64, with texts of equal length."""

    name: str
    config: NetworkConfig
    batch: int
    beams: int
    characters: int = 44
    vocabulary: int = VOCABULARY
    pixels: int = 800
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def __str__(self) -> str:
        return f"{self.name.upper()}, batch {self.batch}, beam {self.beams}"

    @property
    def on_gpu(self) -> bool:
        """Whether our searches stay on the device."""
        return self.device.type == "cuda"


def tasks_of(networks: Sequence[str], batches: Sequence[int], beams: Sequence[int], device: torch.device) -> list[Task]:
    """Tasks for all combinations of network, batch size and number of beams."""
    return [
        Task(name=name, config=PRESETS[name], batch=batch, beams=width, device=device)
        for name, batch, width in product(networks, batches, beams)
    ]


class EndingNetwork(DRetHTR):
    """A network whose texts all have `characters` characters."""

    characters: int

    def decode_at(
        self, tokens: Tensor, places: Tensor, memory: BatchMemory, layers: Sequence[MixerState]
    ) -> tuple[Tensor, tuple[MixerState, ...]]:
        """See `DRetHTR.decode_at`; the end has probability 1 when it is due, and 0 before."""
        logits, after = super().decode_at(tokens, places, memory, layers)
        logits[..., EOS] = torch.where(places >= self.characters, CERTAIN, -CERTAIN).to(logits.dtype)
        return logits, after


def build(task: Task, mixer: MixerConfig) -> EndingNetwork:
    """Build the task's network with a mixer and random weights from a fixed seed."""
    torch.manual_seed(0)
    network = EndingNetwork(replace(task.config, mixer=mixer), task.vocabulary)
    network.characters = task.characters
    network.to(task.device).eval()
    network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # as `network_of` does
    return network


def images_of(task: Task, height: int) -> list[Prepared]:
    """Lines (height, columns) of random pixels, since content does not affect time."""
    columns = Preparation(height=height).columns(task.pixels, 64)
    return list(np.random.default_rng(0).uniform(-1, 1, (task.batch, height, columns)).astype(np.float32))


def prepare_ours(task: Task, mixer: MixerConfig, precision: Precision = Precision.FLOAT32) -> Work:
    """Prepare our search: early stopping, images at their own width, image keys stored once."""
    network = TorchNetwork(build(task, mixer), precision)
    images = images_of(task, network.dimensions.height)

    def run() -> None:
        # Only the search, as for the published algorithm: no confidences, and no positions from a CTC head.
        NetworkScorer(network, network.encode(images)).search(task.beams)

    return run


def prepare_published(task: Task) -> Work:
    """Prepare the paper's algorithm; as with real data, lines of a greedy batch never all end at the same step."""
    # Greedy search stops at a step at which all lines end; the texts of several real lines never do.
    together = task.beams > 1 or task.batch == 1
    network = TorchNetwork(build(task if together else replace(task, characters=LIMIT), PublishedRetentive()))
    images = images_of(task, network.dimensions.height)

    def run() -> None:
        read_published(network, images, task.beams)

    return run


def contenders(task: Task) -> list[Contender]:
    """Ours in both precisions, DTrHTR with the same search and a preallocated cache, and the published algorithm."""
    return [
        Contender("retention", partial(prepare_ours, task, Retentive())),
        Contender("retention, bfloat16", partial(prepare_ours, task, Retentive(), Precision.BFLOAT16)),
        Contender("key-value cache", partial(prepare_ours, task, JointSoftmax())),
        Contender("published, eager" if task.on_gpu else "published", partial(prepare_published, task)),
    ]


def measure(tasks: Sequence[Task], rounds: Rounds) -> BenchmarkReport:
    """Measure seconds from images to tokens for every task."""
    races = [time_race(str(task), contenders(task), rounds, task.device) for task in tasks]
    return BenchmarkReport("Decoding: seconds from images to tokens", notes(tasks[0]), races, tasks[0].device)


def notes(task: Task) -> tuple[str, ...]:
    """How the figures were measured."""
    published = (
        "the paper's algorithm on its canvas of 2,227 columns, with image keys copied for every beam. Beam search "
        "stops once all beams have ended; greedy search only at a step at which all lines end: for several real lines "
        f"never, so {LIMIT} steps."
    )
    lines = (
        f"Lines of {task.pixels} x 64 pixels, random weights; every text is forced to end after {task.characters} "
        "characters."
    )
    if task.on_gpu:
        return (
            lines,
            "retention: DRetHTR in this package, in float32 (convolutions in TF32, torch's default) and in bfloat16. "
            "key-value cache: DTrHTR, the same weights and the same search. Both stay on the GPU, where a captured "
            "step is replayed, and keep the keys and values of the text in place, with image keys shared by beams. "
            f"published, eager: {published} Its steps are launched one by one and their scores copied "
            "to the host; with few lines, most of the difference is that, not the algorithm.",
        )
    return (
        lines,
        "retention: DRetHTR in this package, in float32 and in bfloat16. key-value cache: DTrHTR, the same weights and "
        f"the same search, with image keys shared by beams and a preallocated cache. published: {published}",
    )


FLOAT = 4  # bytes


def measure_memory(tasks: Sequence[Task]) -> BenchmarkReport:
    """Measure peak megabytes of every task, without those taken before: weights, images, the program."""
    races = [memory_race(str(task), contenders(task), task.device, formulas(task)) for task in tasks]
    remarks = (
        *notes(tasks[0]),
        "Peaks include the layers' intermediate results; in italics, by formula, the state kept from one step to the "
        "next, in MB of float32.",
    )
    return BenchmarkReport("Memory: the peak of decoding", remarks, races, tasks[0].device)


def formulas(task: Task) -> dict[str, float]:
    """Megabytes of state for L layers of width d with heads of width K, B lines, R rows and N characters.

    A line has I image tokens; as published, those of the canvas. On a GPU, our searches keep keys and values of the
    text whatever the mixer, in room for N, and copy those of the image twice: when lines are chosen, and into place.
    The tensors of the search are padded to B' lines of I' image tokens, in R' rows.
    """
    config, rows = task.config, task.batch * task.beams
    numbers = config.layers * config.width * FLOAT / MEGABYTE
    with torch.device("meta"):
        backbone = BACKBONES.build(config.backbone)
    line = images_of(replace(task, batch=1), backbone.height)[0]
    tokens, published = (-(-one.shape[1] // backbone.columns_per_token) for one in (line, on_canvas(line)))
    image, memory = 2 * task.batch * tokens * numbers, rows * (config.width // config.heads) * numbers
    canvas = {"those of the canvas, for every beam: 2LRId": 2 * rows * published * numbers}
    if task.on_gpu:
        lines, padded, room = lines_for(task.batch), image_for(tokens), room_for(task.characters + 1)
        copies = f"image keys and values, and two copies, B' = {lines}, I' = {padded}: 4LBId + 2LB'I'd"
        text = f"keys and values of the text, R' = {lines * task.beams}, in room for N = {room}: 2LR'Nd"
        return {
            copies: 2 * image + 2 * lines * padded * numbers,
            **canvas,
            "retention's memory, published: LRdK": memory,
            text: 2 * lines * task.beams * room * numbers,
        }
    return {
        "image keys and values, once per line: 2LBId": image,
        **canvas,
        "retention's memory: LRdK": memory,
        "keys and values of the text: 2LRNd": 2 * rows * task.characters * numbers,
    }
