"""Confidences as probabilities to be right, from what the network thinks of its own text.

Two small logistic models, fitted on validation lines for each decoder: one for characters, one for words, which are
less sure than their characters one by one and depend on the spaces around them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.logistic import Floats, Logistic, log_odds
from drethtr.recognition.reading import Character, Evidence, Reading, word_places
from drethtr.recognition.search.strategies import Strategy

CHARACTER_FEATURES, WORD_FEATURES = 3, 5

FLOAT, INT8 = "float32", "int8"
"""Precisions that are calibrated apart."""

LARGEST_MARGIN = 10.0
"""A network that is e^10 times surer of one character than of another could as well say: certain."""


@dataclass(frozen=True)
class Calibration:
    """For `strategies` that find the same text; `characters` weighs `character_features`, `words` `word_features`.

    `precision` is that of the network: confidences in int8 differ, those in float32 and bfloat16 are alike.
    """

    strategies: tuple[Strategy, ...]
    characters: Logistic
    words: Logistic
    precision: str = FLOAT

    def __post_init__(self) -> None:
        if self.precision not in (FLOAT, INT8):
            raise ConfigError(f"unknown precision {self.precision!r} of a calibration; known: {FLOAT}, {INT8}")
        features = len(self.characters.weights), len(self.words.weights)
        if features != (CHARACTER_FEATURES, WORD_FEATURES):
            raise ConfigError(f"a calibration weighs {CHARACTER_FEATURES} and {WORD_FEATURES} features, not {features}")

    def __call__(self, reading: Reading) -> Reading:
        """The same reading with calibrated confidences."""
        if not reading.characters:
            return replace(reading, word_confidences=())
        characters = weighed(reading.characters, self.characters)
        confidence = sum(character.confidence for character in characters) / len(characters)
        words = tuple(self.words(word_features(characters)).tolist())
        return replace(reading, characters=characters, confidence=confidence, word_confidences=words)


def weighed(characters: Sequence[Character], weights: Logistic) -> tuple[Character, ...]:
    """The characters, as sure as their evidence is weighed."""
    sure = weights(character_features(characters)).tolist()
    return tuple(replace(character, confidence=p) for character, p in zip(characters, sure, strict=True))


def evidence_of(character: Character) -> Evidence:
    """What is known of a character; its confidence alone if nothing was gathered."""
    return character.evidence or Evidence(character.confidence)


def character_features(characters: Sequence[Character]) -> Floats:
    """Own log-odds, margin and agreement of each character, (N, CHARACTER_FEATURES)."""
    evidence = [evidence_of(character) for character in characters]
    return np.column_stack(
        [
            log_odds(np.array([known.own for known in evidence])),
            np.clip([known.margin for known in evidence], -LARGEST_MARGIN, LARGEST_MARGIN),
            [float(known.agrees) for known in evidence],
        ]
    )


def word_features(characters: tuple[Character, ...]) -> Floats:
    """What decides about each word of a line whose characters are calibrated, (words, WORD_FEATURES).

    Log-odds of the least sure character, log-probability that all are right and that the spaces around are, logarithm
    of the length, and entropy.
    """
    sure = np.array([character.confidence for character in characters])
    likely = np.log(np.clip(sure, 1e-4, 1))
    entropy = np.array([evidence_of(character).entropy for character in characters])
    rows = [
        (
            log_odds(sure[first:last].min()),
            likely[first:last].sum(),
            likely[max(first - 1, 0) : first].sum() + likely[last : last + 1].sum(),
            np.log(last - first),
            entropy[first:last].sum(),
        )
        for first, last in word_places(characters)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), WORD_FEATURES)
