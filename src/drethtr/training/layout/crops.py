"""Crops of marked pages with the maps to learn, augmented and grouped into batches.

A crop is drawn from the page by an affine map, and its targets from the points of the layout under the same map, so
that they stay sharp at any scale and angle.

B crops of S x S pixels; maps other than the cores have a quarter of their height and width.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from drethtr.base.arrays import Floats
from drethtr.base.config import check_positive
from drethtr.base.errors import ConfigError
from drethtr.images.geometry import area_of, length_of, points_along
from drethtr.images.line import Line
from drethtr.layout.finder import FoundLine, MarkedPage, Role
from drethtr.layout.given import core_height
from drethtr.layout.network import COARSE, MAPS, MULTIPLE, TEXT
from drethtr.training.feed.mixture import Mixture

UNKNOWN = 255
"""In a target: this place does not contribute to the loss."""

ON, END = 1, 2
"""In the drawing of lines: the core of a line, and the place before or after it."""

STEP = 8.0
"""Distance of the points of a baseline, in pixels of the page."""

FADING = 0.05
"""How far a band extends below the baseline, relative to its thickness."""

CROP = 1
"""Separates these random numbers from those of synthetic pages, which may have the same seed."""

TURNED, STEEP, NEGATIVE, GHOST = 0.04, 0.1, 0.05, 0.15
"""Shares of crops that are turned by a quarter, tilted much, light on dark, and that show the back of a page."""


@dataclass(frozen=True, kw_only=True)
class CropConfig:
    """The crops to learn from.

    side      of a crop in pixels
    batch     crops of a step, each of another page
    per_page  crops of each page, in batches that follow each other
    smallest, largest  longer side to which a page is scaled before it is cropped, as the finder does with 1280 or 1920
    """

    side: int = 448
    batch: int = 4
    per_page: int = 4
    smallest: int = 900
    largest: int = 1900

    def __post_init__(self) -> None:
        check_positive(self, "side", "batch", "per_page", "smallest")
        if self.side % MULTIPLE:
            raise ConfigError(f"side must be a multiple of {MULTIPLE}, not {self.side}")
        if self.largest < self.smallest:
            raise ConfigError(f"largest must be at least smallest ({self.smallest}), not {self.largest}")


class Crops(NamedTuple):
    """A batch.

    grays  uint8 (B, S, S)
    cores  uint8 (B, S, S): `ON` in the core of a line, `END` beside its ends
    maps   uint8 (B, maps, S/4, S/4): text as the cores, roles 0, 1 or `UNKNOWN`
    """

    grays: NDArray[np.uint8]
    cores: NDArray[np.uint8]
    maps: NDArray[np.uint8]


class Band(NamedTuple):
    """The core of a line as a polygon, polygons beside both of its ends, and its role."""

    core: Floats
    ends: tuple[Floats, Floats]
    role: Role | None


class Traced(NamedTuple):
    """A page and the shapes to draw on its maps."""

    page: Line
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class CropBatches:
    """Batches of crops by the number of their chunk: a chunk is `per_page` batches of the same pages."""

    mixture: Mixture[MarkedPage]
    config: CropConfig

    def __getitem__(self, chunk: int) -> list[Crops]:
        """The batches of a chunk.

        Raises:
            DataError: if a page cannot be used.
        """
        wanted, crops = self.config, []
        for number in range(chunk * wanted.batch, (chunk + 1) * wanted.batch):
            page = traced(self.mixture.sample(number))
            rng = np.random.default_rng((self.mixture.seed, number, CROP))
            crops.append([crop(page, wanted, rng) for _ in range(wanted.per_page)])
        return [Crops(*map(np.stack, zip(*batch, strict=True))) for batch in zip(*crops, strict=True)]


def traced(marked: MarkedPage) -> Traced:
    """The shapes of a page."""
    layout = marked.layout
    core = core_height(marked.page, [line.baseline for line in layout.lines]) if layout.lines else 1.0
    bands = tuple(band_of(line, core) for line in layout.lines if len(line.baseline) > 1)
    return Traced(marked.page, bands)


def band_of(line: FoundLine, core: float) -> Band:
    """The core of a line on a page whose lines usually have cores of the height `core`."""
    points = points_along(line.baseline, STEP)
    steps = np.gradient(points, axis=0)
    steps /= np.maximum(np.hypot(*steps.T), 1e-9)[:, None]
    up = np.stack((steps[:, 1], -steps[:, 0]), axis=1)
    # An outline includes ascenders and descenders: the core is about 0.42 of its mean height. Outlines are rough, so
    # the mean of a line's own height and the usual one is used. The original network sees cores of this height: along
    # 36 to 234 lines of four collections, its mean output is above a half from the baseline to 1.05 of it (LOG.md,
    # 2026-11-27, night).
    own = 0.42 * area_of(line.polygon) / max(STEP, length_of(points))
    height = float(np.clip((own + core) / 2, 0.6 * core, 1.6 * core)) if len(line.polygon) > 2 else core
    lower, upper = points - FADING * height * up, points + height * up
    # Beyond both ends of the core, where the loss weighs more, so that lines on one row do not merge.
    ends = []
    for place, outward in ((0, -steps[0]), (-1, steps[-1])):
        middle, across = points[place] + 0.5 * height * up[place], 0.9 * height * up[place]
        far = middle + 1.3 * height * outward
        ends.append(np.stack((middle + across, far + across, far - across, middle - across)))
    return Band(np.concatenate((lower, upper[::-1])), (ends[0], ends[1]), line.role)


def crop(page: Traced, config: CropConfig, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """A random crop of a page with its targets."""
    to_page = placement(page, config, rng)
    side = config.side
    paper = int(np.median(page.page[::16, ::16]))
    grays = taken(page.page, to_page, side, paper)
    if rng.random() < GHOST:
        behind = taken(page.page[:, ::-1], placement(page, config, rng), side, paper)
        grays = shining_through(grays, behind, paper, rng)
    to_crop = np.linalg.inv(np.vstack((to_page, (0, 0, 1))))[:2]
    cores, maps = targets(page, to_crop, side)
    return toned(grays, rng), cores, maps


def placement(page: Traced, config: CropConfig, rng: np.random.Generator) -> Floats:
    """A random affine map (2, 3) from places in a crop to places on the page, mostly of writing."""
    height, width = page.page.shape
    scale = math.exp(rng.uniform(math.log(config.smallest), math.log(config.largest))) / max(height, width)
    tilt = rng.normal(0, 2) if rng.random() >= STEEP else rng.uniform(-12, 12)
    angle = math.radians(tilt + 90 * rng.choice((-1, 1)) * (rng.random() < TURNED))
    center = rng.uniform(0, 1, 2) * (width, height)
    # Most of a page is paper, which is learned quickly; the other crops show edges, tables and covers.
    if page.bands and rng.random() < 0.85:
        core = page.bands[rng.integers(len(page.bands))].core
        center = core[rng.integers(len(core))] + rng.normal(0, 60 / scale, 2)
    cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
    turn = np.array(((cos, sin), (-sin, cos))) * (rng.uniform(0.93, 1.07), 1.0)
    return np.column_stack((turn, center - turn @ np.full(2, config.side / 2)))


def taken(page: Line, to_page: Floats, side: int, fill: int) -> NDArray[np.float32]:
    """A crop of a page, from 0 to 1."""
    coefficients = tuple(to_page.ravel().tolist())
    drawn = Image.fromarray(np.ascontiguousarray(page)).transform(
        (side, side), Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR, fillcolor=fill
    )
    return np.asarray(drawn, dtype=np.float32) / np.float32(255)


def shining_through(
    grays: NDArray[np.float32], behind: NDArray[np.float32], paper: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """A crop with the writing of the back of another one, faint and blurred."""
    ink = np.clip(paper / 255 - behind, 0, 1)
    soft = Image.fromarray((255 * ink).astype(np.uint8)).filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 2.5)))
    return grays - np.asarray(soft, dtype=np.float32) * np.float32(rng.uniform(0.1, 0.45) / 255)


def toned(x: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.uint8]:
    """A crop with other tones, light and noise."""
    x = np.clip(x, 0, 1)
    if rng.random() < 0.5:
        x = x ** np.float32(math.exp(rng.normal(0, 0.35)))
    if rng.random() < 0.6:
        x = (x - 0.5) * np.float32(rng.uniform(0.55, 1.2)) + np.float32(0.5 + rng.normal(0, 0.1))
    if rng.random() < 0.3:
        first, last = rng.uniform(-0.25, 0.1, 2).tolist()
        light = np.linspace(first, last, len(x), dtype=np.float32)
        x = x + (light[None] if rng.random() < 0.5 else light[:, None])
    if rng.random() < 0.25:
        x = x + rng.normal(0, rng.uniform(0.01, 0.06), x.shape).astype(np.float32)
    if rng.random() < NEGATIVE:
        x = 1 - x
    return np.rint(255 * np.clip(x, 0, 1)).astype(np.uint8)


def targets(page: Traced, to_crop: Floats, side: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The targets of a crop that `to_crop` (2, 3) maps the page to: of the cores, and of the other maps."""
    coarse = side // COARSE
    cores, text, roles = Drawing(side, to_crop), *(Drawing(coarse, to_crop / COARSE) for _ in range(2))
    for band in page.bands:
        for end in band.ends:
            cores.fill(end, END)
            text.fill(end, END)
    for band in page.bands:
        cores.fill(band.core, ON)
        text.fill(band.core, ON)
        roles.fill(band.core, UNKNOWN if band.role is None else 1 + list(Role).index(band.role))
    maps = np.zeros((len(MAPS), coarse, coarse), dtype=np.uint8)
    maps[TEXT] = text.array
    known = (roles.array > 0) & (roles.array < UNKNOWN)
    for number in range(len(Role)):
        maps[TEXT + 1 + number] = np.where(known, roles.array == number + 1, UNKNOWN)
    return cores.array, maps


class Drawing:
    """A square target under construction; `place` (2, 3) maps points of the page into it."""

    def __init__(self, side: int, place: Floats) -> None:
        self.image = Image.new("L", (side, side))
        self.draw = ImageDraw.Draw(self.image)
        self.place = place

    @property
    def array(self) -> NDArray[np.uint8]:
        """What is drawn, (side, side)."""
        return np.asarray(self.image)

    def fill(self, polygon: Floats, value: int) -> None:
        """Fill a polygon, unless it is far away."""
        points = [(x, y) for x, y in (polygon @ self.place[:, :2].T + self.place[:, 2]).tolist()]
        xs, ys = zip(*points, strict=True)
        if max(xs) >= 0 and max(ys) >= 0 and min(xs) < self.image.width and min(ys) < self.image.height:
            self.draw.polygon(points, fill=value)
