"""N-gram models of several languages: the language of each line, their weights in a search, and the user's choice."""

import lzma
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.config import named
from drethtr.base.encoding import decoded
from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.language.ngrams import NGrams, State, check_memory, log_probabilities
from drethtr.text.tokenizer import EOS, Tokenizer

Tokens = Sequence[int]

UNSPECIFIED = "all"
"""The name of n-grams of no particular language."""

MAX_LANGUAGES = 64
"""Maximum number of languages of a model."""

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
"""Valid names of languages: `en`, `fr`, `grc`, `latin-notes`."""

NEAR = 10.0
"""A language stays a candidate for a line if the log-probability of its draft is within this many nats of the best.

This reads as well as searching in all languages, with 1.2 searches per line; searching only in the likeliest language
of the draft is 0.15 points worse (LOG.md, 2026-11-25)."""


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

    def by_model(self, texts: Sequence[Tokens]) -> Floats:
        """The log-probability of each whole line in each language, (texts, languages); see `log_probabilities`."""
        return log_probabilities(tuple(self.models.values()), texts)

    def of_texts(self, texts: Iterable[Tokens]) -> str:
        """The most probable language of some lines together."""
        return tuple(self.models)[int(self.by_model(list(texts)).sum(0).argmax())]

    def near(self, tokens: Tokens) -> list[NGrams]:
        """The models of languages that are plausible for a line, given a draft of its text."""
        if len(self.models) <= 1:
            return list(self.models.values())
        [likely] = self.by_model([tokens])
        return [ngrams for ngrams, own in zip(self.models.values(), likely, strict=True) if own >= likely.max() - NEAR]

    def surprises(self, tokens: Tokens) -> list[float]:
        """The negative log-probability of each token of a line given its predecessors, in the line's language."""
        return self.models[self.of_texts([tokens])].surprises(tokens)

    def only(self, names: Sequence[str]) -> Self:
        """Some of the languages.

        Raises:
            ConfigError: if one of them is unknown.
        """
        return type(self)({name: named("language", name, self.models) for name in names})

    def check_name(self, name: str) -> None:
        """Refuse a name under which no n-grams can be added.

        Raises:
            ConfigError: if it is invalid, or stands for no particular language beside named ones.
        """
        if not NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is not a valid language name; use names such as en, grc or latin-notes")
        if name == UNSPECIFIED and self.models.keys() - {UNSPECIFIED}:
            raise ConfigError(
                f"{name!r} is for n-grams of no particular language, but this model has {', '.join(self.models)}; "
                "name a language"
            )

    def with_model(self, name: str, ngrams: NGrams) -> Self:
        """Add or replace one language; n-grams of no particular language are dropped."""
        # A general model beside named languages would take lines from them, which are then read worse (LOG.md,
        # 2026-11-25).
        return type(self)({**{known: one for known, one in self.models.items() if known != UNSPECIFIED}, name: ngrams})

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
        check_memory(size, facts.values())
        return cls({name: NGrams.of_packed(size, own, packed.get(name)) for name, own in facts.items()})


NO_LANGUAGE = Languages()
"""The languages of a model without n-grams."""

BONUS_PER_TOKEN = 2.0
"""A bonus per token, about the nats per character of running text, so that longer texts are not penalized (LOG.md,
2026-11-23, night)."""


@dataclass(frozen=True)
class WeightedNGrams:
    """An n-gram model with a weight. Scores are weight × (log-probability + `BONUS_PER_TOKEN`)."""

    ngrams: NGrams | None = None
    weight: float = 0.0

    @property
    def active(self) -> bool:
        """Whether it contributes to scores; without n-grams, all scores are 0 and all states empty."""
        return self.ngrams is not None and self.weight > 0

    @property
    def start(self) -> State:
        """The state at the beginning of a line."""
        return self.ngrams.start if self.ngrams is not None and self.active else ()

    @property
    def max_score(self) -> float:
        """The highest score, of a token of probability 1."""
        return self.weight * BONUS_PER_TOKEN if self.active else 0.0

    def score(self, state: State, token: int) -> float:
        """The score of a token, or of `EOS`, in a state."""
        if not state:
            return 0.0
        assert self.ngrams is not None
        gained = 0.0 if token == EOS else BONUS_PER_TOKEN
        return self.weight * (self.ngrams.next(state, token) + gained)

    def state_after(self, state: State, token: int) -> State:
        """The state after a token."""
        return self.ngrams.after(state, token) if state and self.ngrams is not None else ()


NO_LANGUAGE_MODEL = WeightedNGrams()
"""No language model."""


