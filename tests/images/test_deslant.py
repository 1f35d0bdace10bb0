"""Deslanting does what the published preprocessing does."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_array
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.images.deslant import (
    SLANTS,
    binarize,
    deslant,
    estimate_slant,
    local_threshold,
    otsu_threshold,
    shear,
    window_sums,
)

PUBLISHED = Path(__file__).parent / "fixtures" / "prep.npz"


@pytest.mark.parametrize("number", [0, 3])
def test_agrees_with_the_published_images_within_one_gray_level(number):
    """Image 0 goes through Otsu's threshold, image 3 through the local one."""
    with np.load(PUBLISHED) as arrays:
        line, expected = arrays[f"deslant/in{number}"], arrays[f"deslant/out{number}"]
    difference = np.abs(deslant(line).astype(int) - expected)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.001


def strokes(slant):
    """Upright strokes, of which row y is then moved by slant * y; white around."""
    line = np.full((40, 300), 255, np.uint8)
    line[5:35, 60:240:20] = 0
    offset = max(-slant * 40, 0)
    return np.asarray(
        Image.fromarray(line).transform((340, 40), Image.Transform.AFFINE, (1, -slant, -offset, 0, 1, 0), fillcolor=255)
    )


@pytest.mark.parametrize("slant", [-0.75, -0.5, 0.0, 0.5, 0.75])
def test_slanted_strokes_are_found_and_stood_up(slant):
    line = strokes(slant)
    assert estimate_slant(line) == -slant
    upright = deslant(line)
    assert upright.shape == line.shape
    assert estimate_slant(upright) == 0


@pytest.mark.parametrize("slant", SLANTS)
def test_shearing_loses_no_ink(slant):
    ink = 255.0 - strokes(0.0)
    assert shear(ink, slant, paper=0).sum() == pytest.approx(ink.sum())


def test_otsu_parts_two_grays():
    line = np.array([[10, 10, 10, 200, 200, 12]], np.uint8)
    assert 12 <= otsu_threshold(line) < 200
    np.testing.assert_array_equal(binarize(line), [[0, 0, 0, 255, 255, 0]])


@given(any_array(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12))), st.integers(1, 6))
def test_window_sums_by_hand(values, size):
    padded = np.pad(values.astype(float), size)
    start = size - size // 2
    expected = [
        [padded[y + start : y + start + size, x + start : x + start + size].sum() for x in range(values.shape[1])]
        for y in range(values.shape[0])
    ]
    np.testing.assert_allclose(window_sums(values, size), expected)


def test_local_threshold_by_hand():
    """In windows of 2 x 2, n = 4; below a mean of 100 the threshold is 0."""
    line = np.full((4, 6), 80, np.uint8)
    line[:, 3:] = 200
    mean, square = (80 + 200) / 2, (80**2 + 200**2) / 2
    deviation = ((square - mean**2 / 4) / 4) ** 0.5
    threshold = local_threshold(line)
    assert threshold[2, 2] == 0
    assert threshold[2, 3] == pytest.approx(mean * (1 + 0.01 * (deviation / 127 - 1)))
    assert threshold[2, 4] == pytest.approx(200 * (1 + 0.01 * (((200**2 - 200**2 / 4) / 4) ** 0.5 / 127 - 1)))


@given(any_array(np.uint8, st.tuples(st.integers(1, 30), st.integers(1, 30))))
def test_any_line_keeps_its_size(line):
    assert deslant(line).shape == line.shape


def test_a_blank_line_stays_blank():
    np.testing.assert_array_equal(deslant(np.full((30, 80), 255, np.uint8)), 255)


def test_an_empty_line_is_refused():
    with pytest.raises(DataError, match="empty"):
        deslant(np.zeros((0, 8), np.uint8))
