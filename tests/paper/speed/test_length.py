from dataclasses import replace

import torch
from conftest import TINY

from drethtr.network.network import DRetHTR
from drethtr.paper.speed.decoding import Task
from drethtr.paper.speed.length import kept, measure
from drethtr.paper.speed.race import QUICK

TASK = Task(name="tiny", config=replace(TINY, ctc=None), batch=1, beams=2, pixels=300)
NUMBERS = 4 * TINY.layers * TASK.beams * TINY.width  # bytes of a number for every layer, beam and channel


def test_what_is_kept_follows_the_formulas():
    """Retention K numbers per channel, its mass apart; a cache 2N."""
    report = measure(TASK, (40, 20), QUICK)
    assert [race.at for race in report.races] == [20.0] * 3 + [40.0] * 3
    assert len({race.unit for race in report.races}) == 3
    sizes = [race.figures for race in report.races if race.unit == "MB of state"]
    for figures, tokens in zip(sizes, (20, 40), strict=True):
        assert figures["key-value cache"] == (2 * tokens * NUMBERS / 1e6,)
        mass = 4 * TINY.layers * TASK.beams * TINY.heads
        assert figures["retention"] == ((TINY.width // TINY.heads * NUMBERS + mass) / 1e6,)


def test_the_notes_say_how_far_behind_n_is_timed(monkeypatch):
    steps, decode_text = [], DRetHTR.decode_text
    monkeypatch.setattr(
        DRetHTR, "decode_text", lambda net, *given: steps.append(given[2].length) or decode_text(net, *given)
    )
    report = measure(TASK, (20,), QUICK)
    assert max(steps) + 1 == 20 + 12 and "tokens up to 12 beyond N" in report.notes[0]


def test_kept_counts_tensors_only():
    assert kept((3, (torch.zeros(2, 5), None), torch.zeros(4, dtype=torch.int64))) == 40 + 32
