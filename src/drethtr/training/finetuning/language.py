"""Update a model's n-grams with the texts of new lines."""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.language.learn import learn
from drethtr.recognition.model_file import Model

KEPT = 0.8
"""Weight of the existing n-grams; the new lines get the rest. Half and half, other hands would be read much worse."""


def with_language(model: Model, texts: Sequence[str], kept: float = KEPT) -> Model:
    """The model with the n-grams of new texts mixed into those of their language; unchanged if it has no n-grams."""
    if not model.languages or kept == 1:
        return model
    name = model.languages.of_texts(map(model.tokenizer.encode, texts))
    known = model.languages.models[name]
    try:
        ngrams = learn([texts, known], [1 - kept, kept], model.tokenizer, order=known.order, most=len(known.tokens))
    except DataError:  # no text is long enough for an n-gram
        return model
    return replace(model, languages=model.languages.with_model(name, ngrams))
