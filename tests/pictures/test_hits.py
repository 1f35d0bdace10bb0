from dataclasses import replace

import pytest
from made_pages import blank

from drethtr.base.errors import DataError
from drethtr.documents.points import Box
from drethtr.pictures.canvas import Label
from drethtr.pictures.hits import draw_hits
from drethtr.search import Hit
from drethtr.search.records import PageKey

KEY = PageKey("a.png", 1)


def test_captions_name_the_page_in_its_file(tmp_path):
    page = blank().image
    page.save(tmp_path / "book.tiff", save_all=True, append_images=[page])
    hits = [
        Hit(tmp_path / "book.tiff", number, "l1", "a word", 0.9, Box(100, 100, 200, 140), "a [word]", "", "word", KEY)
        for number in (1, 2)
    ]
    captions = [shape.text for shape in draw_hits(hits).shapes if isinstance(shape, Label)]
    assert captions == ["0.90  book.tiff  a [word]", "0.90  book.tiff page 2  a [word]"]


def test_a_place_that_is_not_on_the_page_is_refused(tmp_path):
    """An index of somebody else may say anything, such as places that would take all memory."""
    page, far = blank().image, 2**31 - 1
    page.save(tmp_path / "a.png")
    hit = Hit(tmp_path / "a.png", 1, "l1", "a word", 0.9, Box(100, 100, 200, 140), "a [word]", "", "word", KEY)
    for box in (Box(100, 100, 200, 100), Box(200, 100, 100, 140), Box(far - 9, far - 9, far, far), Box(-9, -9, 0, 0)):
        with pytest.raises(DataError, match=r"a\.png: has nothing on page 1 where the index says"):
            draw_hits([replace(hit, box=box)])
    assert draw_hits([replace(hit, box=Box(-far, -far, far, far))]).shapes
