"""Interpolate between the starting and the fine-tuned model, weights and language models, to reduce forgetting.

The interpolated network reads other hands better than the fine-tuned one, and the new hand nearly as well
(docs/own_data.md). The share of the change is the smallest that keeps most of the gain on the validation lines.
Source: Wortsman et al., arXiv 2109.01903.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.evaluation.reading import read_lines
from drethtr.language.learn import with_texts
from drethtr.network.network import DRetHTR
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import Model
from drethtr.recognition.model.weights import Weights
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.rescorer import finetuned
from drethtr.training.start import Start

FRACTIONS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the change to try."""

COST = 0.05
"""The allowed loss on validation lines for less forgetting: at most this share of the gain, and of the remaining
errors.

Half of the change usually keeps 95 % of the gain, with half of the forgetting (LOG.md, 2026-11-25). For a large gain, a
twentieth of it alone would be too much: 1.5 points for a fall from 34 to 5 %."""

NGRAMS_KEPT = 0.8
"""Weight of the existing n-grams; the new lines get the rest.

With half for the new lines, other hands lose 0.25 nats per character, with a fifth 0.04 (LOG.md, 2026-11-25)."""


def weights_at_start(start: Start, model: Model) -> Weights:
    """The weights that a model was trained from, in its alphabet."""
    network = DRetHTR(model.network, model.tokenizer.size)
    start.apply(network, model.tokenizer)
    return {name: weight.numpy() for name, weight in network.state_dict().items()}


def interpolate(start: Weights, learned: Model, share: float) -> Model:
    """The model with this share of the change from the starting weights to its own."""
    return replace(learned, weights=between(start, learned.weights, share))


def between(start: Weights, learned: Weights, share: float) -> Weights:
    """The starting weights with this share of the change to the learned ones; counters keep the learned values."""
    return {
        name: (start[name] + np.float32(share) * (weight - start[name])).astype(weight.dtype)
        if np.issubdtype(weight.dtype, np.floating)
        else weight
        for name, weight in learned.items()
    }


def smallest_share(errors: Mapping[float, int]) -> float:
    """The smallest share that costs little; `errors` has the errors with each share, including 0."""
    fewest = min(errors.values())
    most = fewest + COST * min(errors[0.0] - fewest, fewest)
    return min(share for share, number in errors.items() if number <= most)


def choose_interpolation(
    start: Weights, learned: Model, samples: Sequence[Sample], decoder: Strategy, device: str, threads: int | None
) -> tuple[Model, float]:
    """Choose the smallest share of the change that keeps most of the gain, and that share."""
    # Few validation lines cannot distinguish shares that keep nearly all of the gain; the smallest one forgets least.
    errors = {}
    for share in (0.0, *FRACTIONS):
        recognizer = Recognizer(interpolate(start, learned, share), decoder, device=device, threads=threads)
        errors[share] = sum(line.counts.edits for line in read_lines(recognizer, samples))
    share = smallest_share(errors)
    return interpolate(start, learned, share), share


def with_language(model: Model, texts: Sequence[str], kept: float = NGRAMS_KEPT) -> Model:
    """The model with the n-grams of new texts mixed into those of their language; unchanged if it has no n-grams."""
    if not model.languages or kept == 1:
        return model
    # As a separate language, they would also affect other hands, whose lines may choose it (LOG.md, 2026-11-25, late).
    name = model.languages.of_texts(map(model.tokenizer.encode, texts))
    known = model.languages.models[name]
    try:
        ngrams = with_texts(known, texts, 1 - kept, model.tokenizer)
    except DataError:  # no text is long enough for an n-gram
        return model
    return replace(model, languages=model.languages.with_model(name, ngrams))


def with_rescorer(model: Model, texts: Sequence[str], share: float, device: str, *, bfloat16: bool) -> Model:
    """The model with this share of what its rescorer learns from new texts; unchanged if it has no rescorer."""
    if model.rescorer is None or not share:
        return model
    start = model.rescorer
    learned = finetuned(start, texts, model.tokenizer, device=device, bfloat16=bfloat16)
    return replace(model, rescorer=start._replace(weights=between(start.weights, learned.weights, share)))
