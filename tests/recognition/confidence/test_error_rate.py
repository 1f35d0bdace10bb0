from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt, doubt_of, student_quantile
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.reading import Character, Reading

RATE = ErrorRate(CTC(), factor=1.5, spread=0.1, noise=2.0, sets=10)


def reading(*confidences):
    return Reading("a" * len(confidences), 1.0, tuple(Character("a", sure, 0, 1) for sure in confidences))


def test_doubt_adds_up():
    assert doubt_of([reading(1.0, 0.5), reading(), reading(0.75)]) == TotalDoubt(0.75, 3, 3, 1)
    assert doubt_of([]) == TotalDoubt()


def test_the_rate_is_the_factor_times_the_doubt():
    assert RATE(TotalDoubt(10, 100, 2)).cer == pytest.approx(0.15)


def test_a_hand_is_unknown_from_a_rate_and_ten_lines_with_text():
    """RATE expects 1.5 errors for each character doubted."""
    assert RATE.unknown_hand(TotalDoubt(40, 300, 10)) and not RATE.unknown_hand(TotalDoubt(39, 300, 10))
    assert not RATE.unknown_hand(TotalDoubt(40, 300, 10, empty=1))


def test_a_power_above_one_expects_more_where_more_is_doubtful():
    rate = replace(RATE, factor=2.0, power=1.5)
    assert [rate(TotalDoubt(n, 100, 2)).cer for n in (4, 16)] == pytest.approx([2 * 0.2**3, 2 * 0.4**3])


@pytest.mark.parametrize("power", [0.0, -1.0, 100.0, float("nan")])
def test_no_power_is_beyond_reason(power):
    with pytest.raises(ConfigError, match="power must be between"):
        replace(RATE, power=power)


def test_more_text_narrows_the_interval_down_to_how_sets_differ():
    widths = [found.high / found.low for found in (RATE(TotalDoubt(n, 10 * n, n)) for n in (10, 100, 10_000))]
    assert widths[0] > widths[1] > widths[2] > (2.718 ** (2 * 1.96 * 0.1))


def test_the_interval_by_hand():
    """The factor varies from set to set, and is itself known from few sets; edits vary with the text."""
    few = ErrorRate(CTC(), factor=1.0, spread=0.3, noise=4.0, sets=3)
    found = few(TotalDoubt(100.0, 1000, 30))
    reach = 4.30265 * np.sqrt(0.3**2 * 4 / 3 + 4.0 / 100)
    assert found == pytest.approx((0.1, 0.1 * np.exp(-reach), 0.1 * np.exp(reach)), rel=1e-6)


@pytest.mark.parametrize("doubt", [1.0, 1e-2, 1e-5, 1e-300])
def test_little_text_leaves_all_open_and_no_more(doubt):
    """The upper end was far beyond 1 there, or beyond all numbers."""
    found = RATE(TotalDoubt(doubt, 10, 1))
    assert 0 <= found.low < found.cer < found.high == 1
    worse = RATE(TotalDoubt(9.0, 10, 1))
    assert worse.cer == worse.high == pytest.approx(1.35)


@pytest.mark.parametrize("learned", [{"factor": 1e200}, {"spread": 1e200}, {"noise": 1e200}], ids=str)
def test_no_rate_has_numbers_that_cannot_be_learned(learned):
    """Their squares are beyond all numbers."""
    with pytest.raises(ConfigError, match=r"all at most 1e\+06, not"):
        replace(RATE, **learned)


def test_a_factor_of_next_to_nothing_expects_nothing():
    assert replace(RATE, factor=1e-300)(TotalDoubt(1e-100, 10, 1)) == (0, 0, 0)


def test_where_no_whole_edit_is_certain_none_may_be():
    """The interval began above 0 however little there was to doubt."""
    sure, doubtful = RATE(TotalDoubt(0.5, 100, 3)), RATE(TotalDoubt(50, 1000, 30))
    assert sure.low == 0 < sure.cer < sure.high
    assert doubtful.low > 0


def test_nothing_read_says_nothing():
    assert RATE(TotalDoubt(0, 0, 3, 3)) == (0, 0, 1)
    assert RATE(TotalDoubt(0, 50, 1)) == (0, 0, 0)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (1000, 1.962)])
def test_quantiles_of_student(freedom, quantile):
    assert student_quantile(freedom) == pytest.approx(quantile, rel=0.01)
