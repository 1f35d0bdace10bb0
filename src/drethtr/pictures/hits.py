"""A picture of search hits: for each, a strip of the scan with the word marked."""

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from drethtr.base.errors import DataError
from drethtr.documents.points import Box
from drethtr.images.page import open_pages
from drethtr.pictures.canvas import BLACK, Canvas, Color, Label, Photo, Rectangle
from drethtr.pictures.contact_sheet import shortened
from drethtr.search import Hit

WIDTH, HEIGHT = 900, 60
"""Size of a strip in pixels."""

MARGIN = 10
CAPTION, LETTERS = 20, 13
MARK: Color = (255, 190, 0)
OPACITY = 0.35


class Cut(NamedTuple):
    """A strip of a page, and the left and right edge of the word in it."""

    image: Image.Image
    left: float
    right: float


def draw_hits(hits: Sequence[Hit]) -> Canvas:
    """Draw hits, one below the other.

    Raises:
        DataError: if a scan cannot be read, or a hit is not on it.
    """
    cuts = cut_all(hits)
    shapes: list[Rectangle | Label | Photo] = []
    top = MARGIN
    for hit, cut in zip(hits, cuts, strict=True):
        bottom = top + cut.image.height
        shapes.append(Photo(MARGIN, top, cut.image))
        shapes.append(Rectangle(MARGIN + cut.left, top, MARGIN + cut.right, bottom, MARK, OPACITY))
        page = f"{hit.page.name} page {hit.number}" if hit.number > 1 else hit.page.name
        caption = f"{hit.probability:4.2f}  {page}  {hit.snippet}"
        shapes.append(Label(MARGIN, bottom + CAPTION - 5, shortened(caption), LETTERS, BLACK))
        top = bottom + CAPTION + MARGIN
    return Canvas(WIDTH + 2 * MARGIN, top, tuple(shapes))


def cut_all(hits: Sequence[Hit]) -> list[Cut]:
    """Cut out the strips of all hits, opening each page once."""
    places = sorted(range(len(hits)), key=lambda place: (hits[place].page, hits[place].number))
    cuts: dict[int, Cut] = {}
    known, page = None, None
    for place in places:
        hit = hits[place]
        if page is None or known != (hit.page, hit.number):
            pages = open_pages(hit.page)
            if len(pages) < hit.number:
                raise DataError(f"has no page {hit.number} any more; run drethtr index again", hit.page)
            known, page = (hit.page, hit.number), pages[hit.number - 1].image().convert("RGB")
        cuts[place] = cut_out(page, hit)
    return [cuts[place] for place in range(len(hits))]


def cut_out(page: Image.Image, hit: Hit) -> Cut:
    """Cut out the strip of a hit, as high as the word, as wide as the picture, with the word centered if possible.

    Raises:
        DataError: if the word is not on the page.
    """
    # The index may come from someone else, or be older than the scan.
    left, right = (min(max(edge, 0), page.width) for edge in (hit.box.left, hit.box.right))
    top, bottom = (min(max(edge, 0), page.height) for edge in (hit.box.top, hit.box.bottom))
    box = Box(left, top, right, bottom)
    if box.width < 1 or box.height < 1:
        raise DataError(f"has nothing on page {hit.number} where the index says; run drethtr index again", hit.page)
    scale = HEIGHT / box.height
    width = min(round(WIDTH / scale), page.width)
    left = min(max((box.left + box.right - width) // 2, 0), page.width - width)
    strip = page.crop((left, box.top, left + width, box.bottom))
    strip = strip.resize((max(round(width * scale), 1), HEIGHT), Image.Resampling.LANCZOS)
    return Cut(strip, (box.left - left) * scale, (box.right - left) * scale)
