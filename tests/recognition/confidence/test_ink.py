import numpy as np
import pytest
from conftest import written
from odd_lines import blank_paper, odd_lines
from PIL import Image, ImageDraw
from real_data import LINES, needs_lines

from drethtr.datasets.open import open_all
from drethtr.recognition.confidence.ink import Ink, long_runs, quantile


def test_blank_paper_has_no_ink():
    assert not any(Ink.of(line).columns.any() for line in odd_lines(blank_paper, 20))


def test_coarse_grain_is_no_ink():
    grainy = np.random.default_rng(0).normal(200, 12, (40, 500)).clip(0, 255).astype(np.uint8)
    assert (grainy < 170).any() and not Ink.of(grainy).columns.any()


@pytest.mark.parametrize("height", [10, 20, 30, 40, 90])
def test_grain_is_no_ink_at_any_height(height):
    grainy = np.random.default_rng(0).normal(200, 12, (height, 12 * height)).clip(0, 255).astype(np.uint8)
    assert not Ink.of(grainy).columns.any()


@pytest.mark.parametrize("text", ["abcdef", "a cabbage fed a bad face" * 3])
def test_a_border_of_lighter_paper_hides_no_ink(text):
    """As where a line is cut out along its outline."""
    line = np.where(written(text) < 130, 90.0, 180.0)
    bordered = np.pad(line, ((10, 20), (10, 10)), constant_values=225)
    grainy = (bordered + np.random.default_rng(0).normal(0, 2, bordered.shape)).clip(0, 255).astype(np.uint8)
    own = (written(text) < 130).any(0).mean()
    assert Ink.of(grainy).columns.mean() > 0.8 * own and not Ink.of(grainy).blank


@pytest.mark.parametrize("rise", [0, 2, 6])
def test_ruled_lines_are_no_ink(rise):
    """A slanted one leaves some pixels at its steps, no more than specks."""
    paper = Image.new("L", (600, 60), 230)
    for row in (20, 40):
        ImageDraw.Draw(paper).line((0, row, 600, row + rise), fill=90, width=2)
    assert Ink.of(np.asarray(paper)).columns.mean() < 0.02


def test_ink_is_where_the_writing_is():
    word, gap = written("abcdef"), np.full((40, 300), 240, np.uint8)
    inked = np.flatnonzero(Ink.of(np.hstack([word, gap, word])).columns)
    own = np.flatnonzero((word < 120).any(0))
    assert abs(inked[0] - own[0]) <= 2 and abs(inked[-1] - (word.shape[1] + 300 + own[-1])) <= 2
    assert abs(np.diff(inked).max() - (300 + word.shape[1] - own[-1] + own[0])) <= 4


@pytest.mark.parametrize("shade", [0.25, 0.5, 1.0])
def test_shaded_paper_and_pale_ink_change_little(shade):
    line = written("some words of a line")
    pale = 255 - (255 - line.astype(float)) * shade
    shaded = (pale * np.linspace(0.7, 1, line.shape[1])).astype(np.uint8)
    assert (Ink.of(shaded).columns == Ink.of(line).columns).mean() > 0.9


def test_long_runs_are_those_that_a_loop_finds():
    rng = np.random.default_rng(0)
    for _ in range(100):
        mask, length = rng.random((3, 30)) < 0.8, int(rng.integers(1, 35))
        expected = np.zeros_like(mask)
        for row in range(3):
            for first in range(30 - length + 1):
                if mask[row, first : first + length].all():
                    expected[row, first : first + length] = True
        assert np.array_equal(long_runs(mask, length), expected)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.995, 1.0])
@pytest.mark.parametrize("size", [1, 2, 7, 400])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_quantiles_are_those_of_numpy(share, size, kind):
    values = np.random.default_rng(size).integers(0, 256, (1, size)).astype(kind)
    assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)), rel=1e-6)


def test_paper_is_blank_whatever_its_grain():
    rng = np.random.default_rng(0)
    grains = [np.clip(rng.normal(210, grain, (height, 900)), 0, 255) for grain in (0, 3, 8, 20) for height in (40, 80)]
    shaded = np.tile(np.linspace(120, 240, 900), (60, 1))
    ruled = np.full((60, 900), 230.0)
    ruled[30:32] = 120
    assert all(Ink.of(paper.astype(np.uint8)).blank for paper in (*grains, shaded, ruled))
    assert all(Ink.of(line).blank for line in odd_lines(blank_paper, 20))


@pytest.mark.parametrize("ink", [20, 120, 190, 215])
@pytest.mark.parametrize("grain", [0, 3, 8])
def test_writing_is_not_blank_however_faint(ink, grain):
    """On paper of 240."""
    line = np.where(written("abcdef") < 130, float(ink), 240.0) + np.random.default_rng(0).normal(0, grain, (40, 62))
    assert not Ink.of(line.clip(0, 255).astype(np.uint8)).blank


@needs_lines
def test_no_real_line_with_a_text_is_blank():
    """One in ten; `docs/measure_blank.py` looks at all."""
    samples = open_all([str(path) for path in sorted(LINES.glob("*.val.parquet"))])
    lines = [sample for sample in samples if sample.text.strip()][::10]
    assert len(lines) > 100 and [sample.key for sample in lines if Ink.of(sample.line()).blank] == []
