from types import SimpleNamespace

import pytest

from drethtr.evaluation.metrics import Counts
from drethtr.training.finetuning.effect import facts, learning_curve
from drethtr.training.finetuning.plan import Plan

LINES, CHARACTERS = 200, 40
PAGES = [f"page {line % 20}" for line in range(LINES)]


def counts(cer):
    """Errors of this rate, some lines having more than others."""
    return [
        Counts(edits=round(cer * CHARACTERS) + (line % 3 - 1), characters=CHARACTERS) for line in range(1, LINES + 1)
    ]


def test_a_power_law_is_drawn_on():
    curve = learning_curve([100, 200, 400], [counts(0.4), counts(0.2), counts(0.1)], PAGES)
    assert curve.cers == pytest.approx((0.4, 0.2, 0.1), abs=1e-3)
    assert curve.gain == pytest.approx(0.05, abs=1e-3)
    assert curve.low <= curve.gain <= curve.high and curve.high - curve.low < 0.01


def test_points_off_the_law_widen_the_interval():
    law = learning_curve([100, 200, 400], [counts(0.4), counts(0.2), counts(0.1)], PAGES)
    off = learning_curve([100, 200, 400], [counts(0.3), counts(0.3), counts(0.1)], PAGES)
    assert off.high - off.low > 3 * (law.high - law.low)


def test_no_gain_where_more_lines_brought_none():
    curve = learning_curve([25, 50, 100], [counts(0.1)] * 3, PAGES)
    assert curve.gain == pytest.approx(0, abs=1e-6) and curve.low <= 0 <= curve.high


def test_a_reader_without_errors_has_nothing_to_gain():
    perfect = [Counts(edits=0, characters=CHARACTERS)] * LINES
    assert learning_curve([25, 50, 100], [perfect] * 3, PAGES).gain == pytest.approx(0, abs=1e-6)


def test_few_pages_have_no_interval():
    """It came from ten possible draws of three pages, and was told as if it said something."""
    few = [f"page {line % 3}" for line in range(LINES)]
    for pages, sure in ((PAGES, True), (few, False), (["one"] * LINES, False), ([""] * LINES, True)):
        assert learning_curve([100, 200, 400], [counts(0.4), counts(0.2), counts(0.1)], pages).sure == sure


def test_a_card_tells_no_password_of_old_data():
    plan = Plan(data=("mine",), old_data=("https://ann:secret@example.org/old.parquet?sig=secret",))
    parts, alphabet = SimpleNamespace(train=(), by_page=True), SimpleNamespace(added={}, dropped="")
    trained = {"samples": 16, "part_of_change": 1.0, "hours": 0.1}
    told = facts(SimpleNamespace(plan=plan, parts=parts, alphabet=alphabet, learned=()), "start", trained, 4)
    assert "secret" not in str(told) and told["old_data"][0].startswith("https://example.org/old.parquet")
