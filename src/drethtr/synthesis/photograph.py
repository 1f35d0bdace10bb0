"""The picture of a sheet: on paper, which lies on a table, bent, in uneven light; its layout is bent with it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from drethtr.base.arrays import Floats
from drethtr.layout.finder import Layout, MarkedPage
from drethtr.synthesis.page_sheet import Edges, Sheet

BEND = 9
"""Rows and columns of the grid by which pages are bent."""


class Scene(NamedTuple):
    """The content of a picture: pages on a table, and a part of a facing page.

    pages     the boxes of the pages that are shown
    beside    the box of a facing page that the edge of the picture cuts off; empty if there is none
    bleeding  whether the other side of the paper shows
    """

    height: int
    width: int
    pages: tuple[Edges, ...]
    beside: Edges
    bleeding: bool

    @property
    def box(self) -> Edges:
        """The box around the pages."""
        return self.pages[0][0], self.pages[0][1], self.pages[-1][2], self.pages[0][3]

    @property
    def folds(self) -> tuple[float, ...]:
        """The columns of folds: of an opening, or before a facing page."""
        if self.facing:
            return (self.beside[2] if self.beside[0] <= 0 else self.beside[0],)
        return tuple(left for left, _, _, _ in self.pages[1:])

    @property
    def facing(self) -> bool:
        """Whether a facing page is visible."""
        return self.beside[2] > self.beside[0]


def photographed(sheet: Sheet, scene: Scene, facing: Sheet, rng: np.random.Generator) -> MarkedPage:
    """The picture of a sheet: on paper, which lies on a table, bent, in uneven light."""
    height, width = scene.height, scene.width
    paper, on_page = backgrounds(scene, rng)
    ink = drawn(sheet, rng)
    if scene.facing:
        columns = np.arange(width)
        is_beside = (columns >= scene.beside[0]) & (columns < scene.beside[2])
        ink = np.where(is_beside, drawn(facing, rng), ink)
    flow = ink.astype(np.float32) * np.float32(rng.uniform(0.45, 0.95) / 255)
    if scene.bleeding:
        back = Image.fromarray(np.roll(ink[:, ::-1], rng.integers(-40, 40, 2), (0, 1)))
        back = back.filter(ImageFilter.GaussianBlur(rng.uniform(0.8, 2.0)))
        flow = np.maximum(flow, np.asarray(back, np.float32) * np.float32(rng.uniform(0.08, 0.4) / 255))
    gray = paper * (1 - flow * on_page)
    gray += rng.standard_normal((height, width), dtype=np.float32) * np.float32(rng.uniform(0.5, 5))
    picture = Image.fromarray(gray.clip(0, 255).astype(np.uint8))
    bend = Bend.drawn(scene, rng)
    layout = Layout(
        tuple(
            line._replace(baseline=bend.forward(line.baseline), polygon=bend.forward(line.polygon))
            for line in sheet.lines
        ),
        tuple(sheet.regions),
    )
    return MarkedPage(np.asarray(bend.picture(picture)), layout)


def drawn(sheet: Sheet, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The ink of a sheet with its strokes, which tremble a little and break off in places."""
    strokes = Image.new("L", sheet.ink.shape[::-1])
    pen = ImageDraw.Draw(strokes)
    for stroke in sheet.strokes:
        pen.line([(x, y) for x, y in stroke.points.tolist()], fill=stroke.ink, width=stroke.width)
    faded = np.asarray(strokes, np.float32) * (0.85 + 0.15 * smooth(sheet.ink.shape, 24, rng)).clip(0.2, 1.1)
    ink: NDArray[np.uint8] = np.maximum(sheet.ink, faded.clip(0, 255).astype(np.uint8))
    return ink


