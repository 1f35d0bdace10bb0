from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.pictures.canvas import Canvas, Label, Photo, Rectangle

PHOTO = Image.new("RGB", (10, 5), (0, 0, 255))
CANVAS = Canvas(
    60, 40, (Photo(0, 0, PHOTO), Rectangle(20, 10, 30, 20, (255, 0, 0), 0.5), Label(50, 38, "a < b & c", 12, (0, 0, 0)))
)


def test_pixels_are_where_they_are_told():
    pixels = np.asarray(CANVAS.to_image())
    assert pixels.shape == (40, 60, 3)
    assert (pixels[:5, :10] == (0, 0, 255)).all() and (pixels[10:20, 20:30, 0] == 255).all()
    assert (abs(pixels[10:20, 20:30, 1].astype(int) - 127) <= 1).all()
    assert (pixels[25:, 48:] < 128).any() and (pixels[5:10] == 255).all()


def test_svg_holds_the_same_and_needs_no_other_file():
    root = ElementTree.fromstring(CANVAS.to_svg())
    shapes = [element.tag.rpartition("}")[2] for element in root]
    assert shapes == ["rect", "image", "rect", "text"]
    assert root[1].get("href").startswith("data:image/png;base64,") and root[3].text == "a < b & c"


def test_svg_is_well_formed_whatever_the_words():
    drawn = Label(0, 0, "a\x01\x1b<\ufffe").svg()
    assert ElementTree.fromstring(f"<svg>{drawn}</svg>")[0].text == "a\ufffd\ufffd<\ufffd"


def test_words_are_drawn_whatever_they_are():
    drawn, plain = (Canvas(60, 40, (Label(5, 30, text),)).to_image() for text in ("a\r\x1c\x85\u2029b", "a    b"))
    assert np.array_equal(drawn, plain)


def test_a_rectangle_that_ends_before_it_begins_is_not_seen():
    narrow = Rectangle(20, 10, 18, 20, (255, 0, 0))
    assert "width='0.0'" in narrow.svg()
    assert (np.asarray(Canvas(60, 40, (narrow,)).to_image()) == 255).all()


def test_saved_by_name(tmp_path):
    CANVAS.save(tmp_path / "a.svg")
    CANVAS.save(tmp_path / "a.png")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == CANVAS.to_svg()
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (60, 40)
    with pytest.raises(DataError, match=r"\.svg or \.png"):
        CANVAS.save(tmp_path / "a.jpg")
    with pytest.raises(DataError, match="cannot be written"):
        CANVAS.save(tmp_path / "a.png" / "a.png")
