"""AVIF and HEIC: read where their decoder is, else refused with a way out."""

import numpy as np
import pytest
from PIL import Image, features

from drethtr.base.errors import DataError
from drethtr.images import decode
from drethtr.images.line import load_line
from drethtr.images.page import open_pages

HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"
AVIF = b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf"


def check_read(path):
    """The file is read as a page, as a line and from its bytes, upright."""
    [page] = open_pages(path)
    gray = page.gray()
    assert page.size() == (80, 160) and gray.shape == (160, 80)
    assert gray[:40].mean() < 60 and gray[-40:].mean() > 200
    np.testing.assert_array_equal(load_line(path), load_line(path.read_bytes()))


def original():
    """An image of 160 × 80 pixels that is dark on the left."""
    image = Image.new("RGB", (160, 80), (240, 230, 200))
    image.paste((10, 20, 30), (0, 0, 80, 80))
    return image


def turned():
    """The orientation of a phone that was held sideways."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


@pytest.mark.skipif(not features.check("avif"), reason="Pillow has no decoder for AVIF")
def test_avif(tmp_path):
    original().save(tmp_path / "upright.avif", exif=turned())
    check_read(tmp_path / "upright.avif")


def test_heic(tmp_path):
    """Its decoder turns the pixels itself, and says so in place of the orientation."""
    pytest.importorskip("pillow_heif").register_heif_opener()
    original().rotate(-90, expand=True).save(tmp_path / "upright.heic", exif=turned())
    check_read(tmp_path / "upright.heic")


def test_a_missing_decoder_is_named(monkeypatch):
    monkeypatch.setattr(decode, "knows_heic", lambda: False)
    monkeypatch.setattr(decode.features, "check", lambda name: False)
    with pytest.raises(DataError, match=r"a HEIC photo; run: pip install 'drethtr\[heic\]', or convert it to JPEG"):
        load_line(HEIC)
    with pytest.raises(DataError, match=r"an AVIF image; update Pillow to 11\.3 or later, or convert it to JPEG"):
        load_line(AVIF)


def test_a_damaged_photograph_is_refused():
    for content in (HEIC, AVIF, HEIC[:10], b"\0\0\0\x18ftypisom\0\0\0\0mp42"):
        with pytest.raises(DataError):
            load_line(content)
