"""Augmentations change how a line looks, by chance alone, and leave its text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from drethtr.base.config import from_dict, to_dict
from drethtr.base.errors import ConfigError
from drethtr.images import fields
from drethtr.synthesis.augment import PUBLISHED, SCANS
from drethtr.synthesis.distort import PadVertically, Shrink, Stretch, Thicken, Zoom
from drethtr.synthesis.random_step import RandomStep, Sometimes, augment, ink_of, lay_ink, paper_gray

STEPS = [step.step if isinstance(step, Sometimes) else step for step in PUBLISHED + SCANS]
named = pytest.mark.parametrize("step", STEPS, ids=repr)
augmentations = pytest.mark.parametrize("steps", [PUBLISHED, SCANS], ids=["PUBLISHED", "SCANS"])


@pytest.fixture
def line():
    """A line of print on slightly gray paper."""
    image = Image.new("L", (400, 64), 235)
    ImageDraw.Draw(image).text((10, 8), "What is written here", fill=30, font=ImageFont.load_default(36))
    return np.asarray(image)


@named
def test_same_seed_same_line_and_the_given_line_is_untouched(step, line):
    before = line.copy()
    first, second = (step(line, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(line, before)
    assert first.dtype == np.uint8 and first.ndim == 2


@named
def test_another_seed_gives_another_line(step, line):
    results = [step(line, np.random.default_rng(seed)).tobytes() for seed in range(6)]
    draws_nothing = step == Shrink(64) or step in [fixed.step for fixed in PUBLISHED if "Thin(" in repr(fixed)]
    assert (len(set(results)) > 1) != draws_nothing


@named
@settings(max_examples=30)
@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    gray=st.sampled_from([0, 255, None]),
    seed=st.integers(0, 999),
)
def test_any_line_survives(step, height, width, gray, seed):
    rng = np.random.default_rng(seed)
    line = rng.integers(0, 256, (height, width)).astype(np.uint8) if gray is None else np.full((height, width), gray)
    changed = step(line.astype(np.uint8), rng)
    assert changed.dtype == np.uint8 and changed.ndim == 2 and changed.size > 0


@pytest.mark.parametrize(("step", "settings"), [(Thicken, {"sides": (0, 2)}), (Zoom, {"scale": (0, 0)})])
def test_nothing_is_drawn_that_leaves_no_line(step, settings):
    with pytest.raises(ConfigError, match=r"must be \(low, high\) above 0, not \(0, "):
        step(**settings)


@augmentations
def test_ink_stays_darker_than_paper(steps, line):
    """The published code inverts lines half of the time; here the writing always remains the dark part."""
    for seed in range(60):
        changed = augment(steps, line, np.random.default_rng(seed)).astype(int)
        low, paper, high = np.percentile(changed, (1, 60, 99))
        assert paper - low > 40
        assert high - paper < paper - low


@augmentations
def test_with_and_without_opencv_give_the_same_lines(steps, line, monkeypatch):
    if fields.opencv() is None:
        pytest.skip("opencv is not installed")
    fast = [augment(steps, line, np.random.default_rng(seed)) for seed in range(20)]
    monkeypatch.setattr(fields, "opencv", lambda: None)
    for seed, expected in enumerate(fast):
        plain = augment(steps, line, np.random.default_rng(seed))
        assert plain.shape == expected.shape
        assert np.abs(plain.astype(int) - expected).mean() < 1


@augmentations
def test_survives_the_way_through_a_file(steps):
    assert tuple(from_dict(RandomStep, to_dict(step)) for step in steps) == steps


def test_steps_are_taken_in_order(line):
    rng = np.random.default_rng(0)
    steps = (Stretch((2.0, 2.0)), PadVertically(share=0.5, white=True))
    by_hand = steps[1](steps[0](line, rng), rng)
    np.testing.assert_array_equal(augment(steps, line, np.random.default_rng(0)), by_hand)
    assert augment((), line, rng) is line


@pytest.mark.parametrize(("probability", "expected"), [(0.0, 0), (0.25, 250), (1.0, 1000)])
def test_sometimes_is_as_often_as_it_says(probability, expected, line):
    rng = np.random.default_rng(0)
    step = Sometimes(Stretch((2.0, 2.0)), probability)
    taken = sum(step(line[:2, :4], rng).shape[1] == 8 for _ in range(1000))
    assert taken == pytest.approx(expected, abs=50 if 0 < probability < 1 else 0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Sometimes(Stretch(), 1.5), "probability"),
        (lambda: Stretch((1.2, 0.8)), "Stretch.scale"),
        (lambda: Thicken(sides=(1,)), "Thicken.sides"),
        (lambda: PadVertically(share=-0.1), "PadVertically.share"),
    ],
)
def test_impossible_settings_are_refused(make, said):
    with pytest.raises(ConfigError, match=said):
        make()


def test_ink_and_paper_of_a_line(line):
    assert paper_gray(line) == 235
    ink = ink_of(line)
    assert ink.max() == 205 and ink[0, 0] == 0
    np.testing.assert_array_equal(lay_ink(np.full_like(line, 235), ink), line)
    assert lay_ink(line, np.full_like(line, 255)).max() == 0
