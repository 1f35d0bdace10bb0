"""Charts of metrics as SVG: medians with ranges, and curves, on logarithmic axes."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from drethtr.documents.markup import clean

COLORS = ("#0b6e4f", "#d1495b", "#edae49", "#30638e", "#7b5ea7", "#5c5c5c", "#00a6a6", "#a0522d")
INK, GRID = "#222222", "#d8d8d8"
FONT = "font-family='Helvetica, Arial, sans-serif'"
ROW, MARGIN, PANEL = 24, 16, 420
"""Height of a row, white space, and width of a panel, in pixels."""

ENOUGH = 4
"""Ticks of an axis, from which on no finer steps are tried."""

STEPS: tuple[tuple[float, ...], ...] = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 4, 5, 7),
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),  # the narrowest axis has at least one of these
)
"""Ticks of a decade, coarse to fine."""

Mark = tuple[float, float, float]
"""A median and the limits of its range."""


class Axis(NamedTuple):
    """A logarithmic axis from `low` to `high`, drawn from `start` over `pixels`, which may be negative."""

    low: float
    high: float
    start: float
    pixels: float

    def __call__(self, value: float) -> float:
        """The position of a value, in pixels."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * self.pixels

    def ticks(self) -> list[float]:
        """A handful of round values on the axis."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in STEPS:
            values = [step * 10.0**decade for decade in decades for step in steps]
            within = [value for value in values if self.low <= value <= self.high]
            if len(within) >= ENOUGH:
                break
        return within


def spanning(values: Sequence[float], start: float, pixels: float) -> Axis:
    """An axis that contains all given positive values, with some space at both ends."""
    low, high = min(values), max(values)
    return Axis(low / 1.15, high * 1.15, start, pixels)


def ranges(title: str, unit: str, rows: Sequence[tuple[str, Mapping[str, Mark]]]) -> str:
    """A chart with a row per label: for each name, a dot at the median and a line over the range."""
    names = list(dict.fromkeys(name for _, marks in rows for name in marks))
    left = MARGIN + 7 * max(len(label) for label, _ in rows) + MARGIN
    top = 3 * MARGIN + ROW
    bottom = top + ROW * len(rows)
    axis = spanning([value for _, marks in rows for mark in marks.values() for value in mark], left, 1.5 * PANEL)
    parts = [heading(title), *legend(names, left), *vertical_grid(axis, top, bottom, unit)]
    for number, (label, marks) in enumerate(rows):
        y = top + ROW * (number + 0.5)
        parts.append(text(left - MARGIN / 2, y + 4, label, anchor="end"))
        for name, (middle, low, high) in marks.items():
            color = COLORS[names.index(name) % len(COLORS)]
            parts.append(stroke(axis(low), y, axis(high), y, color, 2))
            parts.append(f"<circle cx='{axis(middle):.1f}' cy='{y:.1f}' r='4.5' fill='{color}'/>")
    return drawing(left + 1.5 * PANEL + 2 * MARGIN, bottom + 3 * MARGIN, parts)


class Panel(NamedTuple):
    """Curves over one pair of axes: points (x, y) by name, both positive."""

    title: str
    across: str
    curves: Mapping[str, Sequence[tuple[float, float]]]


def curves(title: str, panels: Sequence[Panel]) -> str:
    """Panels side by side; a name has the same color in all of them."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    top, height = 5 * MARGIN, 260
    parts = [heading(title), *legend(names, MARGIN)]
    for number, panel in enumerate(panels):
        left = MARGIN + number * (PANEL + 2 * MARGIN) + 48
        points = [point for curve in panel.curves.values() for point in curve]
        x = spanning([point[0] for point in points], left, PANEL - 64)
        y = spanning([point[1] for point in points], top + height, -height)
        parts += [text(left, top - 8, panel.title), *vertical_grid(x, top, top + height, panel.across)]
        parts += horizontal_grid(y, left, left + PANEL - 64)
        for name, curve in panel.curves.items():
            path = " ".join(f"{x(across):.1f},{y(up):.1f}" for across, up in curve)
            color = COLORS[names.index(name) % len(COLORS)]
            parts.append(f"<polyline points='{path}' fill='none' stroke='{color}' stroke-width='2.2'/>")
    return drawing(2 * MARGIN + len(panels) * (PANEL + 2 * MARGIN), top + height + 3 * MARGIN, parts)


def vertical_grid(axis: Axis, top: float, bottom: float, unit: str) -> list[str]:
    """Vertical lines at the ticks of a horizontal axis, with values and the unit below."""
    parts = [stroke(axis(tick), top, axis(tick), bottom, GRID, 1) for tick in axis.ticks()]
    parts += [text(axis(tick), bottom + 14, readable(tick), anchor="middle") for tick in axis.ticks()]
    return [*parts, text(axis.start + axis.pixels, bottom + 30, unit, anchor="end")]


def horizontal_grid(axis: Axis, left: float, right: float) -> list[str]:
    """Horizontal lines at the ticks of a vertical axis, with values on the left."""
    parts = [stroke(left, axis(tick), right, axis(tick), GRID, 1) for tick in axis.ticks()]
    return parts + [text(left - 6, axis(tick) + 4, readable(tick), anchor="end") for tick in axis.ticks()]


def legend(names: Sequence[str], left: float) -> list[str]:
    """The color of each name, in one row below the title."""
    parts, x = [], left
    for number, name in enumerate(names):
        color = COLORS[number % len(COLORS)]
        parts.append(f"<circle cx='{x + 5:.1f}' cy='{2.6 * MARGIN:.1f}' r='4.5' fill='{color}'/>")
        parts.append(text(x + 14, 2.6 * MARGIN + 4, name))
        x += 14 + 7 * len(name) + MARGIN
    return parts


def heading(title: str) -> str:
    """The title of a drawing."""
    place = f"x='{MARGIN}' y='{1.4 * MARGIN:.1f}'"
    return f"<text {place} {FONT} font-size='15' font-weight='bold'>{escape(clean(title), quote=False)}</text>"


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Text at a position."""
    place = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'"
    return f"<text {place} {FONT} font-size='12' fill='{INK}'>{escape(clean(words), quote=False)}</text>"


def stroke(x1: float, y1: float, x2: float, y2: float, color: str, width: float) -> str:
    """A straight line."""
    place = f"x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'"
    return f"<line {place} stroke='{color}' stroke-width='{width}' stroke-linecap='round'/>"


def readable(value: float) -> str:
    """A number with as few digits as necessary."""
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def drawing(width: float, height: float, parts: Sequence[str]) -> str:
    """A complete SVG file on white."""
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    inside = "\n".join(["<rect width='100%' height='100%' fill='white'/>", *parts])
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size}>\n{inside}\n</svg>\n"
