"""A row that trains nothing: how long decoding takes and how much memory, as `drethtr bench decoding` measures it.

The paper's time is one pass over the test lines of IAM, so many at a time; here some batches are timed, with texts that
end after as many tokens as those lines have on average.
"""

from dataclasses import dataclass
from functools import partial

from drethtr import config
from drethtr.benchmarks.decoding import Task, build, prepare_ours
from drethtr.benchmarks.peak import memory_race
from drethtr.benchmarks.race import Contender, time_race
from drethtr.experiments.course import Change
from drethtr.experiments.experiment import Experiment
from drethtr.experiments.material import Lines
from drethtr.experiments.published import training
from drethtr.experiments.result import GIGABYTES, PARAMETERS, SECONDS, Outcome
from drethtr.experiments.stage import Conditions, digest
from drethtr.experiments.trained import unchanged
from drethtr.model.network import NetworkConfig

TEST_LINES = 2915
"""Of IAM."""
CHARACTERS, PIECES = 44, 17
"""Tokens of a test line of IAM: characters, and those of 500 pieces of words (paper, Table 10)."""
NONE = Lines((), (), ())


@dataclass(frozen=True, kw_only=True)
class Timed(Experiment):
    """Decode with so many beams and texts of so many tokens."""

    change: Change = unchanged
    beams: int
    tokens: int = CHARACTERS

    def task(self, conditions: Conditions) -> Task:
        """What is decoded."""
        network: NetworkConfig = self.change(conditions.scale.fit(training(NONE))).network
        return Task(
            name=conditions.scale.name,
            config=network,
            batch=conditions.scale.batch,
            beams=self.beams,
            characters=self.tokens,
            device=conditions.device,
        )

    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        task = self.task(conditions)
        sizes = [task.batch, task.beams, task.characters, task.pixels, conditions.device.type]
        return digest([config.to_dict(task.config), sizes])

    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Nothing: the weights are random."""

    def measure(self, conditions: Conditions, seed: int) -> Outcome:
        task, scale = self.task(conditions), conditions.scale
        conditions.say(f"decoding {task}")
        contender = Contender("ours", partial(prepare_ours, task, task.config.mixer))
        race = time_race(str(task), [contender], scale.rounds, task.device)
        figures = {
            SECONDS: race.spread(contender.name).median * TEST_LINES / task.batch,
            PARAMETERS: sum(p.numel() for p in build(task, task.config.mixer).parameters()) / 1e6,
        }
        if scale.memory:
            peak = memory_race(str(task), [contender], task.device, {})
            figures[GIGABYTES] = peak.spread(contender.name).median / 1e3
        return Outcome(figures=figures)
