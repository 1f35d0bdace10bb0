"""Turn evidence into probabilities: small logistic models, fitted on correct and corrupted texts of several sets."""

from dataclasses import dataclass

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.proofreading.evidence import GAP_FEATURES, WORD_FEATURES, TextEvidence
from drethtr.recognition.confidence.logistic import Logistic, log_odds
from drethtr.recognition.confidence.record import SupportWeights
from drethtr.recognition.model.file import Model

WRONG_WORDS, WRONG_LINES = 0.05, 0.1
"""Assumed shares of wrong words and gaps, and of wrong lines."""

LINE_FEATURES = 2


@dataclass(frozen=True)
class SupportFit:
    """Logistic models for the evidence for a text.

    weights.words  a word is supported; from its evidence and its squares
    weights.gaps   nothing is missing in a gap; likewise
    weights.lines  all of a line is correct; from `line_features`
    """

    weights: SupportWeights

    def __post_init__(self) -> None:
        models = self.weights.words, self.weights.gaps, self.weights.lines
        weighed, wanted = [len(model.weights) for model in models], [2 * WORD_FEATURES, 2 * GAP_FEATURES, LINE_FEATURES]
        if weighed != wanted:
            raise ConfigError(f"support weights must cover {wanted} features of words, gaps and lines, not {weighed}")

    def of_words(self, evidence: TextEvidence) -> Floats:
        """The probability that the ink supports each word, (W,)."""
        return self.weights.words(with_squares(evidence.words))

    def of_gaps(self, evidence: TextEvidence) -> Floats:
        """The probability that nothing is missing in each gap, (W + 1,)."""
        return self.weights.gaps(with_squares(evidence.gaps))

    def of_line(self, evidence: TextEvidence) -> float:
        """The probability that the text is correct and complete."""
        features = line_features(self.of_words(evidence), self.of_gaps(evidence))
        return float(self.weights.lines(features[None])[0])


def with_squares(features: Floats) -> Floats:
    """Features (N, F) and their squares, (N, 2 F): strong evidence may count more than in proportion.

    Recall on collections never seen: 0.77 without, 0.80 with them (LOG.md, 2026-11-24, night). Products of all pairs, a
    small network, and evidence averaged over three widths of the line do no better; n-grams, as evidence, would trust
    the plausible errors of language models (LOG.md, 2026-11-25, night).
    """
    return np.column_stack([features, features**2])


def line_features(words: Floats, gaps: Floats) -> Floats:
    """Features of a line from the probabilities of its words and gaps, (LINE_FEATURES,).

    Log-odds of the least likely one, and the number of words: among many correct words, one often looks unlikely. No
    other feature helped (LOG.md, 2026-11-25, evening).
    """
    worst = log_odds(np.concatenate([words, gaps]).min(keepdims=True))
    return np.array([float(worst[0]), np.log1p(len(words))])


# fmt: off
DEFAULT_FIT = SupportFit(SupportWeights(
    words=Logistic(5.395, (
        -0.1987, -0.1509, -1.22, -0.1174, 0.0196, 0.1686, 0.88,
        0.3451, -0.1798, -0.1037, -0.1591, 1.363, -0.08744, 1.733,
        -0.01798, -0.04723, -0.2445, -0.031, -0.03333, -0.01311, 0.88,
        0.1526, -0.02718, -0.02524, -0.04466, 0.9644, -0.02644, -1.157,
    )),
    gaps=Logistic(8.26, (
        -1.428, -1.438, -0.9098, -0.3386, -0.4769, -0.5146, 0.1315,
        -0.2134, -0.2856, 0.1764, 0.5433, 0.06553, -0.0569, -0.07205,
        -0.02226, -0.3428,
    )),
    lines=Logistic(0.4146, (0.8346, 0.5047)),
))
# fmt: on
"""For models without a fit of their own.

Fitted on 878 validation lines of 22 collections (`lines` on 315 of 21) by `drethtr bench fit-check MODEL DATA --limit
40`. Seven collections were held out from the training of the network; fits with the shipped one are no better.
"""

OVERLOOKED = {
    "another word": 0.04,
    "a similar word": 0.15,
    "one letter": 0.22,
    "one digit": 0.36,
    "another spelling": 0.31,
    "another name": 0.01,
    "an inserted word": 0.02,
    "an omitted word": 0.03,
}
"""The share of errors of each kind that the check misses, on seven collections that the network was not trained on."""


def fit_of(model: Model) -> SupportFit:
    """The fit of a model, or the default.

    Raises:
        CheckpointError: if the model's fit is of another kind of evidence.
    """
    stored = model.record.support
    try:
        return DEFAULT_FIT if stored is None else SupportFit(stored)
    except ConfigError as error:
        raise CheckpointError(
            f"model {model.identity}: {error}; fit the support weights again with drethtr bench fit-check"
        ) from error
