"""Which lines are read to measure a model: always the same ones, whoever asks."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from drethtr.lines.sample import Sample


def clean_lines(samples: Sequence[Sample]) -> list[Sample]:
    """The samples whose text says what is on the line, without editorial signs or uncertain letters."""
    return [sample for sample in samples if sample.clean]


def choose(samples: Sequence[Sample], lines: int, seed: int = 0) -> list[Sample]:
    """At most `lines` of each set, drawn by chance, sets in the order of their names and lines in their own."""
    sets: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        sets[sample.set].append(sample)
    chosen: list[Sample] = []
    for _, of_set in sorted(sets.items()):
        drawn = np.random.default_rng(seed).permutation(len(of_set))[:lines]
        chosen.extend(of_set[place] for place in sorted(drawn.tolist()))
    return chosen
