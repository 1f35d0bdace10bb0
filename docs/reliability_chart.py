"""The reliability diagram of the docs: a bar per confidence bin, whose height is the accuracy."""

from collections.abc import Mapping
from typing import Any

from drethtr.pictures.canvas import GRAY, Canvas, Color, Label, Rectangle

SIDE = 300
MARGIN = 48
LEVELS = ("characters", "words")

BAR: Color = (110, 160, 190)
TRUTH: Color = (205, 0, 40)
GRID: Color = (225, 225, 225)


def reliability_chart(trust: Mapping[str, Any]) -> Canvas:
    """Characters and words side by side; `trust` has the form of `drethtr evaluate --json`."""
    shapes: list[Rectangle | Label] = []
    for number, level in enumerate(LEVELS):
        shapes += panel(level, trust[level], MARGIN + number * (SIDE + 2 * MARGIN))
    return Canvas(len(LEVELS) * (SIDE + 2 * MARGIN), SIDE + 2 * MARGIN, tuple(shapes))


def panel(title: str, found: Mapping[str, Any], left: float) -> list[Rectangle | Label]:
    """Bars of accuracy over confidence, wider for more cases, with marks for perfect calibration."""
    top, bottom = MARGIN, MARGIN + SIDE
    ece = "" if found["ece"] is None else f", ECE {100 * found['ece']:.1f} %"
    shapes: list[Rectangle | Label] = [Label(left, top - 16, f"{title}: {found['cases']:,}{ece}", 14)]
    for percent in range(0, 101, 20):
        across, up = left + percent / 100 * SIDE, bottom - percent / 100 * SIDE
        shapes += [
            Rectangle(left, up, left + SIDE, up + 1, GRID),
            Label(left - 6, up + 4, f"{percent}", 11, GRAY, "end"),
            Label(across, bottom + 16, f"{percent}", 11, GRAY, "middle"),
        ]
    most = max((group["cases"] for group in found["bins"]), default=1)
    for group in found["bins"]:
        middle, right = left + group["confidence"] * SIDE, bottom - group["right"] * SIDE
        half = 3 + 9 * (group["cases"] / most) ** 0.5
        wanted = bottom - group["confidence"] * SIDE
        shapes += [
            Rectangle(middle - half, right, middle + half, bottom, BAR),
            Rectangle(middle - 14, wanted - 1, middle + 14, wanted + 1, TRUTH),
        ]
    return [
        *shapes,
        Label(left + SIDE, bottom + 34, "confidence %; bar: accuracy %; mark: perfect calibration", 11, GRAY, "end"),
    ]
