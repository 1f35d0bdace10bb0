"""Against forgetting: go only part of the way from the starting weights to the learned ones.

A network part of the way reads other hands better than at its end, and the new hand nearly as well (docs/own_data.md).
How far to go is chosen on the validation lines: no farther than most of the gain needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from drethtr.evaluation.evaluate import read_lines
from drethtr.evaluation.metrics import score
from drethtr.lines.sample import Sample
from drethtr.network.backend import fresh_network
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.search.strategy import Strategy
from drethtr.recognition.weights import Weights
from drethtr.training.start import Start

WAYS = (0.25, 0.5, 0.75, 1.0)
"""Parts of the way that are tried."""

KEPT = 0.95
"""Least share of the gain on the validation lines that is kept."""


def weights_at_start(start: Start, model: Model) -> Weights:
    """The weights that a model was trained from, in its alphabet."""
    network = fresh_network(model.network, model.tokenizer)
    start.apply(network, model.tokenizer)
    return {name: weight.numpy() for name, weight in network.state_dict().items()}


def between(start: Weights, learned: Model, way: float) -> Model:
    """The model part of the way from the starting weights to its own: 0 is the start, 1 the model."""
    mixed = {
        name: (start[name] + np.float32(way) * (weight - start[name])).astype(weight.dtype)
        if np.issubdtype(weight.dtype, np.floating)
        else weight
        for name, weight in learned.weights.items()
    }
    return replace(learned, weights=mixed)


def shortest_way(errors: Mapping[float, int]) -> float:
    """The shortest way that keeps enough of the gain, from the errors after each part of it, 0 and 1 included."""
    gain = errors[0.0] - min(errors.values())
    return min(way for way, number in errors.items() if errors[0.0] - number >= KEPT * gain)


def part_of_the_way(
    start: Weights, learned: Model, samples: Sequence[Sample], decoder: Strategy, device: str
) -> tuple[Model, float]:
    """The model on the shortest way that keeps most of the gain on validation lines, and that way."""
    texts = [sample.text for sample in samples]
    errors = {}
    for way in (0.0, *WAYS):
        readings = read_lines(Recognizer(between(start, learned, way), decoder, device=device), samples)
        errors[way] = sum(counts.edits for counts in score(texts, [reading.text for reading in readings]))
    way = shortest_way(errors)
    return between(start, learned, way), way
