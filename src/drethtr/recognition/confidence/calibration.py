"""Calibration: turn the network's scores into probabilities of being correct.

Two small logistic models, fitted on validation lines for each decoder: one for characters, one for words, which are
less certain than each of their characters and depend on the spaces around them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.logistic import Logistic, log_odds
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.protocol import Precision
from drethtr.recognition.reading import Character, Evidence, Reading, word_places

CHARACTER_FEATURES, WORD_FEATURES = 6, 6
"""Chosen on collections that the network had never seen: with the surprise of words, ECE fell from 4.9 to 1.8 %, with
the entropy and agreement of the line to 1.1 %; n-best lists, products and squares gain nothing (LOG.md, 2026-11-24,
night, and 2026-11-25, night)."""

PRECISIONS = tuple({precision.calibrated_as.value: None for precision in Precision})
"""Precisions that are calibrated separately."""

MAX_MARGIN = 10.0
"""Margins are clipped here: a character e^10 times likelier than the next is practically certain."""

MAX_SURPRISE = 8.0
"""Surprises are clipped here, in nats: half of what an unseen n-gram costs, so that a single one does not decide."""


@dataclass(frozen=True)
class Calibration:
    """The calibration of `strategies` that find the same text.

    `characters` weighs `character_features`, `words` weighs `word_features`. `precision` is that of the network:
    confidences in int8 differ, those in float32 and bfloat16 are alike.
    """

    strategies: tuple[Strategy, ...]
    characters: Logistic
    words: Logistic
    precision: str = Precision.FLOAT32.value

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ConfigError(f"unknown precision {self.precision!r} of a calibration; known: {', '.join(PRECISIONS)}")
        for name, model, features in (
            ("characters", self.characters, CHARACTER_FEATURES),
            ("words", self.words, WORD_FEATURES),
        ):
            if len(model.weights) != features:
                raise ConfigError(f"{name} must have {features} weights, not {len(model.weights)}")

    def __call__(self, reading: Reading) -> Reading:
        """The reading with calibrated confidences."""
        if not reading.characters:
            return replace(reading, word_confidences=())
        # Characters first: the features of words are computed from calibrated characters.
        characters = calibrated_characters(reading.characters, self.characters)
        confidence = sum(character.confidence for character in characters) / len(characters)
        words = tuple(self.words(word_features(characters)).tolist())
        return replace(reading, characters=characters, confidence=confidence, word_confidences=words)


def calibrated_characters(characters: Sequence[Character], model: Logistic) -> tuple[Character, ...]:
    """The characters, with confidences from their evidence."""
    sure = model(character_features(characters)).tolist()
    return tuple(replace(character, confidence=p) for character, p in zip(characters, sure, strict=True))


def evidence_of(character: Character) -> Evidence:
    """The evidence of a character; only its confidence if none was gathered."""
    return character.evidence or Evidence(character.confidence)


def character_features(characters: Sequence[Character]) -> Floats:
    """The features of each character of a line, (N, CHARACTER_FEATURES).

    Own log-odds, margin, agreement and entropy; then, the same for all characters of a line, how badly the network
    reads it: logarithm of the mean entropy, and share of characters that agree.
    """
    evidence = list(map(evidence_of, characters))
    agrees = np.array([float(known.agrees) for known in evidence])
    entropy = np.array([known.entropy for known in evidence])
    of_line = np.log(entropy.mean() + 0.01), agrees.mean()  # finite without entropy
    return np.column_stack(
        [
            log_odds(np.array([known.own for known in evidence])),
            np.clip([known.margin for known in evidence], -MAX_MARGIN, MAX_MARGIN),
            agrees,
            entropy,
            np.tile(of_line, (len(evidence), 1)),
        ]
    )


def word_features(characters: tuple[Character, ...]) -> Floats:
    """The features of each word of a line whose characters are calibrated, (words, WORD_FEATURES).

    Log-odds of the least certain character, log-probability that all characters and the spaces around them are right,
    logarithm of the length, entropy, and mean surprise, including the space after the word.
    """
    places = np.array(word_places(characters), dtype=np.int64).reshape(-1, 2)
    if not len(places):
        return np.empty((0, WORD_FEATURES))
    first, last = places.T
    # With the white space on both sides: a wrong space makes two words wrong.
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, len(characters))
    evidence = list(map(evidence_of, characters))
    sure = np.array([character.confidence for character in characters])
    # Clipped, since one character that is certainly wrong would give its word minus infinity.
    likely = sums(np.log(np.clip(sure, 1e-4, 1)))
    entropy = sums(np.array([known.entropy for known in evidence]))
    lost = sums(np.minimum([known.surprise for known in evidence], MAX_SURPRISE))
    return np.column_stack(
        [
            log_odds(np.array([sure[a:b].min() for a, b in places])),
            likely[last] - likely[first],
            likely[first] - likely[before] + likely[after] - likely[last],
            np.log(last - first),
            entropy[last] - entropy[first],
            (lost[after] - lost[first]) / (after - first),
        ]
    )


def sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, … N of N values, (N + 1,)."""
    return np.concatenate([[0.0], values.cumsum()])
