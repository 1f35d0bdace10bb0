"""Benchmark the cost of the next token after N tokens, and the size of the state: retention against a key-value cache.

Per head of width K, retention keeps K numbers per channel and updates them at each step; a cache keeps 2N. So retention
needs less memory from N = K/2 on, and less arithmetic from about N = K on. Below that, it works like a cache
(`drethtr.network.cache`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue
from drethtr.network.backend import stack
from drethtr.network.cache import TextCache
from drethtr.network.mixer import Query, TextMixer
from drethtr.network.network import BatchMemory, DecoderState, DRetHTR, select_rows
from drethtr.paper.speed.decoding import Task, build, images_of
from drethtr.paper.speed.race import MEGABYTE, Contender, Race, Rounds, Work, time_race
from drethtr.paper.speed.report import BenchmarkReport
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.model.architecture import MixerConfig, Retentive

MIXERS: dict[str, MixerConfig] = {"retention": Retentive(), "key-value cache": JointSoftmax()}
PIECE = 250  # tokens decoded in one pass on the way to a length
STEPS = 4  # timed together; each round continues the previous one, since going back would mean copying a cache


def measure(task: Task, lengths: Sequence[int], rounds: Rounds) -> BenchmarkReport:
    """Measure milliseconds and megabytes at each length; the beams of a line are reordered at every step."""
    networks = {name: build(task, mixer) for name, mixer in MIXERS.items()}
    written = {name: Written(network, task) for name, network in networks.items()}
    races: list[Race] = []
    for length in sorted(lengths):
        for text in written.values():
            text.extend(length)
        races += races_at(length, written, task, rounds)
    config = task.config
    head = config.width // config.heads
    notes = (
        f"{task}: the next token after a text of N, random weights; the beams are reordered at every step. Each round "
        f"continues the previous one, so times are of tokens up to {STEPS * (1 + rounds.most)} beyond N.",
        f"By formula, with heads {head} wide, retention needs less memory from N = {head // 2} on and less arithmetic "
        f"from about N = {head} on; up to {head // 2} tokens waiting to enter its memory take as much again. For short "
        "texts, most of the time goes into the layers that both share.",
    )
    return BenchmarkReport("Length: the next token after N", notes, races, task.device, "tokens")


def races_at(length: int, written: dict[str, "Written"], task: Task, rounds: Rounds) -> list[Race]:
    """Races at one length: the whole network, its text mixers alone, and the size of their states."""
    steps = [Contender(name, partial(text.prepare, task)) for name, text in written.items()]
    mixers = [Contender(name, partial(text.prepare_mixers, task)) for name, text in written.items()]
    at, per = float(length), STEPS / 1000
    rows = task.batch * task.beams
    sizes = {name: (rows * kept(text.state) / MEGABYTE,) for name, text in written.items()}
    work = f"{length:,} tokens"
    return [
        time_race(work, steps, rounds, task.device, unit="ms per token", per=per, at=at),
        time_race(work, mixers, rounds, task.device, unit="ms per token in the mixers", per=per, at=at),
        Race(work, "MB of state", sizes, at=at),
    ]


def kept(state: object) -> int:
    """Size of a state in bytes, without spare room."""
    if isinstance(state, TextCache):
        return kept(state.tokens)
    if isinstance(state, Tensor):
        return state.nbytes
    return sum(map(kept, state)) if isinstance(state, tuple) else 0


class Written:
    """A text that grows: the network, its image memory, and the state of one line's single beam."""

    def __init__(self, network: DRetHTR, task: Task) -> None:
        images, widths = stack(images_of(replace(task, batch=1), network.backbone.height))
        self.network = network
        with torch.inference_mode():
            self.memory = network.encode_image(images.to(task.device), widths)
            self.state = network.initial_state(self.memory)

    @torch.inference_mode()
    def extend(self, length: int) -> None:
        """Decode up to a length, piece by piece, and the last token alone, since only a step tidies the state."""
        device = self.memory.layers[0].keys.device
        while (left := length - self.state.length) > 0:
            tokens = torch.zeros(1, min(PIECE, max(left - 1, 1)), dtype=torch.long, device=device)
            _, self.state = self.network.decode_text(tokens, self.memory, self.state)

    def spread(self, task: Task) -> tuple[BatchMemory, DecoderState]:
        """Copy image and text for all lines and beams of a task."""
        rows = torch.zeros(task.batch * task.beams, dtype=torch.long, device=task.device)
        return BatchMemory(select_rows(self.memory.layers, rows[: task.batch]), None, None), select_rows(
            self.state, rows
        )

    def prepare(self, task: Task) -> Work:
        """Prepare decoding `STEPS` further tokens in all beams of all lines."""
        memory, state = self.spread(task)
        turn = turned(task)
        tokens = torch.zeros(len(turn), 1, dtype=torch.long, device=task.device)

        @torch.inference_mode()
        def run() -> None:
            nonlocal state
            for _ in range(STEPS):
                _, state = self.network.decode_text(tokens, memory, state)
                state = select_rows(state, turn) if task.beams > 1 else state

        return run

    def prepare_mixers(self, task: Task) -> Work:
        """Prepare the part of `prepare` that depends on the mixer, without the layers around it."""
        memory, state = self.spread(task)
        turn, config = turned(task), task.config
        x = torch.randn(len(turn), 1, config.width, device=task.device)
        q, *text = x.view(len(turn), config.heads, 1, -1).expand(3, -1, -1, -1, -1)
        query = Query(x, q, KeyValue(*text))
        mixers = [module for module in self.network.modules() if isinstance(module, TextMixer)]
        layers = state.layers

        @torch.inference_mode()
        def run() -> None:
            nonlocal layers
            for _ in range(STEPS):
                after = []
                for mixer, image, before in zip(mixers, memory.layers, layers, strict=True):
                    after.append(mixer(query, image, None, before, dropout=0.0)[1])
                layers = select_rows(tuple(after), turn) if task.beams > 1 else tuple(after)

        return run


def turned(task: Task) -> Tensor:
    """Rows (R,) that rotate the beams of every line."""
    rows = torch.arange(task.batch * task.beams, device=task.device)
    return rows.view(task.batch, -1).roll(1, 1).flatten()
