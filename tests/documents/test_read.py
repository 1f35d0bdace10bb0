import json
from dataclasses import replace
from io import BytesIO

import pytest
from page_examples import document_of, letter_page, line_of
from PIL import Image, ImageFile
from real_data import PAGES, needs_pages

from drethtr.base.errors import DataError
from drethtr.documents import FORMATS, Page, Region, image_beside, read_page
from drethtr.documents.page import MAX_LINES
from drethtr.images.line import load_line
from drethtr.images.page import open_pages


def test_an_image_is_a_page_without_lines(tmp_path):
    Image.new("L", (30, 20)).save(tmp_path / "a.png")
    assert read_page(tmp_path / "a.png") == Page("a.png", 30, 20)


@pytest.mark.parametrize("ending", ["jpg", "webp"])
def test_other_metadata_turn_an_image_as_well(tmp_path, ending):
    tag = '<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/>'
    Image.new("RGB", (30, 20)).save(tmp_path / f"a.{ending}", xmp=tag.encode())
    [source] = open_pages(tmp_path / f"a.{ending}")
    page = read_page(tmp_path / f"a.{ending}")
    assert (page.width, page.height) == source.size() == source.gray().shape[::-1] == (20, 30)


def test_an_image_that_claims_to_be_endless_is_damaged(tmp_path):
    file = BytesIO()
    Image.new("L", (40, 30)).save(file, "JPEG2000")
    before, after = file.getvalue().split(b"jp2h")
    endless = before[:-4] + b"\0\0\0\1jp2h" + (2**62).to_bytes(8, "big") + after
    (tmp_path / "a.jp2").write_bytes(endless)
    for read in (read_page, open_pages, load_line):
        with pytest.raises(DataError, match=r"a\.jp2: .*needs more memory to decode than is available"):
            read(tmp_path / "a.jp2")


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_the_size_of_an_image_is_in_its_header(tmp_path, ending, monkeypatch):
    image = Image.new("L", (30, 20))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / f"turned.{ending}", exif=exif)
    image.save(tmp_path / f"plain.{ending}")
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda image: 1 / 0)
    found = [read_page(tmp_path / f"{name}.{ending}") for name in ("turned", "plain")]
    assert [(page.width, page.height) for page in found] == [(20, 30), (30, 20)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "neither PAGE XML, ALTO nor JSON, and not an image in a supported format"),
        (b"", "neither PAGE XML, ALTO nor JSON, and the file is empty; copy it again"),
        (b"<mets/>", "neither PAGE XML nor ALTO: the root element is 'mets'"),
        (b"<PcGts/>", "PAGE XML with unknown namespace ''"),
        (b"{", "not valid JSON"),
        (
            b'{"format": "drethtr page 2"}',
            "its format is 'drethtr page 2', not 'drethtr page 1'; use the version of drethtr that wrote it",
        ),
        (b'{"format": null}', "its format is 'None', not 'drethtr page 1'"),
        (b"{}", "not a page written by drethtr: KeyError: 'width'"),
        (
            b'{"image": "a", "width": 1e999, "height": 1, "regions": []}',
            "size of a page must be 0 to 1,000,000 pixels, not inf",
        ),
        (b'{"image": "a", "width": -1, "height": 1, "regions": []}', "0 to 1,000,000 pixels, not -1"),
        (b'{"image": "a", "width": 1%s, "height": 1, "regions": []}' % (b"0" * 400), "pixels, not 1000"),
        (
            b'{"image": "a", "width": 9, "height": 9, "regions": [{"id": "r", "polygon": null, "lines": [{"id": "l", '
            b'"text": "a", "words": [], "confidence": NaN, "polygon": null, "baseline": null}]}]}',
            "confidence: 'nan' is not a number",
        ),
        (b"\x89PNG\r\n\x1a\n", "an image"),
    ],
)
def test_what_is_no_page_is_named(data, message, tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf"^{path}: .*{message}"):
        read_page(path)


