from typing import cast

import numpy as np
import pytest
from conftest import written

from drethtr import Recognizer
from drethtr.bench.host import Replayed, measure
from drethtr.recognition.decoding.strategies import CTC, Beam, Joint
from drethtr.recognition.protocol import Network

LINES = [written(text) for text in ("abc", "a cab and a longer line", "fed a bad face")]


@pytest.mark.parametrize("strategy", [CTC(), Joint(), Beam(beams=2)], ids=repr)
def test_a_replayed_network_gives_the_same_readings(strategy, tiny_model):
    recognizer = Recognizer(tiny_model, strategy, threads=1)
    expected = recognizer.read_lines(LINES)
    network = Replayed(recognizer.network)
    reader = Recognizer(tiny_model, strategy, network=cast("Network", network), threads=1)
    assert reader.read_lines(LINES) == expected
    network.rewind()
    assert reader.read_lines(LINES) == expected


def test_nothing_is_computed_again(tiny_model):
    """Other lines of the same widths get the readings of the first."""
    recognizer = Recognizer(tiny_model, CTC(), threads=1)
    network = Replayed(recognizer.network)
    reader = Recognizer(tiny_model, CTC(), network=cast("Network", network), threads=1)
    first = reader.read_lines(LINES)
    network.rewind()
    others = reader.read_lines([np.ascontiguousarray(line[:, ::-1]) for line in LINES])
    assert [reading.text for reading in others] == [reading.text for reading in first]


def test_time_outside_the_network_is_measured(tiny_model):
    assert measure(Recognizer(tiny_model, CTC(), threads=1), LINES, rounds=2) > 0
