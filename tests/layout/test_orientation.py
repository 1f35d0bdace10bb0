"""Descriptions of stored and of upright pixels, in every orientation that a camera writes."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from made_pages import TEXTS, blank, overlap, write
from PIL import Image, ImageOps

from drethtr.documents import Page, Region, TextLine
from drethtr.documents.points import Box, upright
from drethtr.images.page import PageSource
from drethtr.layout.orientation import on_scan, orientation_of

ORIENTATION = 0x0112
SHAPES = {"tall": (420, 560), "wide": (700, 300), "square": (500, 500)}
PARTS = {"both": {}, "baselines": {"polygon": None}, "polygons": {"baseline": None}}


@cache
def stored(shape):
    """A page as its pixels are stored, and its lines there: more of them at the top, so that it is not symmetric."""
    width, height = SHAPES[shape]
    made = write(blank(width, height), [text[:18] for text in TEXTS[:3]], left=30, top=24, size=30, pitch=60)
    lines = []
    for number, line in enumerate(made.lines):
        left, _, right, bottom = line.box
        baseline = ((left, bottom - 9), (right, bottom - 9))
        lines.append(TextLine(f"l{number}", Box(*line.box).polygon(), baseline))
    return made.image, Page("p.png", width, height, (Region("r", tuple(lines)),))


@pytest.fixture(scope="module")
def photograph(tmp_path_factory):
    """The file of a page with an orientation in its EXIF data, and its upright pixels."""
    folder = tmp_path_factory.mktemp("photographs")

    @cache
    def made(shape, orientation, ending):
        image, _ = stored(shape)
        exif = image.getexif()
        exif[ORIENTATION] = orientation
        path = folder / f"{shape}{orientation}.{ending}"
        image.save(path, exif=exif)
        return PageSource(path), PageSource(path).gray()

    return made


MEMBERS = list(product(SHAPES, range(1, 9), ("png", "tif", "jpg"), PARTS, (True, False)))


@pytest.mark.parametrize(("shape", "ending"), list(product(SHAPES, ("png", "tif", "jpg"))))
def test_lines_lie_on_their_ink_whichever_pixels_are_described(photograph, shape, ending):
    """Nobody says which pixels are meant: 48 descriptions of each image."""
    members = [member for member in MEMBERS if member[0] == shape and member[2] == ending]
    assert len(MEMBERS) >= 400 and len(members) == 48
    for _, orientation, _, part, of_stored in members:
        source, gray = photograph(shape, orientation, ending)
        _, page = stored(shape)
        right = page.turned(orientation) if orientation != 1 else page
        described = page if of_stored else replace(right, orientation=1)
        placed = on_scan(described.with_lines(lambda line, part=part: replace(line, **PARTS[part])), source, gray)
        expected = right.with_lines(lambda line, part=part: replace(line, **PARTS[part]))
        case = f"{shape} {orientation} {ending} {part} {'stored' if of_stored else 'upright'}"
        assert placed.lines == expected.lines, case
        assert placed.as_described().resized(described.width, described.height).lines == tuple(
            replace(line, **PARTS[part]) for line in described.lines
        ), case


@pytest.mark.parametrize("orientation", range(1, 9))
def test_points_go_where_pillow_takes_their_pixels(orientation):
    pixels = np.zeros((40, 60), np.uint8)
    pixels[10, 21] = 255
    image = Image.fromarray(pixels)
    image.getexif()[ORIENTATION] = orientation
    turned = np.asarray(ImageOps.exif_transpose(image))
    [row], [column] = np.nonzero(turned)
    corners = [upright((x, y), orientation, 60, 40) for x, y in ((21, 10), (22, 11))]
    assert [tuple(map(min, zip(*corners, strict=True)))] == [(column, row)]


def test_lines_are_cut_along_their_writing(photograph):
    """Also on a photograph of which only the orientation is wrong."""
    source, gray = photograph("wide", 3, "jpg")
    _, page = stored("wide")
    placed = on_scan(page, source, gray)
    for line, own in zip(placed.lines, page.lines, strict=True):
        left, top, right, bottom = own.box
        assert overlap((700 - right, 300 - bottom, 700 - left, 300 - top), line.polygon) > 0.9
        assert line.baseline[0][0] > line.baseline[-1][0]


def test_an_upright_image_is_not_looked_at(photograph):
    source, _ = photograph("square", 1, "png")
    assert orientation_of(stored("square")[1], source, lambda: 1 / 0) == 1
