from functools import partial

import pytest
import torch
from hungry import dying, fill, filling

from drethtr.base.errors import ConfigError
from drethtr.paper.speed.race import (
    MEGABYTE,
    Contender,
    PeakMemory,
    Race,
    Rounds,
    Spread,
    can_measure,
    memory_race,
    time_race,
)

CPU = torch.device("cpu")
RACE = Race("work", "s", {"ours": (1.0, 2.0, 4.0), "theirs": (3.0, 4.0, 10.0)})


def test_spread_is_median_and_range():
    assert Spread.of([5, 1, 3, 9]) == (4, 1, 9)
    assert Spread.of([2]) == (2, 2, 2)


def test_ratio_is_taken_round_by_round():
    """Not of the medians: what slowed a round down slowed both."""
    assert RACE.ratio("theirs") == (2.5, 2.0, 3.0)
    assert RACE.ratio("ours") == (1, 1, 1)


@pytest.mark.parametrize(("rounds", "number"), [(Rounds(2, 5, 0.0), 2), (Rounds(2, 5, 1e9), 5), (Rounds(3, 3), 3)])
def test_rounds_continue_while_there_is_time(rounds, number):
    assert list(rounds) == list(range(number))


def test_contenders_take_turns_after_a_warm_up():
    done = []
    contenders = [Contender(name, partial(partial, done.append, name)) for name in "abc"]
    race = time_race("work", contenders, Rounds(4, 4), CPU)
    assert "".join(done) == "abc" + "abc" + "bca" + "cab" + "abc"
    assert list(race.figures) == ["a", "b", "c"] and {len(found) for found in race.figures.values()} == {4}


def test_all_are_ready_before_any_runs():
    happened = []

    def prepare(name):
        happened.append(f"{name} ready")
        return partial(happened.append, f"{name} runs")

    time_race("work", [Contender(name, partial(prepare, name)) for name in "ab"], Rounds(1, 1), CPU)
    assert happened == ["a ready", "b ready", "a runs", "b runs", "a runs", "b runs"]


def test_figures_are_per_unit_of_work():
    slow = Contender("slow", lambda: partial(torch.linalg.inv, torch.eye(200)))
    whole, part = (time_race("work", [slow], Rounds(5, 5), CPU, per=per).spread("slow").low for per in (1.0, 1e6))
    assert 0 < part < whole


measurable = pytest.mark.skipif(not can_measure(CPU), reason="this system does not tell the peak memory of a CPU")


@measurable
def test_peak_memory_excludes_what_was_allocated_before():
    contenders = [
        Contender("thrice beside others", partial(filling, 60, times=3, held=200)),
        Contender("once", partial(filling, 60)),
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
