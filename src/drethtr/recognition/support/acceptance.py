"""Choose the texts to accept without review, by their probabilities of being correct."""

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.logistic import Floats


def acceptable(probabilities: Floats, precision: float) -> NDArray[np.bool_]:
    """Which to accept, (N,): as many as possible at an expected `precision`."""
    order = np.argsort(-probabilities, kind="stable")
    enough = np.flatnonzero(probabilities[order].cumsum() >= precision * np.arange(1, len(order) + 1))
    accepted = np.zeros(len(order), dtype=np.bool_)
    accepted[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return accepted
