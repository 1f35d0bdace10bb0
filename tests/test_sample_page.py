"""The sample page: it equals the output of its generator, and the shipped model reads it."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from golden.record import recorded
from PIL import Image

from drethtr import Recognizer, transcribe_page
from drethtr.evaluation.whole_pages import compare_pages
from drethtr.layout.projection import Projection

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "samples" / "page" / "letter.jpg"


@pytest.fixture(scope="module")
def maker():
    return runpy.run_path(str(ROOT / "docs" / "make_page.py"))


def test_the_page_is_what_the_generator_makes(maker):
    """Except for differences from JPEG and the font engine."""
    with Image.open(PAGE) as image:
        assert np.abs(np.asarray(image).astype(int) - np.asarray(maker["make_page"]())).mean() < 4


def texts_on_record():
    """What the golden record says of the page, whose lines `RapidDetector` has found."""
    return [line["text"] for name, line in recorded()["read by joint"].items() if name.startswith("letter, line")]


def texts_by_projection():
    return [line.text for line in transcribe_page(PAGE, Recognizer.load(decoder="ctc"), Projection()).lines]


@pytest.mark.parametrize("read", [texts_on_record, texts_by_projection])
def test_the_page_is_read_from_top_to_bottom(maker, read):
    counts = compare_pages([text for _, _, text in maker["LETTER"]], read())
    assert counts.read == counts.lines and counts.ordered.cer < 0.15
