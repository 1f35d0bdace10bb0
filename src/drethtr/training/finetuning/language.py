"""Update a model's n-grams with the texts of new lines."""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.language.learn import learn
from drethtr.recognition.model_file import Model

KEPT = 0.5
"""Weight of the existing n-grams; the new lines get the rest."""


def with_language(model: Model, texts: Sequence[str]) -> Model:
    """The model with the n-grams of new texts mixed into those of their language; unchanged if it has no n-grams."""
    if not model.languages:
        return model
    name = model.languages.of_texts(map(model.tokenizer.encode, texts))
    known = model.languages.models[name]
    try:
        ngrams = learn([texts, known], [1 - KEPT, KEPT], model.tokenizer, order=known.order, most=len(known.tokens))
    except DataError:  # no text is long enough for an n-gram
        return model
    return replace(model, languages=model.languages.with_model(name, ngrams))
