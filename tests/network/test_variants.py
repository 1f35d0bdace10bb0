"""How a config finds its torch class."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from drethtr.network.variants import Variants

PLUGGED = """
import sys
from drethtr.network.mixer import MIXERS
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.model.decay import LayerPosition

assert "drethtr.paper.network" not in sys.modules
print(type(MIXERS.build(JointSoftmax(), LayerPosition(0, 2, 2), 16)).__name__)
"""


@dataclass(frozen=True)
class Round:
    size: int


@dataclass(frozen=True)
class Square(Round):
    pass


def test_a_class_is_made_from_its_config_and_its_place():
    shapes = Variants[tuple[int, str]]("shape")

    @shapes.computes(Round)
    def circle(config, place):
        return config.size, place

    assert shapes.build(Round(3), "here") == circle(Round(3), "here") == (3, "here")


def test_a_config_that_nothing_computes_is_named():
    """A subclass is another kind: it may mean something else than its base."""
    shapes = Variants[object]("shape")
    shapes.computes(Round)(object)
    with pytest.raises(TypeError, match=r"no torch class computes the shape Square\(size=2\)"):
        shapes.build(Square(2))


def test_classes_of_plug_ins_are_imported_when_they_are_needed():
    run = subprocess.run([sys.executable, "-c", PLUGGED], capture_output=True, text=True, check=True)
    assert run.stdout == "JointSoftmaxMixer\n"
