"""Line segmentation with a network, see `network.py`: the ridges of its map of the cores of lines.

Ridges are the lines, including curved ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from drethtr.base.errors import ConfigError
from drethtr.base.processors import free_processors
from drethtr.images.line import Line
from drethtr.layout.components import components
from drethtr.layout.finder import Finder, Layout, Role
from drethtr.layout.network import COARSE, MULTIPLE, SHIPPED, Map, Maps, look_at, open_lines
from drethtr.layout.outline import outline, reduced
from drethtr.layout.ridge import Ridge, cut, join, on_this_page, ridge_of, separating, typical_slope, weighted_median
from drethtr.layout.rules import find_rules, folds_among
from drethtr.layout.turn import turn_line
from drethtr.recognition.onnx.session import Session

LEVELS = (0.3, 0.5, 0.7, 0.85)
"""The threshold of a core, and higher levels at which touching cores are separated."""

SURE = 0.6
"""Minimum mean probability of a core; fainter ones are stains.

Compared with 0.5: 11.0 instead of 11.9 false lines per 100, and nearly as many found (LOG.md, 2026-11-27)."""

OF_TEXT = 0.8
"""Minimum mean probability that a line belongs to the text of the page, if the network has that map.

On 54 pages of seven collections 0.7, 0.8 and 0.85 leave 4.0, 3.6 and 3.3 false lines of 100, and find 91.6, 91.4 and
91.3 % (LOG.md, 2026-11-28)."""

LONG, OF_LONG = 10.0, 0.6
"""`OF_LONG` instead of `OF_TEXT` is enough for lines longer than `LONG` thicknesses, which are seldom anything else;
0.5 brings false lines back (LOG.md, 2026-11-27)."""

TABLE_RULES = 3
"""On pages with at least this many rules, a line with text in its row also counts as text; with two, more false lines
remain (hooker_en: 14.6 instead of 12.5 false lines of 100; LOG.md, 2026-11-27)."""

LIKELY = 0.5
"""Minimum mean probability of a role."""

THINNEST = 0.35
"""Minimum thickness of a core relative to the usual one; thinner cores are dust. At 0.5 lines are lost (LOG.md,
2026-11-27)."""

FAINTEST = 12.0
"""Minimum contrast between ink and paper in gray levels; on empty pages the network hallucinates. Doubling it changes
nothing on written pages (LOG.md, 2026-11-27)."""

FINE = 6.0
"""If cores are thinner than this many pixels, or none are found, a larger image is used, which takes more than twice as
long."""


@dataclass(frozen=True, kw_only=True)
class RapidDetector(Finder):
    """Detects text with a network and follows the ridges of its map.

    model            the file of the network; the included one if it is None
    side, fine_side  longer side of the network's input in pixels, usually and for small writing
    threads          to compute with; None for one per free processor
    """

    model: Path | None = None
    side: int = 1280
    fine_side: int = 1920
    threads: int | None = None

    def __post_init__(self) -> None:
        if not MULTIPLE <= self.side <= self.fine_side:
            raise ConfigError(f"{MULTIPLE} <= side <= fine_side must hold, not {self.side} and {self.fine_side}")

    def with_threads(self, threads: int) -> "RapidDetector":
        """The same detector with this many threads, unless their number was chosen."""
        return replace(self, threads=self.threads or threads)

    @property
    def network(self) -> Session:
        """The loaded network.

        Raises:
            CheckpointError: if its file cannot be used.
        """
        return open_lines(self.model or SHIPPED, self.threads or free_processors())

    def find(self, page: Line) -> Layout:
        """The lines that run across the page, and those that run up or down."""
        scale = min(2.0, self.side / max(page.shape))
        cores, maps = cores_at(page, scale, self.network)
        finer = min(1.0, self.fine_side / max(page.shape))
        if scale < finer and (not cores or usual_thickness(cores) < FINE):
            scale = finer
            cores, maps = cores_at(page, scale, self.network)
        # A patch as high as wide has no direction of its own: it gets the direction of most of the ink.
        mostly_up = sum(core.area for core in cores if core.runs_up) > sum(core.area / 2 for core in cores)
        is_up = [core.runs_up or (core.is_short and mostly_up) for core in cores]
        across = [core.ridge for core, up in zip(cores, is_up, strict=True) if not up]
        upward = [core.turned for core, up in zip(cores, is_up, strict=True) if up]
        picture = reduced(page, scale, Image.Resampling.BILINEAR)
        usual = usual_thickness(cores) if cores else 1.0
        strokes = find_rules(picture, typical_slope(across), usual) if across else []
        # Rules first: they cut lines that the network has merged; only then is it known which pieces end at the edge of
        # the picture, and which may be joined.
        rules = separating(strokes, across, usual)
        joined = join(on_this_page(cut(across, rules), picture.shape[1]), rules)
        ridges = of_text(joined, maps.text, in_table=len(rules) >= TABLE_RULES)
        lines = outline(page, ridges, scale)
        if maps.roles is not None:
            lines = [line._replace(role=role_on(maps.roles, ridge)) for line, ridge in zip(lines, ridges, strict=True)]
        turned_text = None if maps.text is None else np.rot90(maps.text, -1)
        turned = outline(np.rot90(page, -1), of_text(join(upward), turned_text), scale)
        lines += [turn_line(line, 1, *page.shape) for line in turned]
        return Layout(
            tuple(lines),
            rules=tuple(rule.ends() / scale for rule in rules),
            folds=tuple(rule.ends() / scale for rule in folds_among(rules, *picture.shape)),
        )


class Core(NamedTuple):
    """A patch of the heat map that belongs to one line.

    ridge, turned     in the original map, and in the map rotated clockwise by 90 degrees
    width, height     of the patch
    """

    ridge: Ridge
    turned: Ridge
    width: int
    height: int
    area: int

    @property
    def runs_up(self) -> bool:
        """Whether the line runs up or down the page."""
        return self.height > 2 * self.width

    @property
    def is_short(self) -> bool:
        """Whether it is too short to determine its direction."""
        return self.height <= 2 * self.width and self.width <= 2 * self.height

    @property
    def thickness(self) -> float:
        """The thickness of the line, in its own direction."""
        return min(self.ridge.thickness, self.turned.thickness)


def cores_at(page: Line, scale: float, network: Session) -> tuple[list[Core], Maps]:
    """The cores at `scale` times the size of the page, without dust and those that have no ink, and the maps."""
    picture = reduced(page, scale, Image.Resampling.BILINEAR)
    maps = look_at(picture, network)
    cores = list(find_cores(maps, picture))
    least = THINNEST * usual_thickness(cores) if cores else 0.0
    return [core for core in cores if core.thickness >= least], maps


def find_cores(maps: Maps, picture: Line) -> Iterator[Core]:
    """The cores in the maps of an image, one per line."""
    heat = maps.cores
    for left, top, patch in patches(heat, LEVELS):
        height, width = patch.shape
        ridge = ridge_of(patch, left, top)
        # After turning clockwise, the lower left corner of the patch is its upper left one.
        turned = ridge_of(np.rot90(patch, -1), heat.shape[0] - top - height, left)
        if ridge is None or turned is None or patch[patch > 0].mean() < SURE:
            continue
        if contrast(picture[top : top + height, left : left + width]) >= FAINTEST:
            yield Core(ridge, turned, width, height, int((patch > 0).sum()))


def of_text(ridges: list[Ridge], text: Map | None, *, in_table: bool = False) -> list[Ridge]:
    """The ridges that belong to the text of the page, if the network knows; `in_table`: there is a ruled table."""
    if text is None:
        return ridges
    sure = [
        bool(along(text, ridge).mean() >= (OF_LONG if len(ridge.middle) > LONG * ridge.thickness else OF_TEXT))
        for ridge in ridges
    ]
    if in_table:
        # The number of an entry looks like a folio number, but has text in its row.
        written = list(compress(ridges, sure))
        sure = [kept or any(in_row(ridge, one) for one in written) for ridge, kept in zip(ridges, sure, strict=True)]
    return list(compress(ridges, sure))


def in_row(ridge: Ridge, other: Ridge) -> bool:
    """Whether a ridge is level with the near end of another one."""
    near = other.middle[0 if ridge.left < other.left else -1]
    return bool(abs(ridge.middle.mean() - near) < other.thickness)


def along(coarse: Map, ridge: Ridge) -> Map:
    """The values of a coarse map, or of several, along a ridge."""
    height, width = coarse.shape[-2:]
    rows = (np.rint(ridge.middle).astype(np.intp) // COARSE).clip(0, height - 1)
    columns = (np.arange(ridge.left, ridge.right) // COARSE).clip(0, width - 1)
    found: Map = coarse[..., rows, columns]
    return found


def role_on(roles: Map, ridge: Ridge) -> Role | None:
    """The role of the writing on a ridge; None if none is likely."""
    chances = along(roles, ridge).mean(1)
    return list(Role)[int(chances.argmax())] if chances.max() >= LIKELY else None


def contrast(grays: Line) -> float:
    """The difference between the median and the darkest or lightest of some grays."""
    dark, paper, light = np.quantile(grays, (0.02, 0.5, 0.98))
    return float(max(paper - dark, light - paper))


def patches(heat: Map, levels: tuple[float, ...]) -> Iterator[tuple[int, int, Map]]:
    """Left, top and weights of connected patches above the first level; patches of several lines are split."""
    for window, found in components(heat > levels[0]):
        left, top = window[1].start, window[0].start
        patch = np.where(found, heat[window], np.float32(0))
        if len(levels) > 1 and is_several_lines(patch):
            yield from ((left + x, top + y, part) for x, y, part in patches(patch, levels[1:]))
        else:
            yield left, top, patch


def is_several_lines(patch: Map) -> bool:
    """Whether many of the columns, and of the rows, cross the patch more than once.

    A single line is crossed more than once only along its course: if it is wavy, by rows, and by columns if it runs up.
    """
    starts = np.diff((patch > 0).astype(np.int8), axis=0, prepend=0) > 0
    starts_turned = np.diff((patch > 0).astype(np.int8), axis=1, prepend=0) > 0
    # A fifth: ascenders beside their line add a few crossings, a second line adds one nearly everywhere.
    return bool(min((starts.sum(0) > 1).mean(), (starts_turned.sum(1) > 1).mean()) > 0.2)


def usual_thickness(cores: list[Core]) -> float:
    """The median thickness, weighted by area."""
    return weighted_median([core.thickness for core in cores], [core.area for core in cores])
