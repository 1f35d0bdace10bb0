"""Benchmark decoding: retention against a key-value cache and the published algorithm, at the same work.

The weights are random, so texts would end at random. They are forced to end after `Task.characters` characters. All
contenders have networks of the same shape and use the same search code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from drethtr.images.prepare import Preparation, Prepared
from drethtr.network.backend import TorchNetwork
from drethtr.network.network import BatchMemory, DecoderState, DRetHTR
from drethtr.paper.published_decoding import LIMIT
from drethtr.paper.speed import published
from drethtr.paper.speed.published import PublishedRetentive
from drethtr.paper.speed.race import Contender, Rounds, Work, time_race
from drethtr.paper.speed.report import BenchmarkReport
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.strategies import Beam, Greedy, Strategy
from drethtr.recognition.model.architecture import PRESETS, MixerConfig, NetworkConfig, Retentive
from drethtr.recognition.network import Precision
from drethtr.text.tokenizer import EOS

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
    def strategy(self) -> Strategy:
        """Greedy decoding for one beam, otherwise beam search."""
        return Greedy() if self.beams == 1 else Beam(self.beams)


@dataclass(frozen=True)
class Grid:
    """Tasks for all combinations of network, batch size and number of beams."""

    networks: Sequence[str] = ("compact", "small", "base")
    batches: Sequence[int] = (1, 8)
    beams: Sequence[int] = (1, 5, 10)

    def tasks(self, device: torch.device) -> list[Task]:
        """All tasks on a device."""
        return [
            Task(name=name, config=PRESETS[name], batch=batch, beams=beams, device=device)
            for name in self.networks
            for batch in self.batches
            for beams in self.beams
        ]


class EndingNetwork(DRetHTR):
    """A network whose texts all have `characters` characters."""

    characters: int

    def decode_text(self, tokens: Tensor, memory: BatchMemory, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """See `DRetHTR.decode_text`; the end has probability 1 when it is due, and 0 before."""
        logits, after = super().decode_text(tokens, memory, state)
        due = torch.arange(state.length, after.length, device=logits.device) >= self.characters
        logits[..., EOS] = torch.where(due, CERTAIN, -CERTAIN).to(logits.dtype)
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
        task.strategy.find(network, [View.of(network.encode(images))])

    return run


def prepare_published(task: Task) -> Work:
    """Prepare the paper's algorithm; as with real data, lines of a greedy batch never all end at the same step."""
    together = task.beams > 1 or task.batch == 1
    network = TorchNetwork(build(task if together else replace(task, characters=LIMIT), PublishedRetentive()))
    images = images_of(task, network.dimensions.height)

    def run() -> None:
        published.read(network, images, task.beams)

    return run


def contenders(task: Task) -> list[Contender]:
    """Ours in both precisions, DTrHTR with the same search and a preallocated cache, and the published algorithm."""
    return [
        Contender("retention", partial(prepare_ours, task, Retentive())),
        Contender("retention, bfloat16", partial(prepare_ours, task, Retentive(), Precision.BFLOAT16)),
        Contender("key-value cache", partial(prepare_ours, task, JointSoftmax())),
        Contender("published", partial(prepare_published, task)),
    ]


def measure(tasks: Sequence[Task], rounds: Rounds) -> BenchmarkReport:
    """Measure seconds from images to tokens for every task."""
    races = [time_race(str(task), contenders(task), rounds, task.device) for task in tasks]
    return BenchmarkReport("Decoding: seconds from images to tokens", notes(tasks[0]), races)


def notes(task: Task) -> tuple[str, ...]:
    """How the figures were measured."""
    return (
        f"Lines of {task.pixels} x 64 pixels, random weights; every text is forced to end after {task.characters} "
        "characters.",
        "retention: DRetHTR in this package, in float32 and in bfloat16. key-value cache: DTrHTR, the same weights and "
        "the same search, with image keys shared by beams and a preallocated cache. published: the paper's algorithm "
        "on its canvas of 2,227 columns, with image keys copied for every beam. Beam search stops once all beams have "
        f"ended; greedy search only at a step at which all lines end: for several real lines never, so {LIMIT} steps.",
    )
