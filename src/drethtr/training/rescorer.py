"""Train a rescorer: a retentive language model of the characters of a line.

    rescorer = train_rescorer(TrainingTexts(lines, corpus, tokenizer, RescorerRun()), Path("run.safetensors"))

Steps have about the same number of characters, in batches of lines of similar length. The data of a step depends only
on the seed and its number, so a killed run resumes from its snapshot with the same result.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from drethtr.base import config
from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.base.urls import digest_of
from drethtr.network.backend import rescorer_of
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import SETTINGS_ERRORS, Rescorer, weights_hash
from drethtr.recognition.model.weights import read_file, write_tensors
from drethtr.synthesis.corpus import Corpus
from drethtr.text.tokenizer import PAD, Tokenizer
from drethtr.training.devices import Devices
from drethtr.training.objective import cross_entropies, teacher_forcing
from drethtr.training.optimize import (
    Cosine,
    MovingAverage,
    Muon,
    OptimizerConfig,
    clip_gradient,
    learning_rate,
    make_optimizer,
    set_learning_rate,
)
from drethtr.training.snapshot import Learner, restore, tensors_of

AT_A_TIME = 16
"""Steps whose lines are drawn together and sorted by length, to keep padding small."""

SAVED = 200
"""Steps between two snapshots."""

HEADER = "drethtr-rescorer-run"

CONTINUED = 0.4
"""Share of the learning rate for weights that are already trained."""

PASSES = 15
"""Passes over the lines of a hand. With 5 to 40 over 60 lines, 1 % fewer characters are wrong; with 15 over 567 lines
of the 16th century, 5.6 instead of 6.5 % (5.9 without a rescorer; LOG.md, 2026-11-28, afternoon)."""

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters seen in these passes: a minute or two."""


@dataclass(frozen=True, kw_only=True)
class RescorerRun:
    """The configuration of the training of a rescorer.

    Attributes:
        characters: Number of characters seen in total.
        per_step: Characters per step.
        share: Share of the characters from text files, if there are any; the rest is from the lines.
        learning_rate: Peak; reached after a hundredth of the run, then decayed to a hundredth of it.
        average: Decay of the moving average of the weights, which is the result.
        bfloat16: Whether to compute in bfloat16; None: if that is clearly faster.
    """

    # The shipped one was trained so: 1.68 nats per character after 12 million characters and 1.41 at the end; with a
    # quarter of the run, it ranked candidates no better than n-grams (LOG.md, 2026-11-25, evening).
    network: RescorerConfig = field(default_factory=RescorerConfig)
    characters: int = 48_000_000
    per_step: int = 6_000
    share: float = 0.65
    learning_rate: float = 0.02
    average: float = 0.995
    bfloat16: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.per_step <= self.characters:
            raise ConfigError(f"per_step must be between 1 and characters ({self.characters:,}), not {self.per_step:,}")
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be between 0 and 1, not {self.share}")
        config.check_seed(self.seed)

    @property
    def optimizer(self) -> OptimizerConfig:
        """The configuration of the optimizer."""
        return OptimizerConfig(
            method=Muon(),
            learning_rate=self.learning_rate,
            schedule=Cosine(0.01),
            warm_up=self.characters // 100,
            average=self.average,
        )

    @property
    def steps(self) -> int:
        """Number of steps of the run."""
        return self.characters // self.per_step


