"""The default `SupportFit`, for models without one of their own.

Fitted on 878 validation lines of 22 collections (`lines` on 315 of 21) by `drethtr bench fit-check MODEL DATA --limit
40`. Seven collections were held out from the training of the network; fits with the shipped one are no better.
"""

from drethtr.recognition.logistic import Logistic
from drethtr.recognition.support.fit import SupportFit

DEFAULT_FIT = SupportFit(
    words=Logistic(
        5.395,
        (
            -0.1987,
            -0.1509,
            -1.22,
            -0.1174,
            0.0196,
            0.1686,
            0.88,
            0.3451,
            -0.1798,
            -0.1037,
            -0.1591,
            1.363,
            -0.08744,
            1.733,
            -0.01798,
            -0.04723,
            -0.2445,
            -0.031,
            -0.03333,
            -0.01311,
            0.88,
            0.1526,
            -0.02718,
            -0.02524,
            -0.04466,
            0.9644,
            -0.02644,
            -1.157,
        ),
    ),
    gaps=Logistic(
        8.26,
        (
            -1.428,
            -1.438,
            -0.9098,
            -0.3386,
            -0.4769,
            -0.5146,
            0.1315,
            -0.2134,
            -0.2856,
            0.1764,
            0.5433,
            0.06553,
            -0.0569,
            -0.07205,
            -0.02226,
            -0.3428,
        ),
    ),
    lines=Logistic(0.4146, (0.8346, 0.5047)),
)

OVERLOOKED = {
    "another word": 0.05,
    "a similar word": 0.17,
    "one letter": 0.30,
    "one digit": 0.40,
    "another spelling": 0.43,
    "another name": 0.06,
    "an inserted word": 0.04,
    "an omitted word": 0.04,
}
"""The share of errors of each kind that the check misses, on held-out collections."""
