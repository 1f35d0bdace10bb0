"""What the network sees of a line."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.config import from_dict, to_dict
from drethtr.base.errors import ConfigError, DataError
from drethtr.images.prepare import MAX_COLUMNS, Preparation, spread_grays

PUBLISHED = Path(__file__).parent / "fixtures" / "prep.npz"


def test_agrees_with_the_published_preparation():
    """Every fourth column; the paper fills up the line to 2227 columns there, here the backbone does."""
    with np.load(PUBLISHED) as arrays:
        prepared, theirs = Preparation()(arrays["proc/in1"]), arrays["proc/out1"][0]
    compared = prepared[:, ::4]
    np.testing.assert_allclose(compared, theirs[:, : compared.shape[1]], atol=1e-6)
    assert theirs.shape[1] == len(range(0, 2227, 4)) and (theirs[:, compared.shape[1] :] == -1).all()
    assert prepared.dtype == np.float32


def test_ink_is_one_and_paper_minus_one():
    line = np.full((64, 10), 255, np.uint8)
    line[:, 5:] = 0
    prepared = Preparation()(line)
    np.testing.assert_array_equal(prepared[:, :5], -1)
    np.testing.assert_array_equal(prepared[:, 5:], 1)


@given(
    width=st.integers(1, 80),
    height=st.integers(1, 90),
    rows=st.integers(1, 80),
    stretch=st.floats(0.1, 10),
    deslant=st.booleans(),
)
def test_columns_are_known_before_preparing(width, height, rows, stretch, deslant):
    preparation = Preparation(height=rows, stretch=stretch, deslant=deslant, normalize_contrast=True)
    prepared = preparation(np.full((height, width), 200, np.uint8))
    assert prepared.shape == (rows, preparation.columns(width, height))
    assert abs(prepared.shape[1] - max(1, width * rows * stretch / height)) <= 1


def test_shrinking_is_antialiased():
    """Hairlines in every fourth column fade to an even gray instead of vanishing."""
    line = np.full((256, 400), 255, np.uint8)
    line[:, ::4] = 0
    np.testing.assert_allclose(Preparation()(line)[:, 2:-2], -0.5, atol=0.02)


def test_contrast_is_normalized_on_request():
    line = np.full((64, 100), 180, np.uint8)
    line[20:40, 40:60] = 120
    plain, normalized = Preparation()(line), Preparation(normalize_contrast=True)(line)
    assert plain.max() < 0.1 and plain.min() > -0.5
    assert normalized.max() == 1 and normalized.min() == -1


def test_blank_paper_is_not_spread():
    grain = np.random.default_rng(0).integers(200, 212, (64, 80)).astype(np.uint8)
    np.testing.assert_array_equal(spread_grays(grain), grain)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (np.zeros((0, 9), np.uint8), "empty"),
        (np.zeros((9, 0), np.uint8), "empty"),
        (np.zeros((9, 9, 3), np.uint8), r"\(height, width\)"),
        (np.zeros((9, 9)), "float64"),
        (np.zeros((1, MAX_COLUMNS // 64 + 1), np.uint8), "one line"),
    ],
)
def test_what_is_no_line_is_refused(line, said):
    with pytest.raises(DataError, match=said):
        Preparation()(line)


@pytest.mark.parametrize("setting", [{"height": 0}, {"stretch": 0.0}, {"stretch": float("nan")}, {"stretch": 11.0}])
def test_impossible_settings_are_refused(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        Preparation(**setting)


def test_survives_the_way_through_a_file():
    preparation = Preparation(height=48, stretch=1.25, deslant=True, normalize_contrast=True)
    assert from_dict(Preparation, to_dict(preparation)) == preparation
