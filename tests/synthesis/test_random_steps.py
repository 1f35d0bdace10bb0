"""What each random step does, and how far it may go."""

import numpy as np
import pytest

from drethtr.synthesis.degrade import (
    BackgroundNoise,
    BleedThrough,
    Blur,
    DropInk,
    FadeInk,
    Grain,
    JpegCompression,
    NeighborLines,
    RuleLines,
    TableBorders,
    Tone,
    UnevenLight,
)
from drethtr.synthesis.distort import (
    Elastic,
    PadHorizontally,
    PadVertically,
    Rotate,
    Shrink,
    Slant,
    Stretch,
    Thicken,
    Thin,
    Zoom,
)

SEEDS = range(40)


def draws(step, line):
    return [step(line, np.random.default_rng(seed)) for seed in SEEDS]


@pytest.fixture
def line():
    """Gray paper 60 x 200 with one dark block of 20 x 100 in the middle."""
    line = np.full((60, 200), 220, np.uint8)
    line[20:40, 50:150] = 40
    return line


@pytest.mark.parametrize(("white", "gray"), [(True, 255), (False, 220)])
def test_padding_reaches_the_papers_widths_and_no_further(white, gray, line):
    above = draws(PadVertically(white=white), line)
    beside = draws(PadHorizontally(white=white), line)
    assert {p.shape[1] for p in above} == {200} and {p.shape[0] for p in beside} == {60}
    assert 60 + 20 < max(p.shape[0] for p in above) <= 60 + 2 * 14
    assert 200 + 180 < max(p.shape[1] for p in beside) <= 200 + 2 * 119
    tallest = max(above, key=len)
    assert tallest[0, 0] == gray and tallest[-1, -1] == gray
    assert all((p == 40).sum() == 2000 for p in above + beside)


def test_shrinking_keeps_the_shape_and_what_is_low_enough(line):
    assert {s.shape for s in draws(Shrink(30), line)} == {(30, 100)}
    assert np.array_equal(Shrink(30)(line, None)[11:19, 26:74], np.full((8, 48), 40))
    assert Shrink(60)(line, None) is line and Shrink(1)(line, None).shape == (1, 3)


def test_stretching_changes_the_width_alone(line):
    widths = [s.shape[1] for s in draws(Stretch(), line)]
    assert {s.shape[0] for s in draws(Stretch(), line)} == {60}
    assert 160 <= min(widths) < 175 and 225 < max(widths) <= 240


def test_thickening_grows_ink_by_the_sides_drawn(line):
    heights = {(t[:, 100] == 40).sum() for t in draws(Thicken(), line)}
    widths = {(t[30] == 40).sum() for t in draws(Thicken(), line)}
    assert heights == {21, 22, 23} and widths == {101, 102, 103}


def test_thinning_shrinks_ink_by_one_pixel(line):
    thin = Thin()(line, np.random.default_rng(0))
    assert (thin[:, 100] == 40).sum() == 19 and (thin[30] == 40).sum() == 99


def test_strength_is_the_share_of_the_change(line):
    half = Thin(strength=(0.5, 0.5))(line, np.random.default_rng(0))
    assert sorted(set(half.ravel().tolist())) == [40, 130, 220]


def test_elastic_moves_writing_by_no_more_than_its_pixels(line):
    for moved in draws(Elastic(sigma=2, pixels=3), line):
        assert moved.shape == line.shape
        assert not np.array_equal(moved, line)
        assert (moved[24:36, 54:146] == 40).all()
        assert (moved[:16] == 220).all() and (moved[44:] == 220).all()


def test_slant_leans_both_ways_and_keeps_all_ink():
    line = np.full((60, 200), 220, np.uint8)
    line[20:40, 2:198] = 40
    leans = []
    for slanted in draws(Slant(0.5), line):
        ink = 220.0 - slanted
        assert ink.sum() == pytest.approx((220.0 - line).sum(), rel=0.01)
        centers = (ink * np.arange(ink.shape[1])).sum(axis=1)[20:40] / ink.sum(axis=1)[20:40]
        leans.append((centers[-1] - centers[0]) / 19)
    assert -0.51 < min(leans) < -0.35 and 0.35 < max(leans) < 0.51


def test_rotation_drifts_no_further_than_allowed(line):
    drifts = []
    for turned in draws(Rotate(most=10, drift=0.1), line):
        assert turned.shape == line.shape
        ink = 220.0 - turned[:, 52:148]
        centers = (ink * np.arange(60)[:, None]).sum(axis=0) / ink.sum(axis=0)
        drifts.append((centers[-1] - centers[0]) * 200 / 95)
    assert -12.5 < min(drifts) < -8 and 8 < max(drifts) < 12.5


def test_zoom_keeps_all_rows_of_the_writing(line):
    places, heights = [], []
    for zoomed in draws(Zoom((0.5, 4.0)), line):
        assert zoomed.shape[0] == 60
        rows = np.flatnonzero((zoomed < 130).any(axis=1))
        scale = zoomed.shape[1] / 200
        assert len(rows) == pytest.approx(20 * scale, abs=1.5)
        places.append(rows[0])
        heights.append(len(rows))
    assert min(heights) < 14 and max(heights) >= 59
    assert min(places) <= 1 and max(places) > 30


