"""Compare found lines with reference lines: whether each line was found, and in which order lines are read.

Baselines are compared as in cBAD, lines by how much of a reference baseline the outlines of found lines cover. None of
this needs a recognizer; `whole_pages.py` measures the cost of layout errors in characters.

Source: Grüning et al. 2017, READ-BAD: A New Dataset and Evaluation Scheme for Baseline Detection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from drethtr.base.arrays import Floats
from drethtr.evaluation.metrics import DRAWS, MIN_PAGES, drawn_sums, interval_95
from drethtr.images.geometry import length_of, points_along
from drethtr.layout.finder import FoundLine

CONVENTION = (
    "P, R, F: baselines as in cBAD, tolerance a quarter of the distance between lines. Found: reference lines of whose "
    "baseline one outline covers at least 70 %, and of others no more than 30 % of its length; the rest are merged "
    "(that outline holds other lines too), split (several outlines cover it together), cut (30 to 70 % covered) or "
    "missed; by lines, and by their characters if there are texts, else by lines again. False: found lines on no "
    "reference line, per 100 of these. Order: successions of two reference lines, both matched, whose partners follow "
    "each other. P and R are means over pages, the others over all lines. In brackets the 95 % interval of a bootstrap "
    f"over pages, widened for few pages; none for fewer than {MIN_PAGES}."
)

STEP = 4.0
"""Distance of the points at which baselines are compared, in pixels."""

WIDE_STEP = 12.0
"""The same, where only the distance between lines is measured."""

TOLERANCE = 0.25
"""Tolerance of a baseline, relative to the distance to the next line, and its minimum in pixels."""
MIN_TOLERANCE = 6.0

BODY = 0.15
"""Distance above the baseline at which an outline must cover a line, relative to the distance to the next line."""

WHOLE, PART, NOTHING = 0.7, 0.3, 0.1
"""A line is covered, partly covered or not at all, from these shares of its baseline."""

PARTNERS = 0.4
"""Minimum share of a baseline that the outline of its partner covers."""

HELD = 0.25
"""Minimum number of letters of a line in an outline, relative to those of its main line, to be read with it."""

FOREIGN = "\ufffd"
"""A letter that no text has."""

BESIDE = 0.3
"""Minimum share of one of two lines that is beside the other, for the distance between them to count."""

SAME_LINE = 4.0
"""Distance in pixels up to which two baselines are pieces of one line."""

USUAL_SPACING = 60.0
"""Distance between lines where no two are beside each other, in pixels."""


class Fate(StrEnum):
    """The outcome for a reference line."""

    FOUND = "found"
    MERGED = "merged"
    SPLIT = "split"
    CUT = "cut"
    MISSED = "missed"


class KnownLine(NamedTuple):
    """A reference line with the length of its text, at least 1, and its text, if it has one."""

    line: FoundLine
    characters: int
    text: str = ""


class Cost(NamedTuple):
    """The true cost of a layout, and the one that `layout/doubt.py` predicts, as shares of the characters of its page.

    odd    the share of odd lines
    table  whether it has a table
    """

    true: float
    expected: float
    high: float
    odd: float
    table: bool


@dataclass(frozen=True)
class PageLayout:
    """How well the lines of a page were found.

    precision, recall  of baselines
    fates, characters  the outcome for each reference line, and the length of its text
    false              number of found lines on no reference line
    successions, kept  pairs of successive reference lines with partners, and those whose partners follow each other
    seconds            of a processor, to find them
    cost               the cost of the layout for perfect reading; None without texts
    """

    precision: float
    recall: float
    fates: tuple[Fate, ...]
    characters: tuple[int, ...]
    false: int
    successions: int
    kept: int
    seconds: float = 0.0
    cost: Cost | None = None

    def row(self) -> list[float]:
        """Summable numbers for `figures_by_name`: seven, then lines and characters of each fate."""
        lines = [sum(fate is kind for fate in self.fates) for kind in Fate]
        characters = [
            sum(number for fate, number in zip(self.fates, self.characters, strict=True) if fate is kind)
            for kind in Fate
        ]
        sums = [1, self.precision, self.recall, self.seconds, self.false, self.successions, self.kept]
        return [*sums, *lines, *characters]


def compare_layout(reference: Sequence[KnownLine], found: Sequence[FoundLine]) -> PageLayout:
    """Compare the lines of a page, both in reading order."""
    spacing = spacing_of([known.line.baseline for known in reference])
    tolerance = np.maximum(TOLERANCE * spacing, MIN_TOLERANCE)
    marks = [points_along(known.line.baseline, STEP) for known in reference]
    precision, recall = of_baselines(marks, [points_along(line.baseline, STEP) for line in found], tolerance)
    bodies = [lifted(points, BODY * distance) for points, distance in zip(marks, spacing, strict=True)]
    covers = covered(bodies, [line.polygon for line in found])
    shares = np.array([[cover.mean() for cover in row] for row in covers]).reshape(len(found), len(reference))
    successions, kept = in_succession(shares)
    return PageLayout(
        precision,
        recall,
        tuple(fates_of(bodies, covers, shares)),
        tuple(known.characters for known in reference),
        int((shares.max(1, initial=0) < NOTHING).sum()),
        successions,
        kept,
    )


def as_read(reference: Sequence[KnownLine], found: Sequence[FoundLine]) -> list[str]:
    """The texts of found lines with perfect reading; a line on no reference line has foreign letters, as many as fit.

    Of the reference lines in an outline, those with most of their letters in it count, or with many; others only reach
    into it.
    """
    spacing = spacing_of([known.line.baseline for known in reference])
    letters = [
        letters_along(known.line.baseline, len(known.text), BODY * distance)
        for known, distance in zip(reference, spacing, strict=True)
    ]
    width = float(np.median([length_of(known.line.baseline) / known.characters for known in reference]))
    texts = []
    for line, covers in zip(found, covered(letters, [line.polygon for line in found]), strict=True):
        counts = np.array([cover.sum() for cover in covers])
        if not counts.sum():
            texts.append(FOREIGN * max(1, round(length_of(line.baseline) / width)))
            continue
        direction = line.baseline[-1] - line.baseline[0]
        much = np.flatnonzero(counts >= np.minimum(HELD * counts.max(), WHOLE * np.array([len(c) for c in covers])))
        own = [number for number in much.tolist() if counts[number]]
        own.sort(key=lambda number: float((letters[number][covers[number]] @ direction).mean()))
        parts = ("".join(np.array(list(reference[number].text))[covers[number]]) for number in own)
        texts.append(" ".join(parts))
    return texts


def letters_along(baseline: Floats, count: int, up: float) -> Floats:
    """The places of as many letters on a line, in their bodies."""
    if not count:
        return np.empty((0, 2))
    points = lifted(points_along(baseline, STEP / 2), up)
    return points[np.linspace(0, len(points) - 1, count + 2)[1:-1].round().astype(np.intp)]


def spacing_of(baselines: Sequence[Floats]) -> Floats:
    """The distance from each line to the nearest one above or below it, or the usual one if there is none."""
    paths = [points_along(baseline, WIDE_STEP) for baseline in baselines]
    nearest = np.full(len(paths), np.inf)
    for number, path in enumerate(paths):
        chord = path[-1] - path[0]
        along = chord / (np.hypot(*chord) + 1e-9)
        length = chord @ along
        for other in (paths[place] for place in range(len(paths)) if place != number):
            columns, rows = (other - path[0]) @ along, (other - path[0]) @ (-along[1], along[0])
            beside = (columns > 0) & (columns < length)
            # Lines in other columns are not neighbors: a part of the neighbor must lie beside this line.
            if beside.mean() < BESIDE and not beside.sum() * WIDE_STEP > BESIDE * length:
                continue
            distance = abs(float(np.median(rows[beside]))) if beside.any() else np.inf
            if distance > SAME_LINE:
                nearest[number] = min(nearest[number], distance)
    known = nearest[np.isfinite(nearest)]
    usual = float(np.median(known)) if len(known) else USUAL_SPACING
    # The distance determines the tolerance: a note far from all text must not get a tolerance of half a page.
    spacing: Floats = np.where(np.isfinite(nearest), nearest, usual).clip(0.5 * usual, 1.5 * usual)
    return spacing


def of_baselines(marks: Sequence[Floats], found: Sequence[Floats], tolerance: Floats) -> tuple[float, float]:
    """Precision and recall of baselines, as points along them: of no found lines 1 and 0."""
    if not found or not marks:
        return 1.0 if not found else 0.0, 0.0 if marks else 1.0
    near = np.concatenate(found)
    recall = np.mean([closeness(path, near, limit).mean() for path, limit in zip(marks, tolerance, strict=True)])
    lows, highs = (np.array([edge(mark, axis=0) for mark in marks]) for edge in (np.min, np.max))
    shares = np.zeros((len(found), len(marks)))
    for number, path in enumerate(found):
        reach = 3 * tolerance[:, None]
        for other in np.flatnonzero(((lows - reach <= path.max(0)) & (highs + reach >= path.min(0))).all(1)).tolist():
            shares[number, other] = closeness(path, marks[other], tolerance[other]).mean()
    precision = sum(shares[pair] for pair in best_pairs(shares, 1e-9)) / len(found)
    return float(precision), float(recall)


def closeness(path: Floats, others: Floats, tolerance: float) -> Floats:
    """For each point of a path, 1 if one of the others lies within the tolerance, falling to 0 at three times that."""
    low, high = path.min(0) - 3 * tolerance, path.max(0) + 3 * tolerance
    near = others[((others >= low) & (others <= high)).all(1)]
    if not len(near):
        return np.zeros(len(path))
    distances = np.sqrt(((path[:, None] - near[None]) ** 2).sum(2).min(1))
    close: Floats = ((3 * tolerance - distances) / (2 * tolerance)).clip(0, 1)
    return close


def best_pairs(shares: NDArray[np.float64], least: float) -> list[tuple[int, int]]:
    """Pairs of a row and a column, each in one pair, the largest share first, down to `least`."""
    left, pairs = shares.copy(), []
    # Greedy is enough: lines overlap little, so hardly any has two candidates.
    while left.size and left.max() >= least:
        row, column = map(int, np.unravel_index(int(left.argmax()), left.shape))
        pairs.append((row, column))
        left[row] = left[:, column] = 0
    return pairs


def lifted(points: Floats, distance: float) -> Floats:
    """Points of a baseline, moved up into the body of the letters."""
    course = np.gradient(points, axis=0)
    course = course / (np.hypot(*course.T)[:, None] + 1e-9)
    moved: Floats = points + np.stack((course[:, 1], -course[:, 0]), axis=1) * distance
    return moved


def covered(bodies: Sequence[Floats], polygons: Sequence[Floats]) -> list[list[NDArray[np.bool_]]]:
    """For each polygon and each line, which points of the line lie in the polygon."""
    ends = np.cumsum([len(body) for body in bodies])[:-1]
    points = np.concatenate([np.empty((0, 2)), *bodies])
    return [np.split(inside(polygon, points), ends) if bodies else [] for polygon in polygons]


def inside(polygon: Floats, points: Floats) -> NDArray[np.bool_]:
    """Which points lie in a polygon."""
    within = np.zeros(len(points), dtype=np.bool_)
    if len(polygon) < 3:
        return within
    corner = np.floor(polygon.min(0)).astype(np.int64)
    width, height = (np.ceil(polygon.max(0)).astype(np.int64) - corner + 2).tolist()
    places = np.floor(points - corner).astype(np.int64)
    near = ((places >= 0) & (places < (width, height))).all(1)
    if width > 2 and height > 2 and near.any():
        drawn = Image.new("1", (width, height))
        ImageDraw.Draw(drawn).polygon([(x, y) for x, y in (polygon - corner).tolist()], fill=1, outline=1)
        within[near] = np.asarray(drawn)[places[near, 1], places[near, 0]]
    return within


def fates_of(
    bodies: Sequence[Floats], covers: Sequence[Sequence[NDArray[np.bool_]]], shares: NDArray[np.float64]
) -> list[Fate]:
    """The outcome for each line, by the parts of it that each outline covers."""
    lengths = np.array([len(body) for body in bodies], dtype=np.float64)
    fates = []
    for number, length in enumerate(lengths):
        holders = np.flatnonzero(shares[:, number] >= WHOLE)
        others = shares[holders] @ lengths - shares[holders, number] * length
        union = np.any([row[number] for row in covers], axis=0).mean() if covers else 0.0
        if (others <= PART * length).any():
            fates.append(Fate.FOUND)
        elif len(holders):
            fates.append(Fate.MERGED)
        else:
            fates.append(Fate.SPLIT if union >= WHOLE else Fate.CUT if union >= PART else Fate.MISSED)
    return fates


def in_succession(shares: NDArray[np.float64]) -> tuple[int, int]:
    """Pairs of successive lines that both have a partner, and how many of the partners follow each other."""
    partner = {column: row for row, column in best_pairs(shares, PARTNERS)}
    rank = {row: place for place, row in enumerate(sorted(partner.values()))}
    pairs = [(number, number + 1) for number in sorted(partner) if number + 1 in partner]
    return len(pairs), sum(rank[partner[second]] == rank[partner[first]] + 1 for first, second in pairs)


def figures_of(pages: Sequence[PageLayout]) -> dict[str, float | None]:
    """The figures of some pages as fractions, with the limits of their intervals.

    Figures are `None` where nothing is measured, and limits also where there are fewer than `MIN_PAGES` pages.
    """
    table = np.array([page.row() for page in pages])
    figures: dict[str, float | None] = {"pages": len(pages), "lines": sum(len(page.fates) for page in pages)}
    own = figures_by_name(table.sum(0)[None])
    drawn = figures_by_name(drawn_sums(table, DRAWS, np.random.default_rng(0))) if len(pages) >= MIN_PAGES else None
    for name, [value] in own.items():
        rates = np.empty(0) if drawn is None else drawn[name][np.isfinite(drawn[name])]
        low, high = interval_95(rates, len(pages)) if len(rates) else (None, None)
        figures[name] = float(value) if np.isfinite(value) else None
        figures[f"{name}_low"], figures[f"{name}_high"] = low, high
    return figures


def figures_by_name(sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The figures of each row of sums of `PageLayout.row`; NaN for the order of rows without successions."""
    pages, precision, recall, seconds, false, successions, kept = sums[:, :7].T
    precision, recall, seconds = precision / pages, recall / pages, seconds / pages
    lines, characters = np.split(sums[:, 7:], 2, axis=1)
    figures = {
        "precision": precision,
        "recall": recall,
        "f": 2 * precision * recall / np.maximum(precision + recall, 1e-9),
        "false_per_line": false / np.maximum(lines.sum(1), 1),
        "successions": np.divide(kept, successions, out=np.full_like(kept, np.nan), where=successions > 0),
        "seconds": seconds,
    }
    for number, fate in enumerate(Fate):
        figures[fate.value] = lines[:, number] / np.maximum(lines.sum(1), 1)
        figures[f"{fate.value}_characters"] = characters[:, number] / np.maximum(characters.sum(1), 1)
    return figures


def to_json(pages: Mapping[str, PageLayout], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The content of `drethtr evaluate --layout --json`: each page, each collection with its pages, and all."""
    return {
        "convention": CONVENTION,
        "pages": [
            {"name": name, **figures_of([page]), "cost": page.cost and page.cost._asdict()}
            for name, page in pages.items()
        ],
        "sets": [{"name": name, **figures_of([pages[key] for key in keys])} for name, keys in groups.items()],
        "overall": figures_of(list(pages.values())),
    }
