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

CHARACTER_FEATURES, WORD_FEATURES = 12, 8
"""Chosen on collections left out of the fit: neighbors, squares and the surprise of the next characters raise the AUROC
of characters from 0.873 to 0.898; the unlikeness of the line to training lines, n-best lists and the rescorer gain
nothing (LOG.md, 2026-11-24, night, 2026-11-25, night, and 2026-11-30, night)."""

EARLIER_FEATURES = 6
"""Models calibrated by version 0.2.0 or before have weights for the first six features of each."""

PRECISIONS = tuple({precision.calibrated_as.value: None for precision in Precision})
"""Precisions that are calibrated separately."""

MAX_MARGIN = 10.0
"""Margins are clipped here: a character e^10 times likelier than the next is practically certain."""

MAX_SURPRISE = 8.0
"""Surprises are clipped here, in nats: half of what an unseen n-gram costs, so that a single one does not decide."""

AHEAD = 3
"""Characters after a wrong one that surprise, too, as their n-grams contain it: 2 and 4 tell about as much."""

NEARBY = 3
"""Neighbors on each side whose log-odds count: errors come together. Of 1, 2, 5 and 8, none tells more."""


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
            if len(model.weights) not in (EARLIER_FEATURES, features):
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

    Own log-odds, margin, agreement, entropy; how badly the network reads the line: logarithm of the mean entropy, and
    share of characters that agree; mean surprise of the character and the next ones; squares of log-odds, margin and
    this surprise; mean log-odds of the characters around it, and of the line.
    """
    evidence = list(map(evidence_of, characters))
    odds = own_log_odds(characters)
    margin = np.clip([known.margin for known in evidence], -MAX_MARGIN, MAX_MARGIN)
    agrees = np.array([float(known.agrees) for known in evidence])
    entropy = np.array([known.entropy for known in evidence])
    surprise = window_means(surprises(characters), 0, AHEAD)
    line = np.ones(len(evidence))
    return np.column_stack(
        [
            *(odds, margin, agrees, entropy),
            *(line * np.log(entropy.mean() + 0.01), line * agrees.mean()),  # finite without entropy
            *(surprise, odds**2, margin**2, surprise**2),
            *(window_means(odds, NEARBY, NEARBY), line * odds.mean()),
        ]
    )


def own_log_odds(characters: Sequence[Character]) -> Floats:
    """The decoder's log-odds of each character, (N,)."""
    return log_odds(np.array([evidence_of(character).own for character in characters]))


def surprises(characters: Sequence[Character]) -> Floats:
    """The surprise of each character, clipped, (N,)."""
    return np.minimum([evidence_of(character).surprise for character in characters], MAX_SURPRISE)


def window_means(values: Floats, before: int, after: int) -> Floats:
    """The mean of each of N values and so many before and after it, as far as there are, (N,)."""
    places, total = np.arange(len(values)), sums(values)
    first, last = np.maximum(places - before, 0), np.minimum(places + after + 1, len(values))
    means: Floats = (total[last] - total[first]) / (last - first)
    return means


def word_features(characters: tuple[Character, ...]) -> Floats:
    """The features of each word of a line whose characters are calibrated, (words, WORD_FEATURES).

    Log-odds of the least certain character, log-probability that all characters and the spaces around them are right,
    logarithm of the length, entropy, and mean surprise, including the space after the word; log-odds of the mean
    confidence of its characters, and the line's mean log-odds of characters before calibration.
    """
    places = np.array(word_places(characters), dtype=np.int64).reshape(-1, 2)
    if not len(places):
        return np.empty((0, WORD_FEATURES))
    first, last = places.T
    # With the white space on both sides: a wrong space makes two words wrong.
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, len(characters))
    sure = np.array([character.confidence for character in characters])
    # Clipped, since one character that is certainly wrong would give its word minus infinity.
    likely = sums(np.log(np.clip(sure, 1e-4, 1)))
    entropy = sums(np.array([evidence_of(character).entropy for character in characters]))
    lost, total = sums(surprises(characters)), sums(sure)
    return np.column_stack(
        [
            log_odds(np.array([sure[a:b].min() for a, b in places])),
            likely[last] - likely[first],
            likely[first] - likely[before] + likely[after] - likely[last],
            np.log(last - first),
            entropy[last] - entropy[first],
            (lost[after] - lost[first]) / (after - first),
            log_odds((total[last] - total[first]) / (last - first)),
            np.full(len(places), own_log_odds(characters).mean()),
        ]
    )


def sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, … N of N values, (N + 1,)."""
    return np.concatenate([[0.0], values.cumsum()])
