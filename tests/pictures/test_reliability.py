import numpy as np

from drethtr.evaluation.confidence import measure_trust
from drethtr.pictures.reliability import BAR, SIDE, reliability_chart
from drethtr.recognition.reading import Character, Reading


def test_bars_are_as_high_as_the_share_that_is_right():
    """Half of what is said to be 75 % sure is right."""
    characters = tuple(Character(c, 0.75, i, i + 1) for i, c in enumerate("abcdef"))
    trust = measure_trust(["abcxyz"], [Reading("abcdef", 0.75, characters)]).to_json()
    picture = np.asarray(reliability_chart(trust).to_image())
    bar = np.flatnonzero((picture[:, : SIDE + 90] == BAR).all(-1).any(1))
    assert abs(len(bar) - SIDE / 2) <= 3


def test_where_nothing_was_read_there_are_no_bars():
    picture = np.asarray(reliability_chart(measure_trust(["abc"], [Reading("", 0.0, ())]).to_json()).to_image())
    assert not (picture == BAR).all(-1).any()
