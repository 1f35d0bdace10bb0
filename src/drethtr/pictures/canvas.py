"""A drawing of rectangles, text and images that can be written as SVG or PNG."""

from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from PIL import Image, ImageDraw

from drethtr.base.errors import DataError
from drethtr.base.files import write_bytes, write_text
from drethtr.documents.html import png_uri
from drethtr.documents.markup import clean
from drethtr.pictures.contact_sheet import caption_font, in_rows

Color: TypeAlias = tuple[int, int, int]

BLACK: Color = (20, 20, 20)
GRAY: Color = (120, 120, 120)
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
"""The text anchors of SVG with their equivalents in Pillow."""


@dataclass(frozen=True)
class Rectangle:
    """A filled rectangle; `opacity` from 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float
    color: Color
    opacity: float = 1.0

    def svg(self) -> str:
        place = f"x='{self.left:.1f}' y='{self.top:.1f}' "
        width, height = max(self.right - self.left, 0), max(self.bottom - self.top, 0)
        size = f"width='{width:.1f}' height='{height:.1f}'"
        return f"<rect {place}{size} fill='rgb{self.color}' fill-opacity='{self.opacity:g}'/>"

    def draw(self, picture: Image.Image) -> None:
        box = tuple(map(round, (self.left, self.top, self.right, self.bottom)))
        left, top, right, bottom = box
        if left < right and top < bottom:
            place = picture.crop((left, top, right, bottom))
            picture.paste(Image.blend(place, Image.new("RGB", place.size, self.color), self.opacity), (left, top))


@dataclass(frozen=True)
class Label:
    """Text on a baseline with a font size in pixels; `anchor` is one of `ANCHORS`."""

    x: float
    y: float
    text: str
    pixels: int = 12
    color: Color = BLACK
    anchor: str = "start"

    def svg(self) -> str:
        place = f"x='{self.x:.1f}' y='{self.y:.1f}' font-size='{self.pixels}' text-anchor='{self.anchor}'"
        return f"<text {place} fill='rgb{self.color}' xml:space='preserve'>{escape(clean(self.text))}</text>"

    def draw(self, picture: Image.Image) -> None:
        font = caption_font(self.pixels)
        place = (self.x, self.y)
        anchor = ANCHORS[self.anchor]
        ImageDraw.Draw(picture).text(place, in_rows(self.text), fill=self.color, font=font, anchor=anchor)


@dataclass(frozen=True)
class Photo:
    """An image, placed by its upper left corner."""

    left: float
    top: float
    image: Image.Image

    def svg(self) -> str:
        place = f"x='{self.left:.1f}' y='{self.top:.1f}' width='{self.image.width}' height='{self.image.height}'"
        return f"<image {place} href='{png_uri(self.image)}'/>"

    def draw(self, picture: Image.Image) -> None:
        picture.paste(self.image, (round(self.left), round(self.top)))


@dataclass(frozen=True)
class Canvas:
    """Shapes on white, later ones on top."""

    width: int
    height: int
    shapes: tuple[Rectangle | Label | Photo, ...]

    def to_image(self) -> Image.Image:
        """Render the drawing as an image."""
        picture = Image.new("RGB", (self.width, self.height), "white")
        for shape in self.shapes:
            shape.draw(picture)
        return picture

    def to_svg(self) -> str:
        """The drawing as a self-contained SVG file."""
        size = f"width='{self.width}' height='{self.height}' viewBox='0 0 {self.width} {self.height}'"
        head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family='DejaVu Sans, Helvetica, sans-serif'>"
        inside = "\n".join(["<rect width='100%' height='100%' fill='white'/>", *(s.svg() for s in self.shapes)])
        return f"{head}\n{inside}\n</svg>\n"

    def save(self, path: Path) -> None:
        """Write an .svg or .png file.

        Raises:
            DataError: for any other extension, or if it cannot be written.
        """
        ending = path.suffix.lower()
        if ending == ".svg":
            write_text(path, self.to_svg())
        elif ending == ".png":
            content = BytesIO()
            self.to_image().save(content, "PNG", optimize=True)
            write_bytes(path, content.getvalue())
        else:
            raise DataError("choose a name ending in .svg or .png", path)
