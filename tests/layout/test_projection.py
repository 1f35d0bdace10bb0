import numpy as np
import pytest
from made_pages import TEXTS, blank, blocks_of, letter, matched, write
from PIL import Image

from drethtr.base.errors import ConfigError
from drethtr.layout.projection import Projection, smoothed

FINDER = Projection()


def test_lines_of_a_letter():
    page = letter()
    found = FINDER.find(page.gray)
    places = matched(page, [line.polygon for line in found])
    assert [number for block in blocks_of(found) for number in block] == places


@pytest.mark.parametrize("degrees", [-10, 3, 10])
def test_skewed_page(degrees):
    turned = letter().image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=225)
    found = FINDER.find(np.asarray(turned))
    angles = [np.degrees(np.arctan2(*(line.baseline[-1] - line.baseline[0])[::-1])) for line in found]
    assert len(found) == len(TEXTS) and np.allclose(angles, -degrees, atol=1)


def test_two_columns():
    page = write(blank(1200, 500), TEXTS[:4], left=60)
    write(page, TEXTS[4:], left=680)
    matched(page, [line.polygon for line in FINDER.find(page.gray)])


def test_a_single_line_and_none():
    page = write(blank(800, 200), TEXTS[:1])
    matched(page, [line.polygon for line in FINDER.find(page.gray)])
    assert FINDER.find(blank().gray) == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (2, 400), (5, 400), (400, 1), (400, 5)])
def test_strips_of_pixels(shape):
    """Whatever is found on them has its foot there, or a pixel below."""
    for page in (np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)):
        page[:, shape[1] // 2 :] ^= 255
        for line in FINDER.find(page):
            x, y = line.baseline.mean(0)
            assert 0 <= x <= shape[1] and 0 <= y <= shape[0] + 1


def test_a_window_longer_than_what_it_averages():
    """The mean stays where it was."""
    peak = np.array([0.0, 0.0, 1.0, 0.0])
    assert np.argmax(smoothed(peak, np.hanning(11))) == 2 and len(smoothed(peak, np.hanning(11))) == 4


@pytest.mark.parametrize("settings", [{"side": 10}, {"gutter": 0.0}, {"gutter": 1.5}])
def test_settings_out_of_range(settings):
    with pytest.raises(ConfigError):
        Projection(**settings)
