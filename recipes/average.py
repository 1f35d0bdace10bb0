"""Average the weights of models of one network, such as those of a run and of its start.

python recipes/average.py averaged.safetensors runs/long/latest.safetensors:0.85 start.safetensors:0.15

Everything else, such as the card and the n-grams, is of the first model.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from drethtr.recognition.model_file import Model, load_model, save_model


def part(argument: str) -> tuple[Model, float]:
    """A model and its share, from FILE:SHARE."""
    file, _, share = argument.rpartition(":")
    return load_model(Path(file)), float(share)


def average(parts: list[tuple[Model, float]]) -> Model:
    """The first model, with the mean of all weights."""
    first = parts[0][0]
    if any(shapes(model) != shapes(first) or model.tokenizer != first.tokenizer for model, _ in parts):
        raise SystemExit("the models have different networks or alphabets")
    if abs(sum(share for _, share in parts) - 1) > 1e-6:
        raise SystemExit("the shares must sum to 1")
    means = {name: np.zeros(weight.shape, np.float32) for name, weight in first.weights.items()}
    for model, share in parts:
        for name, mean in means.items():
            mean += np.float32(share) * np.asarray(model.weights[name], np.float32)
    return replace(first, weights=means)


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights."""
    return {name: weight.shape for name, weight in model.weights.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("parts", type=part, nargs="+", metavar="FILE:SHARE")
    wanted = parser.parse_args()
    save_model(average(wanted.parts), wanted.output)
