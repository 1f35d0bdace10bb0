from functools import partial

import pytest
import torch
from hungry import dying, fill, filling

from drethtr.base.errors import ConfigError
from drethtr.paper.speed.peak import MEGABYTE, PeakMemory, can_measure, memory_race
from drethtr.paper.speed.race import Contender

CPU = torch.device("cpu")
measurable = pytest.mark.skipif(not can_measure(CPU), reason="this system does not tell the peak memory of a CPU")


@measurable
def test_peak_memory_excludes_what_was_allocated_before():
    contenders = [
        Contender("once", partial(filling, 60)),
        Contender("thrice", partial(filling, 60, times=3)),
        Contender("beside others", partial(filling, 60, held=200)),
    ]
    race = memory_race("work", contenders, CPU, {"formula": 60.0})
    assert race.unit == "MB" and race.facts == {"formula": 60.0}
    for [taken] in race.figures.values():
        assert taken == pytest.approx(60, abs=12)


@measurable
def test_names_the_contender_that_did_not_survive():
    with pytest.raises(ConfigError, match=r"work: the greedy one was killed by the system.*smaller batch"):
        memory_race("work", [Contender("the greedy one", dying)], CPU, {})


@measurable
def test_peaks_before_do_not_count():
    fill(300)
    assert PeakMemory(CPU).taken() < 100 * MEGABYTE


def test_says_where_it_cannot_measure():
    with pytest.raises(ConfigError, match="peak memory of mps"):
        PeakMemory(torch.device("mps"))
