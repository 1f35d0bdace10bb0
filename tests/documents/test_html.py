"""HTML that pages, notebooks and reports share."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from drethtr.documents.html import jpeg_uri, png_uri, tooltip


def opened(uri, media):
    head, _, content = uri.partition(",")
    assert head == f"data:image/{media};base64"
    return Image.open(BytesIO(b64decode(content)))


@pytest.mark.parametrize(("size", "shown"), [((400, 100), (200, 50)), ((100, 80), (75, 60)), ((50, 20), (50, 20))])
def test_an_image_is_reduced_and_never_enlarged(size, shown):
    assert opened(jpeg_uri(Image.new("RGBA", size), (200, 60)), "jpeg").size == shown


def test_a_drawing_keeps_every_pixel():
    drawing = Image.fromarray(np.random.default_rng(1).integers(0, 256, (9, 7, 3), dtype=np.uint8))
    assert np.array_equal(np.asarray(opened(png_uri(drawing), "png")), np.asarray(drawing))


def test_a_confidence_is_shown_in_percent_if_it_is_known():
    assert (tooltip(0.876), tooltip(None)) == (' title="confidence 88%"', "")
