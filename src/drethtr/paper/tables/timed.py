"""Rows without training: time and memory of decoding, measured as by `drethtr bench`.

The paper reports one pass over the test lines of IAM in batches; here a few batches are timed, with texts that end
after the mean number of tokens of those lines.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from drethtr.base import config
from drethtr.paper.speed.decoding import VOCABULARY, Task, build, prepare_ours
from drethtr.paper.speed.peak import memory_race
from drethtr.paper.speed.peers import TROCR_PIXELS, check_transformers, write_pieces
from drethtr.paper.speed.race import Contender, Work, time_race
from drethtr.paper.tables.course import Change
from drethtr.paper.tables.material import DataFiles
from drethtr.paper.tables.published import training
from drethtr.paper.tables.result import GIGABYTES, PARAMETERS, SECONDS, Measurement
from drethtr.paper.tables.stage import Conditions, digest
from drethtr.paper.tables.table import Experiment
from drethtr.paper.tables.trained import unchanged
from drethtr.recognition.model.architecture import NetworkConfig

TEST_LINES = 2915
"""Number of test lines of IAM."""
CHARACTERS, PIECES = 44, 17
"""Mean number of tokens in a test line of IAM: characters, and 500 subwords (paper, Table 10)."""
NONE = DataFiles((), (), ())


@dataclass(frozen=True, kw_only=True)
class Timed(Experiment):
    """Decode texts of `tokens` tokens from a vocabulary of this size, with `beams` beams."""

    change: Change = unchanged
    beams: int
    tokens: int = CHARACTERS
    vocabulary: int = VOCABULARY

    def task(self, conditions: Conditions) -> Task:
        """The decoding task."""
        network: NetworkConfig = self.change(conditions.scale.fit(training(NONE))).network
        return Task(
            name=conditions.scale.name,
            config=network,
            batch=conditions.scale.batch,
            beams=self.beams,
            characters=self.tokens,
            vocabulary=self.vocabulary,
            device=conditions.device,
        )

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        task = self.task(conditions)
        sizes = [task.batch, task.beams, task.characters, task.vocabulary, task.pixels, conditions.device.type]
        return digest([config.to_dict(task.config), sizes])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Do nothing, since the weights are random."""

    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        task = self.task(conditions)
        contender = Contender("ours", partial(prepare_ours, task, task.config.mixer))
        return timed(contender, build(task, task.config.mixer), conditions)


@dataclass(frozen=True, kw_only=True)
class TimedTrOCR(Experiment):
    """Decode with a TrOCR from the transformers package; `network` builds it from numbers of layers."""

    network: Callable[..., Any]
    beams: int

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        scale = conditions.scale
        sizes = [scale.batch, self.beams, scale.trocr_layers, conditions.device.type]
        return digest([self.network.__name__, sizes])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Check that the package is installed; the weights are random."""
        check_transformers()

    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        made = partial(self.network, *conditions.scale.trocr_layers)
        prepare = partial(prepare_trocr, made, conditions.scale.batch, self.beams, conditions.device)
        return timed(Contender("TrOCR", prepare), made(), conditions)


def prepare_trocr(build: Callable[[], Any], batch: int, beams: int, device: torch.device) -> Work:
    """Prepare encoding random images on the device, and decoding."""
    network, pixels = build().to(device), torch.rand(batch, 3, TROCR_PIXELS, TROCR_PIXELS, device=device) * 2 - 1
    return partial(write_pieces, network, pixels, CHARACTERS, beams)


def timed(contender: Contender, network: nn.Module, conditions: Conditions) -> Measurement:
    """Measure the memory of one batch, and the time scaled to all test lines."""
    scale = conditions.scale
    conditions.say(f"decoding {scale.batch} lines at a time")
    race = time_race(contender.name, [contender], scale.rounds, conditions.device)
    figures = {
        SECONDS: race.spread(contender.name).median * TEST_LINES / scale.batch,
        PARAMETERS: sum(parameter.numel() for parameter in network.parameters()) / 1e6,
    }
    if scale.memory:
        peak = memory_race(contender.name, [contender], conditions.device, {})
        figures[GIGABYTES] = peak.spread(contender.name).median / 1e3
    return Measurement(figures=figures)