def test_background_noise_keeps_paper_light_and_ink_dark(line):
    white = np.where(line == 220, np.uint8(255), np.uint8(0))
    for noisy in draws(BackgroundNoise(), white):
        assert noisy[:15].min() >= 0.8 * 255 - 1
        assert noisy[25:35, 60:140].max() <= 0.4 * 255 + 1
        assert noisy[:15].std() > 2


def test_faded_ink_keeps_its_least_share(line):
    for faded in draws(FadeInk(least=0.5), line):
        assert faded[25:35, 60:140].max() <= 130
        assert (faded[:15] == 220).all()
        assert faded[25:35, 60:140].std() > 1


def test_tone_maps_white_and_black_into_their_ranges():
    ramp = np.arange(256, dtype=np.uint8)[None]
    tones = np.stack([t[0] for t in draws(Tone(paper=(0.7, 0.9), ink=(0.1, 0.3)), ramp)]).astype(int)
    assert (np.diff(tones) >= 0).all()
    assert tones[:, 255].min() >= 178 and tones[:, 255].max() <= 230
    assert tones[:, 0].min() >= 17 and tones[:, 0].max() <= 69
    assert len(set(tones[:, 128].tolist())) > 10


def test_light_falls_no_lower_than_allowed(line):
    for shaded in draws(UnevenLight(darkest=0.5), line):
        assert (shaded <= line).all() and (shaded >= line // 2 - 1).all()
        assert shaded[0].std() > 1


def test_grain_stays_within_its_levels(line):
    noises = [g.astype(int) - line for g in draws(Grain(levels=(3, 7)), line)]
    extremes = {np.abs(n).max() for n in noises}
    assert extremes == {3, 4, 5, 6, 7}
    assert all(abs(n.mean()) < 0.2 for n in noises)


def test_grain_never_turns_white_black():
    white = np.full((60, 200), 255, np.uint8)
    assert min(g.min() for g in draws(Grain(levels=(3, 7)), white)) == 248


def test_blur_softens_edges_only(line):
    for blurred in draws(Blur(radius=(0.01, 0.03)), line):
        assert (blurred[:8] == 220).all() and (blurred[28:32, 60:140] == 40).all()
        assert len(np.unique(blurred)) > 4


def test_compression_changes_little_and_less_at_high_quality(line):
    noisy = Grain(levels=(20, 20))(line, np.random.default_rng(0)).astype(int)
    errors = [
        np.abs(JpegCompression(quality=(q, q))(noisy.astype(np.uint8), np.random.default_rng(0)) - noisy).mean()
        for q in (10, 50, 95)
    ]
    assert errors[0] > errors[1] > errors[2] and errors[0] < 15


def test_a_line_too_wide_for_a_file_is_not_compressed():
    """It is left out of its batch, but ended the run before."""
    wide = np.full((4, 65_501), 200, np.uint8)
    assert JpegCompression()(wide, np.random.default_rng(0)) is wide
    assert JpegCompression()(wide[:, 1:], np.random.default_rng(0)).shape == (4, 65_500)


def test_dropped_ink_is_a_few_small_spots(line):
    lost = [((d == 220) & (line == 40)).sum() for d in draws(DropInk(most=4, share=0.14), line)]
    assert 0 < max(lost) <= 4 * 8 * 8
    assert all(((d == line) | (d == 220)).all() for d in draws(DropInk(), line))


@pytest.mark.parametrize("step", [RuleLines(), TableBorders(), NeighborLines(), BleedThrough()], ids=repr)
def test_surroundings_only_darken_and_spare_most_of_the_strip(step, line):
    for cluttered in draws(step, line):
        assert cluttered.shape == line.shape
        assert (cluttered <= line).all()
        assert ((line.astype(int) - cluttered) > 25).mean() < 0.35


def test_rules_run_along_the_whole_line(line):
    for ruled in draws(RuleLines(ink=(50, 50)), line):
        rule = ruled == 170
        assert rule[:, :50].any(axis=0).all() and rule[:, 150:].any(axis=0).all()


def test_borders_stand_at_the_ends_from_top_to_bottom(line):
    kinds = set()
    for cell in draws(TableBorders(ink=(50, 50)), line):
        border = cell == 170
        assert not border[:, 15:185].any()
        left, right = border[:, :15].any(axis=1).all(), border[:, 185:].any(axis=1).all()
        kinds.add((bool(left), bool(right)))
    assert kinds == {(True, False), (False, True), (True, True)}


def test_neighbors_reach_in_from_both_edges_by_their_share(line):
    reach = [np.flatnonzero((n != line).any(axis=1)) for n in draws(NeighborLines(share=0.2), line)]
    assert all(((rows < 12) | (rows >= 48)).all() for rows in reach)
    assert any((rows < 12).any() and (rows >= 48).any() for rows in reach)


def test_bleeding_ink_is_mirrored_and_faint():
    line = np.full((60, 200), 220, np.uint8)
    line[20:40, 20:100] = np.linspace(100, 200, 80).astype(np.uint8)
    front = (220.0 - line).sum(axis=0)
    for bled in draws(BleedThrough(strength=(0.3, 0.3)), line):
        back = line.astype(float) - bled
        assert 5 < back.max() <= 0.3 * 120
        likeness = [max(back.sum(axis=0) @ np.roll(side, n) for n in range(200)) for side in (front, front[::-1])]
        assert likeness[1] > likeness[0]
