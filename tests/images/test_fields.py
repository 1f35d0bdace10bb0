"""Random fields, and the two ways to compute with them."""

import numpy as np
import pytest

from drethtr.images import fields
from drethtr.images.fields import (
    blur,
    blur_numpy,
    blur_opencv,
    cloud,
    displace,
    mirrored,
    multiscale_noise,
    sample_numpy,
    sample_opencv,
    smooth_noise,
    spread,
)

needs_opencv = pytest.mark.skipif(fields.opencv() is None, reason="opencv is not installed")


@needs_opencv
@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (64, 400)])
@pytest.mark.parametrize("length", [1, 7, 31])
def test_both_blurs_agree(shape, length):
    field = np.random.default_rng(0).random(shape, dtype=np.float32)
    kernel = np.random.default_rng(1).random(length, dtype=np.float32)
    kernel /= kernel.sum()
    np.testing.assert_allclose(blur_numpy(field, kernel), blur_opencv(field, kernel), atol=1e-6)


@needs_opencv
@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (64, 400)])
def test_both_samplings_agree_within_the_step_of_opencv(shape):
    """OpenCV may round places to 1/32 pixel: 4 gray levels each way between black and white neighbors."""
    rng = np.random.default_rng(0)
    line = rng.choice(np.array([0, 255], np.uint8), shape)
    y, x = ((np.indices(shape)[axis] + rng.uniform(-5, 5, shape)).astype(np.float32) for axis in (0, 1))
    difference = np.abs(sample_numpy(line, x, y).astype(int) - sample_opencv(line, x, y))
    assert difference.max() <= 8
    assert difference.mean() <= 2


@pytest.mark.parametrize("sample", [sample_numpy, pytest.param(sample_opencv, marks=needs_opencv)])
def test_sampling_interpolates_and_mirrors(sample):
    line = np.array([[0, 100, 200]], np.uint8)
    x = np.array([[0.0, 0.5, 1.25, 2.0, 3.0, -1.0]], np.float32)
    assert sample(line, x, np.zeros_like(x)).tolist() == [[0, 50, 125, 200, 200, 0]]


def test_displacement_points_to_where_the_gray_comes_from():
    line = np.arange(30, dtype=np.uint8).reshape(5, 6)
    ones = np.ones(line.shape, np.float32)
    np.testing.assert_array_equal(displace(line, ones, 0 * ones)[:, :-1], line[:, 1:])
    np.testing.assert_array_equal(displace(line, 0 * ones, ones)[:-1], line[1:])


def test_lines_too_long_for_opencv_are_displaced_too():
    line = np.tile(np.array([0, 255], np.uint8), (1, 20000))
    still = np.zeros(line.shape, np.float32)
    np.testing.assert_array_equal(displace(line, still, still), line)


def test_mirrors_fold_as_numpy_pads():
    np.testing.assert_array_equal(mirrored(np.arange(-9, 13), 4), np.pad(np.arange(4), 9, mode="symmetric")[:22])


def test_blur_keeps_the_mean_and_spreads_by_sigma():
    point = np.zeros((41, 41), np.float32)
    point[20, 20] = 1
    blurred = blur(point, 3.0)
    assert blurred.sum() == pytest.approx(1, abs=1e-5)
    variance = (blurred.sum(axis=0) * (np.arange(41) - 20) ** 2).sum()
    assert variance == pytest.approx(9, rel=0.05)


def test_spread_reaches_both_ends():
    field = spread(np.array([[3.0, 5.0, 4.0]], np.float32), -2, 2)
    np.testing.assert_allclose(field, [[-2, 2, 0]], atol=1e-6)
    np.testing.assert_array_equal(spread(np.full((2, 2), 7, np.float32), -2, 2), -2)


@pytest.mark.parametrize("shape", [(1, 1), (40, 300)])
def test_noise_has_the_shape_and_range_it_says(shape):
    rng = np.random.default_rng(0)
    for noise in (smooth_noise(shape, 2.0, rng), cloud(shape, (2, 5), rng), multiscale_noise(shape, rng)):
        assert noise.shape == shape and noise.dtype == np.float32
        assert noise.min() >= 0 and noise.max() <= 1 + 1e-6


def test_wider_sigma_is_smoother():
    roughness = [np.diff(smooth_noise((40, 300), s, np.random.default_rng(0))).std() for s in (1.0, 2.0, 5.0)]
    assert roughness[0] > 2 * roughness[1] > 4 * roughness[2]