@dataclass(frozen=True)
class WeightedLanguages:
    """The models of several languages with a weight; a text is scored by that of its language."""

    languages: Languages = NO_LANGUAGE
    weight: float = 0.0

    @property
    def active(self) -> bool:
        """Whether they contribute to scores."""
        return bool(self.languages) and self.weight > 0

    def near(self, draft: Sequence[int]) -> list[WeightedNGrams]:
        """The models of the languages that a text may be in, given its draft; `NO_LANGUAGE_MODEL` if inactive."""
        if not self.active:
            return [NO_LANGUAGE_MODEL]
        return [WeightedNGrams(ngrams, self.weight) for ngrams in self.languages.near(draft)]

    def unweighted_scores(self, texts: Sequence[Tokens]) -> list[float]:
        """The scores of whole texts, most of them like the first one, without the weight; 0 if inactive."""
        if not self.active:
            return [0.0] * len(texts)
        best = self.languages.by_model(texts).max(1).tolist()
        return [score + BONUS_PER_TOKEN * len(text) for score, text in zip(best, texts, strict=True)]

    def score(self, tokens: Tokens) -> float:
        return self.weight * self.unweighted_scores([tokens])[0]


ALL_LANGUAGES = "auto"
"""All languages of a model; each line is read in its own."""

TEXTS = (".txt", ".txt.xz")
"""Extensions of text files."""

SHARE = 0.3
"""Interpolation weight of the user's own texts; 0.3 to 0.7 are within 0.15 nats per character (LOG.md, 2026-11-24)."""

MAX_BYTES = 16 << 20
"""Largest text file, uncompressed."""

MAX_MEMORY = 128 << 20
"""Memory limit in bytes for unpacking it, twice what `xz -9` needs; a file may demand 4 GB."""

MAX_STREAMS = 1000
"""Maximum streams in a packed file, since the rest of the file is copied for each."""


def choose_languages(languages: Languages, tokenizer: Tokenizer, names: str) -> Languages:
    """Select languages by comma-separated names; text files among them are interpolated into each language.

    Raises:
        ConfigError: if the model lacks a language, or has no n-grams at all.
        DataError: if a file cannot be used.
    """
    if not isinstance(names, str):
        raise ConfigError(f"language must be a string, such as 'fr' or 'en,de', not {names!r}")
    parts = [part.strip() for part in names.split(",") if part.strip()]
    files = [Path(part) for part in parts if part.lower().endswith(TEXTS)]
    wanted = [part for part in parts if not part.lower().endswith(TEXTS) and part != ALL_LANGUAGES]
    if not wanted and not files:
        return languages
    if not languages:
        raise ConfigError(f"this model has no n-grams for {names!r}; add them with drethtr model language")
    chosen = languages.only(wanted) if wanted else languages
    found = languages if ALL_LANGUAGES in parts else chosen
    if not files:
        return found
    from drethtr.language.learn import with_texts

    texts = [line for path in files for line in lines_of(path)]
    mixed: dict[str, NGrams] = {}
    for name, ngrams in found.models.items():
        try:
            mixed[name] = with_texts(ngrams, texts, SHARE, tokenizer)
        except DataError as error:
            raise DataError(f"{', '.join(map(str, files))}: {error}") from error
    return Languages(mixed)


def lines_of(path: Path) -> list[str]:
    """The non-empty lines of a text file.

    Raises:
        DataError: if it cannot be read, is too long or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if path.suffix.lower() == ".xz":
            content = unpacked(content)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    except (lzma.LZMAError, EOFError) as error:
        raise DataError(f"cannot be read: {error}; pack it again with xz -9 or less", path) from error
    if len(content) > MAX_BYTES:
        raise DataError(f"more than {MAX_BYTES >> 20} MB of text; add it with drethtr model language", path)
    return [line.strip() for line in decoded(content, path).splitlines() if line.strip()]


def unpacked(packed: bytes) -> bytes:
    """The first `MAX_BYTES` + 1 bytes in an .xz file, which may have several streams.

    Raises:
        LZMAError: if it is damaged, has more than `MAX_STREAMS`, or takes more than `MAX_MEMORY`.
        EOFError: if it is empty or incomplete.
    """
    if not packed:
        raise EOFError("it is empty")
    content, streams = b"", 0
    while packed and len(content) <= MAX_BYTES:
        streams += 1
        if streams > MAX_STREAMS:
            raise lzma.LZMAError(f"it has more than {MAX_STREAMS:,} streams")
        stream = lzma.LZMADecompressor(memlimit=MAX_MEMORY)
        content += stream.decompress(packed, MAX_BYTES + 1 - len(content))
        if not stream.eof and len(content) <= MAX_BYTES:
            raise EOFError("it ends too early")
        packed = stream.unused_data.lstrip(b"\0")  # streams may be padded
    return content
