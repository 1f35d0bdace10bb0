"""Select the lines for evaluating a model, reproducibly."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from drethtr.lines.sample import Sample


def clean_lines(samples: Sequence[Sample]) -> list[Sample]:
    """The samples whose texts have no editorial marks or uncertain letters."""
    return [sample for sample in samples if sample.clean]


def choose(samples: Sequence[Sample], lines: int, seed: int = 0) -> list[Sample]:
    """Draw at most `lines` of each set; sets are sorted by name, and lines keep their order."""
    sets: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        sets[sample.set].append(sample)
    chosen: list[Sample] = []
    for _, of_set in sorted(sets.items()):
        drawn = np.random.default_rng(seed).permutation(len(of_set))[:lines]
        chosen.extend(of_set[place] for place in sorted(drawn.tolist()))
    return chosen
