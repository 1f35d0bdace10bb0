"""N-gram models of several languages, with detection of the language of each line."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.config import named
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.language.ngrams import NGrams

Tokens = Sequence[int]

ONLY = "all"
"""The name of n-grams of no particular language."""

MAX_LANGUAGES = 64
"""Most languages of a model."""

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
"""Valid names of languages: `en`, `fr`, `grc`, `latin-notes`."""

NEAR = 10.0
"""Languages stay candidates for a line if the log-probability of its draft is within so many nats of the best.

That reads as well as searching in all of them, with 1.2 searches a line; searching only in the likeliest language of
the draft reads 0.15 points worse (LOG, 2026-11-25)."""


def check_name(name: str) -> None:
    """Refuse an invalid name of a language.

    Raises:
        ConfigError: with examples of valid ones.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is not a valid language name; use names such as en, grc or latin-notes")


@dataclass(frozen=True)
class Languages:
    """N-gram models by language, such as `en`. The language of a text is that of the most probable model.

    Every line is judged alone, so that its reading does not depend on other lines.
    """

    models: Mapping[str, NGrams] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.models)

    def __str__(self) -> str:
        return "; ".join(f"{name}: {ngrams}" for name, ngrams in self.models.items())

    def log_probability(self, tokens: Tokens) -> float:
        """The log-probability of a whole line, including `EOS`, in its language."""
        return max(ngrams.log_probability(tokens) for ngrams in self.models.values())

    def likeliest(self, tokens: Tokens) -> str:
        """The most probable language of a line."""
        if len(self.models) == 1:
            return next(iter(self.models))
        return max(self.models, key=lambda name: self.models[name].log_probability(tokens))

    def of_texts(self, texts: Iterable[Tokens]) -> str:
        """The most probable language of many lines together."""
        lines = list(texts)
        return max(self.models, key=lambda name: sum(map(self.models[name].log_probability, lines)))

    def near(self, tokens: Tokens) -> list[NGrams]:
        """The models of languages that are plausible for a line, given a draft of its text."""
        if len(self.models) <= 1:
            return list(self.models.values())
        likely = {name: ngrams.log_probability(tokens) for name, ngrams in self.models.items()}
        least = max(likely.values()) - NEAR
        return [self.models[name] for name, value in likely.items() if value >= least]

    def surprises(self, tokens: Tokens) -> list[float]:
        """The negative log-probability of each token of a line given its predecessors, in the line's language."""
        return self.models[self.likeliest(tokens)].surprises(tokens)

    def only(self, names: Sequence[str]) -> Self:
        """Some of the languages.

        Raises:
            ConfigError: if one of them is unknown.
        """
        return type(self)({name: named("language", name, self.models) for name in names})

    def with_model(self, name: str, ngrams: NGrams) -> Self:
        """Add or replace one language; n-grams of no particular language are dropped."""
        return type(self)({**{known: one for known, one in self.models.items() if known != ONLY}, name: ngrams})

    @cached_property
    def hashes(self) -> list[str]:
        """SHA-256 of the models with their names."""
        return [sha256(f"{name} {self.models[name].hash}".encode()).hexdigest() for name in sorted(self.models)]

    def facts(self) -> dict[str, dict[str, int]]:
        """The metadata of each model that `of_packed` needs."""
        return {name: ngrams.facts for name, ngrams in self.models.items()}

    def packed(self) -> Iterator[tuple[str, NDArray[np.uint8]]]:
        """Each model, compressed."""
        for name, ngrams in self.models.items():
            yield name, ngrams.packed

    @classmethod
    def of_packed(cls, size: int, facts: Mapping[str, Mapping[str, int]], packed: Mapping[str, Any]) -> Self:
        """Unpack the models of an untrusted file.

        Raises:
            CheckpointError: if they are invalid.
        """
        if not isinstance(facts, Mapping) or len(facts) > MAX_LANGUAGES or not all(map(NAME.fullmatch, facts)):
            raise CheckpointError(f"its languages have invalid names, or are more than {MAX_LANGUAGES}")
        return cls({name: NGrams.of_packed(size, own, packed.get(name)) for name, own in facts.items()})


NO_LANGUAGE = Languages()
"""The languages of a model without n-grams."""
