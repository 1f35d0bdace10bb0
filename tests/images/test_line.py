"""Whatever is given becomes a gray line image with dark ink on light paper, or one clear error."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.TiffImagePlugin import AppendingTiffWriter

from drethtr.base.errors import DataError, first_line
from drethtr.images.decode import MAX_PIXELS
from drethtr.images.line import load_line


def written(height=20, width=60, ink=0, paper=255):
    """Paper with one upright stroke in the left half."""
    line = np.full((height, width), paper, np.uint8)
    line[5:15, 10:14] = ink
    return line


def encoded(image, kind="PNG", **options):
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "GIF", "PPM", "WEBP", "JPEG2000"])
def test_path_string_bytes_image_and_array_give_the_same_line(kind, tmp_path):
    image = Image.fromarray(written())
    data = encoded(image, kind, **({"lossless": True} if kind == "WEBP" else {}))
    path = tmp_path / "line"
    path.write_bytes(data)
    for source in (path, str(path), data, image, written()):
        np.testing.assert_array_equal(load_line(source), written())


def test_a_second_page_is_not_lost(tmp_path):
    """A smaller copy of the first is none."""
    image = Image.fromarray(written())
    book = encoded(image, "TIFF", save_all=True, append_images=[image])
    (tmp_path / "book.tif").write_bytes(book)
    for source in (book, tmp_path / "book.tif"):
        with pytest.raises(DataError, match="a TIFF with several pages; use drethtr transcribe to read them"):
            load_line(source)
    with AppendingTiffWriter(tmp_path / "scan.tif", new=True) as file:
        for page, tags in ((image, {}), (image.resize((9, 9)), {254: 1})):
            page.save(file, "TIFF", tiffinfo=tags)
            file.newFrame()
    np.testing.assert_array_equal(load_line(tmp_path / "scan.tif"), written())


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "HSV", "I", "F"])
def test_every_mode_becomes_gray(mode):
    line = load_line(Image.fromarray(written()).convert("RGB").convert("L").convert(mode))
    np.testing.assert_allclose(line, written(), atol=2)
    assert line.dtype == np.uint8


def test_transparent_places_are_paper():
    pixels = np.zeros((20, 60, 4), np.uint8)
    pixels[..., 3] = 255 - written()
    np.testing.assert_array_equal(load_line(Image.fromarray(pixels)), written())
    np.testing.assert_array_equal(load_line(pixels), written())


def test_transparent_palette_entry_is_paper():
    image = Image.fromarray((written() == 0).astype(np.uint8)).convert("P")
    image.putpalette([0, 0, 255, 0, 0, 0])
    line = load_line(encoded(image, transparency=0))
    np.testing.assert_array_equal(line, written())


@pytest.mark.parametrize("bits", [10, 12, 16])
def test_deep_grays_are_scaled_by_the_bits_in_use(bits, tmp_path):
    deep = written().astype(np.uint16) * ((2**bits - 1) // 255)
    deep[0, 0] = 2**bits - 1
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_allclose(load_line(tmp_path / "deep.png"), written(), atol=6)
    np.testing.assert_array_equal(load_line(deep), load_line(tmp_path / "deep.png"))


@pytest.mark.parametrize(
    "array",
    [written() / 255, written().astype(np.float32), written() > 0, written().astype(int), written()[:, :, None]],
    ids=["0 to 1", "0 to 255", "boolean", "int64", "one channel"],
)
def test_arrays_are_scaled_by_type(array):
    np.testing.assert_array_equal(load_line(array), written())


def test_colored_float_array_is_weighed_like_an_image():
    red = np.ones((20, 60, 3))
    red[5:15, 10:14, 1:] = 0
    assert load_line(red)[7, 11] == 76
    assert load_line(red)[0, 0] == 255


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_exif_orientation_is_obeyed(tmp_path, ending):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.rot90(written()).copy()).save(tmp_path / f"turned.{ending}", exif=exif)
    np.testing.assert_array_equal(load_line(tmp_path / f"turned.{ending}"), written())


def test_given_array_is_not_shared():
    given_array = written()
    load_line(given_array)[:] = 7
    np.testing.assert_array_equal(given_array, written())


@pytest.mark.parametrize(("ink", "paper"), [(0, 255), (60, 100), (150, 250), (5, 60)])
def test_light_writing_is_turned_over_and_dark_writing_is_not(ink, paper):
    """Also on paper that is itself dark, or for ink that is itself light."""
    dark = written(ink=ink, paper=paper)
    np.testing.assert_array_equal(load_line(dark), dark)
    np.testing.assert_array_equal(load_line(255 - dark), dark)


@pytest.mark.parametrize(("lightest", "turned"), [(186, False), (194, True)])
def test_in_doubt_ink_is_dark(lightest, turned):
    """On paper of gray 100 with ink of gray 40, light pixels are writing if 1.5 times as far away: above 190."""
    line = np.full((20, 100), 100, np.uint8)
    line[5, 10:40], line[9, 10:40] = 40, lightest
    np.testing.assert_array_equal(load_line(line), 255 - line if turned else line)


def test_blank_paper_with_grain_stays():
    grain = np.random.default_rng(0).integers(200, 220, (20, 60)).astype(np.uint8)
    grain[3, 5:25] = 230
    np.testing.assert_array_equal(load_line(grain), grain)
    np.testing.assert_array_equal(load_line(np.zeros((20, 60), np.uint8)), 0)


def broken_sources():
    png = encoded(Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 90)).astype(np.uint8)))
    bomb = b"P5 30000 30000 255\n"
    return {
        "truncated": (png[: len(png) // 2], "truncated"),
        "unknown": (b"no image at all", "supported format"),
        "heic": (
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            r"a HEIC photo; run: pip install 'drethtr\[heic\]', or convert it to JPEG|cannot be read",
        ),
        "empty bytes": (b"", "supported format"),
        "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "supported format"),
        "bomb": (bomb, "has more than 89,000,000 pixels; scale the image down"),
        "no rows": (np.zeros((0, 5), np.uint8), "empty"),
        "one dimension": (np.zeros(5, np.uint8), "height, width"),
        "five channels": (np.zeros((5, 5, 5), np.uint8), "channels"),
        "negative": (np.full((5, 5), -0.5), "-0.5"),
        "not a number": (np.full((5, 5), np.nan), "nan"),
        "infinite": (np.full((5, 5), np.inf), "inf"),
        "too bright": (np.full((5, 5), 300.0), "300"),
        "text": (np.full((5, 5), "a"), "integers"),
        "list": ([[1, 2]], "list"),
    }


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("case", broken_sources().values(), ids=broken_sources().keys())
def test_what_cannot_be_used_is_one_clear_error(case):
    source, said = case
    with pytest.raises(DataError, match=said) as caught:
        load_line(source)
    assert "\n" not in str(caught.value)


def test_too_many_pixels_are_refused_before_decoding():
    """Pillow itself would only warn at this size."""
    header = f"P5 {MAX_PIXELS // 1000} 1001 255\n".encode()
    with pytest.raises(DataError, match="89,000,000"):
        load_line(header)


def test_an_error_of_many_lines_or_none_becomes_one():
    assert first_line(OSError("torn\nin two places")) == "torn"
    assert first_line(EOFError()) == "EOFError"


def test_errors_name_the_file(tmp_path):
    (tmp_path / "torn.png").write_bytes(encoded(Image.fromarray(written()))[:60])
    for path in (tmp_path / "torn.png", tmp_path / "missing.png", tmp_path):
        with pytest.raises(DataError) as caught:
            load_line(path)
        assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(DataError, match="no such file"):
        load_line(Path("missing.png"))


@settings(max_examples=150)
@given(kind=st.sampled_from(["PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP"]), data=st.data())
@pytest.mark.filterwarnings("ignore")
def test_damaged_bytes_give_a_line_or_a_data_error(kind, data):
    damaged = bytearray(encoded(Image.fromarray(written()), kind))
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=6)):
        damaged[place] = data.draw(st.integers(0, 255))
    try:
        line = load_line(bytes(damaged))
    except DataError:
        return
    assert line.ndim == 2 and line.size > 0 and line.dtype == np.uint8