def smooth(shape: tuple[int, ...], spot: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Noise of about unit variance, in spots of this many pixels."""
    height, width = shape
    noise = rng.standard_normal((height // spot + 3, width // spot + 3)).astype(np.float32)
    return np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BILINEAR))


def backgrounds(scene: Scene, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The tones of paper and table, and 1 where there is paper."""
    shape = scene.height, scene.width
    tone, uneven = rng.uniform(130, 250), rng.uniform(1, 6)
    table = rng.uniform(5, 110) if rng.random() < 0.75 else rng.uniform(150, 250)
    on_page = np.zeros(shape, np.float32)
    sides = [*scene.pages, *([scene.beside] if scene.facing else [])]
    for left, top, right, bottom in sides:
        on_page[round(top) : round(bottom), round(left) : round(right)] = 1
    paper = tone + uneven * smooth(shape, 64, rng) + 0.5 * uneven * smooth(shape, 7, rng)
    columns, rows = (
        np.linspace(-1, 1, scene.width, dtype=np.float32),
        np.linspace(-1, 1, scene.height, dtype=np.float32),
    )
    paper *= 1 + rng.normal(0, 0.05) * columns + rng.normal(0, 0.05) * rows[:, None]
    for fold in scene.folds:
        distance, reach = np.arange(scene.width) - fold, rng.uniform(0.01, 0.05) * scene.width
        shadow = rng.uniform(0.1, 0.6) * np.exp(-np.abs(distance) / reach) + rng.uniform(0, 0.5) * (
            np.abs(distance) < 1.5
        )
        paper *= (1 - shadow.clip(0, 0.9)).astype(np.float32)
    ground = table * (1 + 0.06 * smooth(shape, 90, rng))
    # Pages below the top one are visible at the edges of the book.
    for left, top, right, bottom in sides[:: rng.choice((1, -1))][:1] if rng.random() < 0.4 else ():
        for leaf in range(int(rng.integers(1, 5))):
            shift = 3 * (leaf + 1)
            ground[round(top) + shift : round(bottom) + shift, round(left) : round(right) + shift] *= 0.6
            ground[round(top) : round(bottom) + shift - 2, round(left) : round(right) + shift - 2] = tone * rng.uniform(
                0.7, 1
            )
    return ground + (paper - ground) * on_page, on_page


class Bend(NamedTuple):
    """How a picture is bent: for `BEND` x `BEND` grid points, the shift (x, y) to the flat point shown there."""

    width: int
    height: int
    shifts: Floats

    @classmethod
    def drawn(cls, scene: Scene, rng: np.random.Generator) -> "Bend":
        """A turn, a perspective, and a slight curl."""
        grid = np.linspace(-1, 1, BEND)
        x, y = np.meshgrid(grid, grid)
        side = max(scene.width, scene.height)
        turn, lean_x, lean_y = rng.normal(0, 0.008), rng.normal(0, 0.006), rng.normal(0, 0.006)
        curl = rng.normal(0, 0.006) * np.cos(x * rng.uniform(1, 4) + rng.uniform(0, 6))
        for fold in scene.folds:
            curl = curl + rng.normal(0, 0.012) * np.exp(-np.abs(x - (2 * fold / scene.width - 1)) * 5)
        across = turn * y * scene.height / 2 + side * lean_x * x * y
        down = -turn * x * scene.width / 2 + side * (lean_y * x * y + curl)
        waves = rng.normal(0, 0.0012, (2, BEND, BEND)) * side
        return cls(scene.width, scene.height, np.stack((across + waves[0], down + waves[1]), -1))

    def at(self, points: Floats) -> Floats:
        """The shifts at some points, between those of the grid."""
        # Just less than the last point of the grid, so that points at the edge are in its last cell.
        places = (points / (self.width, self.height) * (BEND - 1)).clip(0, BEND - 1.0001)
        cells = places.astype(int)
        x, y = (places - cells).T[:, :, None]
        column, row = cells.T
        corners = [self.shifts[row + below, column + right] for below in (0, 1) for right in (0, 1)]
        upper, lower = (corners[k] * (1 - x) + corners[k + 1] * x for k in (0, 2))
        found: Floats = upper * (1 - y) + lower * y
        return found

    def forward(self, points: Floats) -> Floats:
        """Where points of the flat picture are, on the bent one; the shifts are small, so a few steps find them."""
        bent = points
        for _ in range(8):
            bent = points - self.at(bent)
        return bent.clip(0, (self.width, self.height))

    def picture(self, flat: Image.Image) -> Image.Image:
        """The bent picture, with its edges extended outward."""
        spare = int(np.abs(self.shifts).max()) + 2
        flat = Image.fromarray(np.pad(np.asarray(flat), spare, mode="edge"))
        xs, ys = (np.linspace(0, side, BEND).round().astype(int).tolist() for side in (self.width, self.height))
        mesh = []
        for row in range(BEND - 1):
            for column in range(BEND - 1):
                corners = ((0, 0), (1, 0), (1, 1), (0, 1))  # as Pillow wants them: down the left, up the right
                quad = [
                    float(value)
                    for down, right in corners
                    for value in np.array((xs[column + right], ys[row + down]))
                    + self.shifts[row + down, column + right]
                    + spare
                ]
                mesh.append(((xs[column], ys[row], xs[column + 1], ys[row + 1]), quad))
        return flat.transform((self.width, self.height), Image.Transform.MESH, mesh, Image.Resampling.BILINEAR)
