"""Update a model's n-grams with the texts of new lines."""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.language.learn import learn
from drethtr.recognition.model_file import Model

KEPT = 0.8
"""Weight of the existing n-grams; the new lines get the rest. Half and half, other hands would be read much worse."""


def with_language(model: Model, texts: Sequence[str]) -> Model:
    """The model with its n-grams and those of new texts, about as many as before; unchanged if it has none."""
    if model.ngrams is None:
        return model
    known, most = model.ngrams, len(model.ngrams.tokens)
    try:
        ngrams = learn([texts, known], [1 - KEPT, KEPT], model.tokenizer, order=known.order, most=most)
    except DataError:  # no text is long enough for an n-gram
        return model
    return replace(model, ngrams=ngrams)
