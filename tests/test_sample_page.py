"""The sample page: it equals the output of its generator, and the shipped model reads it."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drethtr import Recognizer, transcribe_page
from drethtr.evaluation.whole_pages import compare_pages
from drethtr.layout.projection import Projection
from drethtr.layout.rapid import RapidDetector

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "samples" / "page" / "letter.jpg"


@pytest.fixture(scope="module")
def maker():
    return runpy.run_path(str(ROOT / "docs" / "make_page.py"))


def test_the_page_is_what_the_generator_makes(maker):
    """Except for differences from JPEG and the font engine."""
    with Image.open(PAGE) as image:
        assert np.abs(np.asarray(image).astype(int) - np.asarray(maker["make_page"]())).mean() < 4


@pytest.mark.parametrize("finder", [RapidDetector(), Projection()], ids=lambda finder: type(finder).__name__)
def test_the_page_is_read_from_top_to_bottom(maker, finder):
    read = [line.text for line in transcribe_page(PAGE, Recognizer.load(), finder).lines]
    counts = compare_pages([text for _, _, text in maker["LETTER"]], read)
    assert counts.read == counts.lines and counts.ordered.cer < 0.15
