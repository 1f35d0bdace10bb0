"""Probabilities from evidence: small logistic models, fitted on right and corrupted texts of several collections."""

from dataclasses import dataclass

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.logistic import Floats, Logistic, log_odds
from drethtr.recognition.support.evidence import GAP_FEATURES, WORD_FEATURES, TextEvidence

WRONG_WORDS, WRONG_LINES = 0.05, 0.1
"""The shares of words and gaps, and of lines, that probabilities assume to be wrong."""

LINE_FEATURES = 2


@dataclass(frozen=True)
class SupportFit:
    """What evidence for a text is worth.

    words  weighs the evidence that a word is supported, and its squares
    gaps   that nothing is missing in a gap, likewise
    lines  that all of a line is right, by `line_features`
    """

    words: Logistic
    gaps: Logistic
    lines: Logistic

    def __post_init__(self) -> None:
        weighed = tuple(len(model.weights) for model in (self.words, self.gaps, self.lines))
        wanted = 2 * WORD_FEATURES, 2 * GAP_FEATURES, LINE_FEATURES
        if weighed != wanted:
            raise ConfigError(f"a fit weighs {wanted} features of words, gaps and lines, not {weighed}")

    def of_words(self, evidence: TextEvidence) -> Floats:
        """The probability of each word that the ink supports it, (W,)."""
        return self.words(with_squares(evidence.words))

    def of_gaps(self, evidence: TextEvidence) -> Floats:
        """The probability of each gap that nothing is missing there, (W + 1,)."""
        return self.gaps(with_squares(evidence.gaps))

    def of_line(self, evidence: TextEvidence) -> float:
        """The probability that the text is right and complete."""
        features = line_features(self.of_words(evidence), self.of_gaps(evidence))
        return float(self.lines(features[None])[0])


def with_squares(features: Floats) -> Floats:
    """Features (N, F) beside their squares, (N, 2 F): evidence counts for more the stronger it is."""
    return np.column_stack([features, features**2])


def line_features(words: Floats, gaps: Floats) -> Floats:
    """What decides about a line whose words and gaps have these probabilities, (LINE_FEATURES,).

    Log-odds of the least likely of them, and how many words there are: of many right words, one is often unlikely.
    """
    worst = log_odds(np.concatenate([words, gaps]).min(keepdims=True))
    return np.array([float(worst[0]), np.log1p(len(words))])