@dataclass(frozen=True)
class TrainingTexts:
    """The texts to train on: those of lines, and text files to draw from."""

    lines: Sequence[str]
    corpus: Corpus | None
    tokenizer: Tokenizer
    run: RescorerRun

    def digest(self) -> str:
        """A digest of all texts."""
        files = digest_of(self.corpus.files if self.corpus is not None else ())
        return sha256("\n".join((files, *self.lines)).encode()).hexdigest()

    def batches(self, start: int) -> Iterator[Tensor]:
        """The padded texts (R, N) of each step from `start` on."""
        # Texts of similar length share a batch, so that there is little padding; then the batches of a turn are
        # shuffled. A turn depends only on its number, so a resumed run draws the same.
        for turn in count(start // AT_A_TIME):
            rng = np.random.default_rng((self.run.seed, turn))
            batches = self.draw_batches(rng)
            order = rng.permutation(AT_A_TIME)
            yield from (batches[place] for place in order[start % AT_A_TIME if turn == start // AT_A_TIME else 0 :])

    def draw_batches(self, rng: np.random.Generator) -> list[Tensor]:
        """The batches of `AT_A_TIME` steps, from the shortest lines to the longest."""
        texts: list[list[int]] = []
        share = self.run.share if self.corpus is not None else 0.0
        for part, corpus in ((share, self.corpus), (1 - share, None)):
            missing = part * self.run.per_step * AT_A_TIME
            while missing > 0:
                line = self.lines[int(rng.integers(len(self.lines)))] if corpus is None else corpus.draw(rng).text
                texts.append(self.tokenizer.encode(line))
                missing -= len(texts[-1]) + 1  # shares are counted in characters, with the end of the line
        texts.sort(key=len)
        ends = np.cumsum([len(text) + 1 for text in texts])
        places = np.searchsorted(ends, ends[-1] * np.arange(1, AT_A_TIME) / AT_A_TIME)
        # A text that is longer than a step is in several batches; none is empty.
        borders = zip((0, *places), (*places, len(texts)), strict=True)
        batches = (texts[min(begin, len(texts) - 1) : max(end, begin + 1)] for begin, end in borders)
        # Without the type, an empty text would become a tensor of floats.
        rows = ([torch.tensor(text, dtype=torch.long) for text in batch] for batch in batches)
        return [nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=PAD) for batch in rows]


def finetuned(
    rescorer: Rescorer,
    lines: Sequence[str],
    tokenizer: Tokenizer,
    *,
    device: torch.device | str = "cpu",
    bfloat16: bool | None = None,
) -> Rescorer:
    """The rescorer after some passes over the lines of a hand, whose words and spelling it then expects."""
    characters = sum(len(tokenizer.encode(line)) + 1 for line in lines)
    run = RescorerRun(
        network=rescorer.config,
        characters=min(PASSES * characters, MAX_CHARACTERS),
        per_step=min(2_000, characters),
        share=0.0,
        learning_rate=CONTINUED * RescorerRun.learning_rate,
        average=0.95,
        bfloat16=bfloat16,
    )
    return train_rescorer(TrainingTexts(lines, None, tokenizer, run), None, start=rescorer, device=device)


def train_rescorer(
    material: TrainingTexts,
    snapshot: Path | None,
    *,
    start: Rescorer | None = None,
    device: torch.device | str = "cpu",
    advance: Callable[[int, float], object] | None = None,
) -> Rescorer:
    """Train a rescorer; its weights are averaged.

    Args:
        start: Weights to start from instead of random ones, of the same configuration and alphabet.
        snapshot: File for the state of the run; an existing one of the same run is resumed. None: nothing is kept.
        advance: Called after each step with the number of steps done and the loss in nats per character.

    Raises:
        CheckpointError: if the snapshot is of another run, or damaged, or the weights of `start` do not fit.
        DivergedError: if the gradient is not finite.
        DataError: if there are no lines, or the texts have no characters of the alphabet.
    """
    if not material.lines:
        raise DataError("no line has a text, and a rescorer learns only from texts; give other lines")
    run, devices = material.run, Devices.open(device)
    torch.manual_seed(run.seed)
    tokenizer = material.tokenizer
    network = RescorerNetwork(run.network, tokenizer.size) if start is None else rescorer_of(start, tokenizer).train()
    network.to(devices.device)
    learner = Learner(
        network, network, MovingAverage(network, run.optimizer.average), make_optimizer(network, run.optimizer)
    )
    settings = {
        "run": config.to_dict(run),
        "tokenizer": config.to_dict(tokenizer),
        "texts": material.digest(),
        "start": start and weights_hash(start.weights),
    }
    done, known = restore_run(snapshot, learner, settings) if snapshot is not None else (0, None)
    bfloat16 = devices.uses_bfloat16(run.bfloat16) if known is None else known
    cure = "another seed" if snapshot is None else f"another seed, without the file {snapshot}"
    for step, batch in zip(range(done, run.steps), material.batches(done), strict=False):
        set_learning_rate(learner.optimizer, learning_rate(run.optimizer, step * run.per_step, run.characters))
        learner.optimizer.zero_grad(set_to_none=True)
        texts = batch.to(devices.device)
        before, after = teacher_forcing(texts, (texts != PAD).sum(1))
        with devices.precision(bfloat16):
            loss = cross_entropies(network(before), after).sum() / (after != PAD).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_gradient(network, run.optimizer.clip, step + 1, cure)
        with devices.precision(bfloat16):  # Muon multiplies matrices
            learner.optimizer.step()
        learner.average.update(network, step + 1)
        if advance is not None:
            advance(step + 1, float(loss.detach()))
        if snapshot is not None and (step + 1) % SAVED == 0:
            header = json.dumps(settings | {"steps": step + 1, "bfloat16": bfloat16})
            write_tensors(tensors_of(learner), snapshot, {HEADER: header})
    weights = learner.average.network.state_dict()
    return Rescorer(run.network, {name: weight.cpu().numpy() for name, weight in weights.items()})


def restore_run(path: Path, learner: Learner[RescorerNetwork], settings: Mapping[str, Any]) -> tuple[int, bool | None]:
    """Restore the state of a run, if there is a snapshot.

    Returns the number of finished steps, and whether they were in bfloat16, if known.

    Raises:
        CheckpointError: if it is of another run, or damaged.
    """
    if not path.exists():
        return 0, None
    tensors, metadata = read_file(path)
    try:
        lacking = {"tokenizer": settings["tokenizer"], "bfloat16": None}  # of snapshots of earlier versions
        header = {**lacking, **json.loads(metadata[HEADER])}
        if any(header[name] != value for name, value in settings.items()):
            raise CheckpointError("of a run with other settings or texts; remove it to start again", path)
        restore(tensors, learner)
        return int(header["steps"]), header["bfloat16"]
    except SETTINGS_ERRORS as error:
        raise CheckpointError("not a snapshot of a rescorer's run; remove it to start again", path) from error
