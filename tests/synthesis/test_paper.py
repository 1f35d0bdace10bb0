import numpy as np
import pytest

from drethtr.synthesis.paper import TEXTURE, Paper, put_on_paper


def stripes(height=64, width=300):
    ink = np.zeros((height, width), np.uint8)
    ink[20:40, 10:-10:8] = 255
    return ink


@pytest.mark.parametrize("number", range(10))
def test_ink_is_darker_than_the_paper_beside_it(number):
    ink = stripes()
    line = put_on_paper(ink, Paper(), np.random.default_rng(number))
    assert line.dtype == np.uint8 and line.shape == ink.shape
    assert line[ink == 255].mean() < 0.85 * line[ink == 0].mean()


def test_paper_is_uneven_but_within_its_tone():
    line = put_on_paper(np.zeros((64, 300), np.uint8), Paper(tone=(200, 200)), np.random.default_rng(0))
    assert 185 < line.mean() < 215 and 0.2 < line.std() < 15


def test_same_generator_same_paper():
    lines = [put_on_paper(stripes(), Paper(), np.random.default_rng(number)) for number in (4, 4, 5)]
    assert np.array_equal(lines[0], lines[1]) and not np.array_equal(lines[0], lines[2])


def test_lines_larger_than_the_textures():
    ink = stripes(TEXTURE[0] + 20, TEXTURE[1] + 50)
    assert put_on_paper(ink, Paper(), np.random.default_rng(0)).shape == ink.shape
