from dataclasses import replace

import pytest
import torch
from conftest import TINY

from drethtr.paper.speed.decoding import Task, contenders
from drethtr.paper.speed.memory import formulas, measure
from drethtr.paper.speed.peak import can_measure

TASK = Task(name="tiny", config=replace(TINY, ctc=None), batch=1, beams=2, characters=7, pixels=300)


@pytest.mark.skipif(not can_measure(torch.device("cpu")), reason="this system does not tell the peak memory of a CPU")
def test_every_contender_is_weighed_beside_the_formulas():
    [race] = measure([TASK]).races
    assert list(race.figures) == [contender.name for contender in contenders(TASK)] and race.unit == "MB"
    assert all(megabytes > 0 for [megabytes] in race.figures.values())
    assert race.facts == formulas(TASK)
