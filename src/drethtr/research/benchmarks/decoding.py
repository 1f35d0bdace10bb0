"""Retention against a key-value cache and against the published algorithm, at the same work.

The weights are random, so a text would end by chance. It is made to end after `Task.characters` characters: before that
the end is impossible, then it is certain. All contenders have networks of the same shape and search with the same code.
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
from drethtr.recognition.architecture import PRESETS, JointSoftmax, MixerConfig, NetworkConfig, Retentive
from drethtr.recognition.precision import Precision
from drethtr.recognition.search.strategies import Beam, Greedy
from drethtr.recognition.search.strategy import Strategy, View
from drethtr.research.benchmarks import published
from drethtr.research.benchmarks.published import PublishedRetentive
from drethtr.research.benchmarks.race import Contender, Rounds, Work, time_race
from drethtr.research.benchmarks.report import BenchmarkReport
from drethtr.research.published_decoding import LIMIT
from drethtr.text.tokenizer import EOS

VOCABULARY = 83  # of the paper's IAM model
CERTAIN = 1e4
"""A logit beside which all others are nothing."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is read: `batch` lines at a time, all `pixels` wide at a height of 64, with texts of one length."""

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
        """Greedy, or beam search with this many beams."""
        return Greedy() if self.beams == 1 else Beam(self.beams)


@dataclass(frozen=True)
class Grid:
    """Tasks of every network with every batch and number of beams."""

    networks: Sequence[str] = ("compact", "small", "base")
    batches: Sequence[int] = (1, 8)
    beams: Sequence[int] = (1, 5, 10)

    def tasks(self, device: torch.device) -> list[Task]:
        """All tasks, for a device."""
        return [
            Task(name=name, config=PRESETS[name], batch=batch, beams=beams, device=device)
            for name in self.networks
            for batch in self.batches
            for beams in self.beams
        ]


class EndingNetwork(DRetHTR):
    """A network whose every text has `characters` characters."""

    characters: int

    def decode_text(self, tokens: Tensor, memory: BatchMemory, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """See `DRetHTR.decode_text`; the end comes when it is due, and not before."""
        logits, after = super().decode_text(tokens, memory, state)
        due = torch.arange(state.length, after.length, device=logits.device) >= self.characters
        logits[..., EOS] = torch.where(due, CERTAIN, -CERTAIN).to(logits.dtype)
        return logits, after


def build(task: Task, mixer: MixerConfig) -> EndingNetwork:
    """The task's network with another mixer and random weights from one seed."""
    torch.manual_seed(0)
    network = EndingNetwork(replace(task.config, mixer=mixer), task.vocabulary)
    network.characters = task.characters
    network.to(task.device).eval()
    network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # as `network_of` does
    return network


def images_of(task: Task, height: int) -> list[Prepared]:
    """Lines (height, columns) of random pixels: what is on them does not change how long reading takes."""
    columns = Preparation(height=height).columns(task.pixels, 64)
    return list(np.random.default_rng(0).uniform(-1, 1, (task.batch, height, columns)).astype(np.float32))


def prepare_ours(task: Task, mixer: MixerConfig, precision: Precision = Precision.FLOAT32) -> Work:
    """Our search: early stop, images at their own width, their keys stored once."""
    network = TorchNetwork(build(task, mixer), precision)
    images = images_of(task, network.dimensions.height)

    def run() -> None:
        task.strategy.find(network, [View.of(network.encode(images))])

    return run


def prepare_published(task: Task) -> Work:
    """The algorithm of the paper; lines that it reads greedily together never end at the same step, as in real data."""
    together = task.beams > 1 or task.batch == 1
    network = TorchNetwork(build(task if together else replace(task, characters=LIMIT), PublishedRetentive()))
    images = images_of(task, network.dimensions.height)

    def run() -> None:
        published.read(network, images, task.beams)

    return run


def contenders(task: Task) -> list[Contender]:
    """Ours in both precisions, DTrHTR in the same search with a preallocated cache, and the published algorithm."""
    return [
        Contender("retention", partial(prepare_ours, task, Retentive())),
        Contender("retention, bfloat16", partial(prepare_ours, task, Retentive(), Precision.BFLOAT16)),
        Contender("key-value cache", partial(prepare_ours, task, JointSoftmax())),
        Contender("published", partial(prepare_published, task)),
    ]


def measure(tasks: Sequence[Task], rounds: Rounds) -> BenchmarkReport:
    """Seconds from images to tokens for every task."""
    races = [time_race(str(task), contenders(task), rounds, task.device) for task in tasks]
    return BenchmarkReport("Decoding: seconds from images to tokens", notes(tasks[0]), races)


def notes(task: Task) -> tuple[str, ...]:
    """How the figures were measured."""
    return (
        f"Lines of {task.pixels} x 64 pixels, random weights; every text is made to end after {task.characters} "
        "characters.",
        "retention: DRetHTR in this package, in float32 and in bfloat16. key-value cache: DTrHTR, the same weights and "
        "the same search, with image keys shared by beams and a preallocated cache. published: the paper's algorithm "
        "on its canvas of 2,227 columns, image keys copied for every beam. It stops once all beams have ended, and "
        f"without beams at a step at which all lines end: several real lines are never equally long, so {LIMIT} steps.",
    )