@pytest.mark.parametrize("format", ["page", "alto", "json"])
def test_a_file_that_is_too_large_is_called_so_in_every_format(format, tmp_path, monkeypatch):
    """And not broken, because only its beginning was read."""
    for module in ("read", "markup"):
        monkeypatch.setattr(f"drethtr.documents.{module}.MAX_BYTES", 300)
    (tmp_path / "a").write_bytes(FORMATS[format].write(document_of(letter_page())))
    with pytest.raises(DataError, match=r"a: exceeds the limit of 300 bytes for page files$"):
        read_page(tmp_path / "a")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.xml: cannot be read: No such file"):
        read_page(tmp_path / "none.xml")


@pytest.mark.parametrize("format", ["page", "alto", "json"])
@pytest.mark.parametrize("mark", [b"", b"\n  ", b"\xef\xbb\xbf"])
def test_the_kind_of_a_file_is_seen_from_its_beginning(format, mark, tmp_path):
    path = tmp_path / "a.dat"
    data = FORMATS[format].write(document_of(letter_page()))
    path.write_bytes((b"" if mark == b"\n  " and data.startswith(b"<?xml") else mark) + data)
    assert read_page(path).text == letter_page().text


@pytest.mark.parametrize("place", ["a.jpg", "../a.jpg", "../images/a.jpg", "0001.png", "../0001.tif", "../0001.ppm"])
def test_images_are_found_where_programs_keep_them(place, tmp_path):
    for name in ("page", "images"):
        (tmp_path / name).mkdir()
    Image.new("L", (3, 2)).save(tmp_path / "page" / place)
    found = image_beside(tmp_path / "page" / "0001.alto.xml", "a.jpg")
    assert found.samefile(tmp_path / "page" / place)


def test_the_whole_name_of_a_file_comes_before_its_beginning(tmp_path):
    """Else a page of a volume would be read on the volume's cover."""
    path = tmp_path / "page" / "vol.0012.xml"
    path.parent.mkdir()
    found = []
    for name in ("page/vol.jpg", "page/vol.0012.jpg", "other.jpg"):
        Image.new("L", (3, 2)).save(tmp_path / name)
        found.append(image_beside(path, "other.jpg").name)
    assert found == ["vol.jpg", "vol.0012.jpg", "other.jpg"]


@pytest.mark.parametrize("name", ["0001.JPG", "0001.TIF"])
def test_images_with_capital_endings_are_found(name, tmp_path):
    Image.new("L", (3, 2)).save(tmp_path / name)
    assert image_beside(tmp_path / "0001.xml", "a" * 300) == tmp_path / name


@pytest.mark.parametrize("image", ["../secret.png", "/etc/secret.png"])
def test_json_leads_to_no_other_folder(image, tmp_path):
    """Nor beyond its page."""
    data = json.loads(FORMATS["json"].write(document_of(letter_page())))
    data["image"] = image
    data["regions"][0]["lines"][0] |= {"polygon": [[-5, 10], [9e9, 10], [9, 90]], "baseline": [[1, 1], [1, 1]]}
    (tmp_path / "a.json").write_text(json.dumps(data))
    page = read_page(tmp_path / "a.json")
    assert page.image == "secret.png" and page.lines[0].baseline is None
    assert page.lines[0].polygon == ((0, 10), (800, 10), (9, 90))


@needs_pages
@pytest.mark.parametrize("path", sorted(PAGES.glob("*.xml")), ids=lambda path: path.name)
def test_real_pages_read_as_their_text(path):
    page = read_page(path)
    with Image.open(image_beside(path, page.image)) as image:
        assert image.size == (page.width, page.height)
    assert page.text.strip() == path.with_name(path.name.replace(".alto.xml", ".txt")).read_text().strip()
    assert all(line.polygon and line.baseline for line in page.lines)


@pytest.mark.parametrize("format", ["page", "alto", "json"])
def test_a_page_of_too_many_lines_is_refused(format, tmp_path):
    line = line_of("a")
    many = Page("a.png", 900, 900, (Region("r", tuple(replace(line, id=f"l{n}") for n in range(MAX_LINES + 1))),))
    (tmp_path / "a.xml").write_bytes(FORMATS[format].write(document_of(many)))
    with pytest.raises(DataError, match=r"^[^:]*a\.xml: has 10,001 lines; a page may have 10,000: split it"):
        read_page(tmp_path / "a.xml")
