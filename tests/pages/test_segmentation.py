"""How the lines of a page are got, and which images are read as one line."""

from dataclasses import replace

import pytest
from made_pages import TEXTS, blank, write

from drethtr.layout.finder import Order
from drethtr.layout.finders import Whole
from drethtr.pages.segmentation import FoundBy, segmentation_named
from drethtr.pages.source import open_originals


@pytest.fixture
def line(tmp_path):
    write(blank(700, 90), TEXTS[:1], top=20).image.save(tmp_path / "line.png")
    [original] = open_originals(tmp_path / "line.png")
    return original


@pytest.fixture
def page(tmp_path):
    write(blank(700, 400), TEXTS[:3]).image.save(tmp_path / "page.png")
    [original] = open_originals(tmp_path / "page.png")
    return original


def test_tables_are_read_in_the_chosen_order(page):
    gray = page.source.gray()
    assert segmentation_named("rapid", "columns").layout(page, gray, 1).order is Order.COLUMNS
    assert segmentation_named("rapid").layout(page, gray, 1).order is Order.AUTO


@pytest.mark.parametrize(
    ("segmentation", "lines", "pages"),
    [
        (segmentation_named("auto"), True, False),
        (segmentation_named("rapid"), False, False),
        (segmentation_named("whole"), True, True),
        (FoundBy(Whole()), True, True),
    ],
    ids=repr,
)
def test_what_is_read_as_one_line(line, page, segmentation, lines, pages):
    assert (segmentation.is_line(line), segmentation.is_line(page)) == (lines, pages)
    assert (segmentation.is_line_image(line), segmentation.is_line_image(page)) == (lines, pages)
    described = replace(page, description=page.source.path, shape=None)
    assert segmentation.is_line(described) is pages and not segmentation.is_line_image(described)
    given = segmentation.prepare(replace(described, has_lines=True))
    assert segmentation.is_line(given) is (segmentation == segmentation_named("whole"))
