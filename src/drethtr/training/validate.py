"""Validation: the averaged weights read lines the way users' lines are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drethtr.checkpoint import Model
from drethtr.data.sample import Sample, check_apart
from drethtr.data.sources import open_all
from drethtr.decoding.strategies import Decoder
from drethtr.evaluation.metrics import Counts, score
from drethtr.recognizer import Recognizer
from drethtr.training.run import ValidationConfig


@dataclass(frozen=True)
class Score:
    """CER of all lines together and of each set, as fractions."""

    cer: float
    sets: Mapping[str, float]


class Validator:
    """Holds the validation lines and reads them when asked."""

    def __init__(self, config: ValidationConfig, training: list[Sample]) -> None:
        self.decoder: Decoder = config.decoder
        self.samples = choose(open_all(config.paths), config.lines)
        check_apart({"training": training, "validation": self.samples})

    def __call__(self, model: Model) -> Score:
        """Read all lines with `model`."""
        readings = Recognizer(model, self.decoder).read([sample.image for sample in self.samples])
        counts = score([sample.text for sample in self.samples], [reading.text for reading in readings])
        sets: dict[str, list[Counts]] = {}
        for sample, count in zip(self.samples, counts, strict=True):
            sets.setdefault(sample.set, []).append(count)
        return Score(rate(counts), {name: rate(of_set) for name, of_set in sorted(sets.items())})


def rate(counts: list[Counts]) -> float:
    """Corpus-level CER."""
    return sum(count.edits for count in counts) / max(sum(count.characters for count in counts), 1)


def choose(samples: list[Sample], lines: int) -> list[Sample]:
    """At most `lines` clean lines of each set, always the same ones."""
    sets: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.clean and sample.text.strip():
            sets.setdefault(sample.set, []).append(sample)
    chosen: list[Sample] = []
    for name in sorted(sets):
        order: Any = np.random.default_rng(0).permutation(len(sets[name]))
        chosen.extend(sets[name][i] for i in sorted(order[:lines]))
    return chosen
