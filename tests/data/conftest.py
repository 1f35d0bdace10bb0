from io import BytesIO

import pytest
from PIL import Image, ImageDraw

from drethtr.data.sample import Sample


@pytest.fixture
def draw():
    """Encode a small picture of some text, 16 pixels high."""

    def encode(text, form="PNG", width=None, **options):
        image = Image.new("L", (width or 8 * len(text) + 8, 16), 255)
        ImageDraw.Draw(image).text((4, 2), text, fill=0)
        file = BytesIO()
        image.save(file, form, **options)
        return file.getvalue()

    return encode


@pytest.fixture
def make_samples(draw):
    """Samples of some set, `a0`, `a1`, ... longer and longer."""

    def make(name, count):
        texts = [name + str(number) + "x" * (number % 7) for number in range(count)]
        return tuple(Sample(draw(text), text, set=name, key=text) for text in texts)

    return make
