"""What a model with n-grams learns of the language of new lines."""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.language.learn import learn
from drethtr.recognition.model_file import Model

KEPT = 0.5
"""How much what is known counts; the new lines count for the rest."""


def with_language(model: Model, texts: Sequence[str]) -> Model:
    """The model with n-grams of its own and of new texts, about as many as before; without any, as it is."""
    if model.ngrams is None:
        return model
    known, most = model.ngrams, len(model.ngrams.tokens)
    try:
        ngrams = learn([texts, known], [1 - KEPT, KEPT], model.tokenizer, order=known.order, most=most)
    except DataError:  # no text is as long as an n-gram
        return model
    return replace(model, ngrams=ngrams)
