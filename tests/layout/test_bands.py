"""Bands of a fixed height around baselines are told from outlines that somebody drew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drethtr.layout.bands import are_bands, band_of

BENT = np.array([(100, 200), (300, 208), (500, 196), (700, 203)], float)
STRAIGHT = np.array([(100, 200), (700, 200)], float)


def band(baseline, above=40, below=8):
    return np.concatenate((baseline - np.array((0, above)), (baseline + np.array((0, below)))[::-1]))


def drawn(baseline, seed=0):
    upper, lower = np.random.default_rng(seed).uniform((25, 4), (45, 20), (len(baseline), 2)).T
    rise, fall = (np.stack((np.zeros_like(part), part), axis=1) for part in (upper, lower))
    return np.concatenate((baseline - rise, (baseline + fall)[::-1]))


@given(above=st.integers(6, 200), below=st.integers(0, 60), shift=st.integers(-1, 1))
def test_an_outline_parallel_to_a_bent_baseline_is_a_band(above, below, shift):
    outline = band(BENT, above, below)
    outline[0, 1] += shift  # rounding
    assert are_bands([(BENT, outline)]) == [True]
    found = band_of(BENT, outline)
    assert abs(found.above - above) <= 1 and abs(found.below - below) <= 1


def test_an_outline_that_follows_the_ink_is_none():
    """One in a thousand is one, by chance at the same distance everywhere."""
    found = [are_bands([(BENT, drawn(BENT, seed))] * 5) for seed in range(1000)]
    assert sum(any(bands) for bands in found) <= 1


def test_an_outline_with_more_points_than_its_baseline_accounts_for_was_not_made_of_it():
    """Ours is measured every few pixels; now and then it happens to be parallel to the baseline."""
    columns = np.arange(100.0, 701.0, 10.0)
    dense = np.stack((columns, np.interp(columns, *BENT.T)), axis=1)
    assert are_bands([(BENT, band(dense))]) == [False]
    assert are_bands([(BENT, np.concatenate((closed := band(BENT), closed[:1])))]) == [True]


def test_a_box_around_a_straight_baseline_counts_if_others_have_the_same():
    def boxes(*heights):
        return [(line := STRAIGHT + np.array((0, 60 * n)), band(line, height)) for n, height in enumerate(heights)]

    assert are_bands(boxes(40, 40)) == [False, False]
    assert are_bands(boxes(40, 40, 40)) == [True] * 3
    assert are_bands(boxes(25, 32, 40, 48, 57)) == [False] * 5


def test_one_drawn_line_among_bands_is_drawn_anew_as_well_and_one_band_among_drawn_lines_alone():
    bands, others = [(BENT, band(BENT))], [(BENT, drawn(BENT))]
    assert are_bands(4 * bands + others) == [True] * 5
    assert are_bands(bands + 4 * others) == [True] + [False] * 4


@pytest.mark.parametrize("upright", [False, True])
def test_lines_written_upward_have_bands_too(upright):
    baseline, outline = BENT, band(BENT)
    if upright:
        baseline, outline = baseline[:, ::-1], outline[:, ::-1]
    assert are_bands([(baseline, outline)]) == [True]


def test_a_page_without_lines():
    assert are_bands([]) == []
