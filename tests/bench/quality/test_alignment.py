"""Running text on the lines of pages, measured where the outcome is known."""

import numpy as np
import pytest
from printed_pages import put_page

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.bench.quality.alignment import (
    AlignedPage,
    FoundPage,
    align_pages,
    marked_pages,
    measure_alignment,
    with_errors,
)
from drethtr.datasets.sample import Sample
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.proofreading.fit import WRONG_LINES


def samples(pages, lines, set="s"):
    return [Sample(b"", f"line {n} of page {page}", set, page=str(page)) for page in range(pages) for n in range(lines)]


def aligned(name, exact, probability, right):
    return AlignedPage(name, np.array(exact, bool), np.array(probability, float), np.array(right, bool))


@pytest.fixture
def recognizer(tiny_model):
    return Recognizer(tiny_model, threads=1)


@pytest.fixture
def images():
    """Line images, and what a small model reads on them."""
    return [np.random.default_rng(n).integers(0, 255, (48, 300)).astype(np.uint8) for n in range(4)]


def test_texts_that_are_read_so_fall_onto_their_lines(recognizer, images):
    texts = [f"{reading.text}" for reading in recognizer.read(images)]
    lines = [Sample(image, text, "s", page="p") for image, text in zip(images, texts, strict=True)]
    [page] = align_pages(recognizer, marked_pages(lines))
    assert page.exact.all() and len(page.probability) == len(page.right) <= len(lines)


def test_texts_of_other_lines_do_not(recognizer, images):
    lines = [Sample(image, text, "s", page="p") for image, text in zip(images, ("x", "yy", "z", "w w"), strict=True)]
    [page] = align_pages(recognizer, marked_pages(lines))
    assert not page.exact.all()


def test_lines_are_found_where_they_are_marked(recognizer, tmp_path):
    texts = ["abc def abc def abc def", "a cabbage a cabbage a ca"]
    put_page(tmp_path / "a.png", tmp_path / "a.xml", texts)
    [original] = open_originals(tmp_path / "a.xml")
    page = FoundPage.of(original, segmentation_named("projection"))
    assert [sample.text for sample in page.samples] == texts
    assert page.recognize(recognizer).places == (0, 1)


def test_pages_are_drawn_whole():
    lines = samples(pages=5, lines=4) + samples(pages=2, lines=9, set="t")
    some = marked_pages(lines, limit=10)
    assert [(page.samples[0].set, len(page.samples)) for page in some] == [("s", 4), ("s", 4), ("t", 9)]
    assert marked_pages(lines, limit=10, seed=1) != some and len(marked_pages(lines)) == 7


def test_lines_of_unknown_pages_are_refused():
    with pytest.raises(DataError, match="lines: page unknown, but texts are aligned page by page"):
        marked_pages([Sample(b"", "text", "s", key="lines")])


def test_one_line_in_ten_has_an_error():
    lines = samples(pages=20, lines=20)
    given = with_errors(lines, seed=0)
    wrong = sum(text != line.text for text, line in zip(given, lines, strict=True))
    assert abs(wrong / len(lines) - WRONG_LINES) < 0.03 and given == with_errors(lines, seed=0)


def test_figures_are_of_sets_and_of_pools():
    pages = [aligned("a", [1, 1], [0.999, 0.998], [1, 0]), aligned("b", [1, 0], [0.999, 0.5], [1, 0])]
    a, b, known, held_out = measure_alignment(pages, {"a"})
    assert [pool.name for pool in (a, b, known, held_out)] == ["a", "b", "known", "held out"]
    assert (a.exact, a.accepted, a.precision) == (1, 1, 0.5) and (b.exact, b.accepted, b.precision) == (0.5, 0.5, 1)
    assert known.lines == 2 and a.exact_low is None


def test_lines_are_accepted_by_set():
    pages = [aligned("a", [1], [0.99], [1]), aligned("b", [1], [0.98], [1])]
    *_, both = measure_alignment(pages, ())
    assert both.accepted == 0.5


def test_pages_that_differ_have_an_interval():
    pages = [aligned("a", [number % 2, 1], [], []) for number in range(8)]
    [of_set, _] = measure_alignment(pages, {"a"})
    assert of_set.exact_low < of_set.exact == 0.75 < of_set.exact_high
    assert of_set.accepted is None and of_set.precision is None
