"""Turn evidence into probabilities: small logistic models, fitted on correct and corrupted texts of several sets."""

from dataclasses import dataclass

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.recognition.logistic import Floats, Logistic, log_odds
from drethtr.recognition.support.evidence import GAP_FEATURES, WORD_FEATURES, TextEvidence

WRONG_WORDS, WRONG_LINES = 0.05, 0.1
"""Assumed shares of wrong words and gaps, and of wrong lines."""

LINE_FEATURES = 2


@dataclass(frozen=True)
class SupportFit:
    """Logistic models for the evidence for a text.

    words  a word is supported; from its evidence and its squares
    gaps   nothing is missing in a gap; likewise
    lines  all of a line is correct; from `line_features`
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
        """The probability that the ink supports each word, (W,)."""
        return self.words(with_squares(evidence.words))

    def of_gaps(self, evidence: TextEvidence) -> Floats:
        """The probability that nothing is missing in each gap, (W + 1,)."""
        return self.gaps(with_squares(evidence.gaps))

    def of_line(self, evidence: TextEvidence) -> float:
        """The probability that the text is correct and complete."""
        features = line_features(self.of_words(evidence), self.of_gaps(evidence))
        return float(self.lines(features[None])[0])


def with_squares(features: Floats) -> Floats:
    """Features (N, F) and their squares, (N, 2 F): strong evidence counts for more than its share."""
    return np.column_stack([features, features**2])


def line_features(words: Floats, gaps: Floats) -> Floats:
    """Features of a line from the probabilities of its words and gaps, (LINE_FEATURES,).

    Log-odds of the least likely one, and the number of words: of many correct words, one often looks unlikely.
    """
    worst = log_odds(np.concatenate([words, gaps]).min(keepdims=True))
    return np.array([float(worst[0]), np.log1p(len(words))])
