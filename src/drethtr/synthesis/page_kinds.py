"""What is written on synthetic pages: `KINDS`, each of which fills a box of a sheet."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.layout.finder import Cell, Kind, Role
from drethtr.synthesis.fragments import MONTHS, date, name, pick
from drethtr.synthesis.page_sheet import Edges, Hand, Mark, Sheet, inset, printed, set_down

POOL = 14
"""Number of different entries in a column of a table; drawing a new entry for every cell would take most of the
time."""


def letter(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """A letter or a page of prose, with a date, an address and a name where there is room."""
    left, top, right, bottom = inset(box, rng.uniform(0.06, 0.16), rng.uniform(0.05, 0.12))
    marginal(sheet, hand, box, rng)
    pitch = hand.x_height * rng.uniform(2.4, 4.5)
    if rng.random() < 0.4:  # the date, the address
        mark = hand.mark(hand.known(date(hand.language, rng)), most=0.6 * (right - left))
        sheet.region(Kind.TEXT, sheet.put(mark, right - mark.width, top))
        sheet.region(
            Kind.TEXT,
            sheet.put(hand.mark(hand.next_words(1, 3)), left + rng.uniform(0, 0.3) * (right - left), top + 2 * pitch),
        )
        top += 4 * pitch
    if rng.random() < 0.35:
        bottom -= rng.uniform(0.05, 0.6) * (bottom - top)
        mark = hand.mark(hand.next_words(1, 3))
        end = prose(sheet, hand, (left, top, right, bottom), rng, pitch)
        signed = sheet.put(mark, right - mark.width - rng.uniform(0, 0.2) * (right - left), end + 1.5 * pitch)
        sheet.region(Kind.TEXT, signed)
    else:
        prose(sheet, hand, (left, top, right, bottom), rng, pitch)


def prose(
    sheet: Sheet,
    hand: Hand,
    box: Edges,
    rng: np.random.Generator,
    pitch: float | None = None,
    note: Callable[[float, float], None] | None = None,
) -> float:
    """Paragraphs in a box, with insertions and deletions; returns the row of the last line.

    Args:
        pitch: Rows between lines.
        note: Called after each paragraph, with its first and last row.
    """
    left, top, right, bottom = box
    pitch = pitch or hand.x_height * rng.uniform(2.2, 4.2)
    indent, ragged = rng.uniform(0, 0.12) * (right - left), rng.uniform(0.01, 0.06) * (right - left)
    slope, inserted, struck = rng.normal(0, 0.006), rng.choice((0.0, 0.03, 0.15)), rng.choice((0.0, 0.02, 0.1))
    row = top
    while row < bottom:
        lines, first, count = list[int](), row, int(rng.integers(2, 14))
        for number in range(count):
            if row >= bottom:
                break
            start = left + indent * (number == 0) + abs(rng.normal(0, 0.004)) * (right - left)
            end = right - abs(rng.normal(0, 1)) * ragged
            if number == count - 1:
                end = start + rng.uniform(0.15, 1) * (end - start)
            mark = hand.mark(hand.line(end - start), most=right - start, slope=slope + rng.normal(0, 0.002))
            placed = sheet.put(mark, start, row + rng.normal(0, 0.03) * pitch)
            if placed and rng.random() < struck:
                strike(sheet, hand, sheet.lines[placed[0]].baseline, rng)
            lines += placed
            if placed and number and pitch > 2.6 * hand.x_height and rng.random() < inserted:
                lines += insertion(sheet, hand, sheet.lines[placed[0]].baseline, pitch, rng)
            row += pitch * rng.normal(1, 0.02)
        sheet.region(Kind.TEXT, lines)
        if note is not None:
            note(first, row - pitch)
        row += pitch * rng.choice((0.0, 0.0, 0.5, 1.0))
    return row - pitch


def insertion(sheet: Sheet, hand: Hand, below: Floats, pitch: float, rng: np.random.Generator) -> list[int]:
    """One to four words between a line and the one above it, often with a caret."""
    mark = hand.smaller(rng.uniform(0.6, 0.85)).mark(hand.next_words(1, 4))
    x, y = below[0] + rng.uniform(0.1, 0.8) * (below[-1] - below[0])
    if rng.random() < 0.6:
        size = hand.x_height * 0.5
        sheet.stroke([(x - size, y + 0.4 * size), (x, y - 2 * size), (x + size, y + 0.4 * size)], 1, 200)
    return sheet.put(mark, x - rng.uniform(0, 0.6) * mark.width, y - rng.uniform(0.5, 0.62) * pitch, Role.INSERTION)


def strike(sheet: Sheet, hand: Hand, baseline: Floats, rng: np.random.Generator) -> None:
    """Strike out a part of a line."""
    first, last = np.sort(rng.uniform(0, 1, 2))
    raised = baseline - (0, 0.5 * hand.x_height)
    ends = [raised[0] + share * (raised[-1] - raised[0]) for share in (first, min(last, first + 0.3))]
    sheet.stroke([end.tolist() for end in ends], max(1, round(0.12 * hand.x_height)), int(rng.uniform(150, 255)))


def marginal(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """Add things at the edges of a page: a number, a printed heading, a stamp."""
    left, top, right, bottom = inset(box, 0.02, 0.012)
    if rng.random() < 0.4:
        mark = hand.smaller(rng.uniform(0.8, 1.4)).mark(hand.known(str(rng.integers(1, 400))))
        place = rng.choice((left, (left + right) / 2, right - mark.width), p=(0.2, 0.2, 0.6))
        sheet.region(Kind.TEXT, sheet.put(mark, place, top + 2.2 * hand.x_height, Role.NUMBER))
    if rng.random() < 0.15:
        mark = printed(hand.next_words(1, 5), hand.x_height * rng.uniform(0.7, 1.2), rng)
        middle = (left + right - mark.width) / 2
        sheet.region(Kind.TEXT, sheet.put(mark, middle, top + 2.5 * hand.x_height, Role.PRINT))
    if rng.random() < 0.25:
        center = (rng.uniform(left, right), rng.choice((rng.uniform(top, bottom), top + 5 * hand.x_height)))
        stamp(sheet, hand, center, rng)


def stamp(sheet: Sheet, hand: Hand, center: tuple[float, float], rng: np.random.Generator) -> None:
    """A stamp of an archive: one to three printed lines in a frame, askew."""
    turn, size = rng.normal(0, 0.15), hand.x_height * rng.uniform(0.6, 1.1)
    lean = np.array(((np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))))
    marks = [printed(hand.next_words(1, 3)[:22], size, rng) for _ in range(int(rng.integers(1, 4)))]
    width, high = max(mark.width for mark in marks) + 2 * size, (2.4 * len(marks) + 1) * size
    lines = []
    for number, mark in enumerate(marks):
        turned = set_down((mark.ink * rng.uniform(0.4, 0.9)).astype(np.uint8), mark.baseline - mark.corner, lean)
        x, y = lean @ (-mark.width / 2, -high / 2 + 2.2 * size * (number + 1)) + center
        lines += sheet.put(turned, x, y, Role.STAMP)
    if rng.random() < 0.5:
        angles = np.linspace(0, 2 * np.pi, 49)
        frame = np.stack((0.62 * width * np.cos(angles), 0.75 * high * np.sin(angles)), 1)
    else:
        frame = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))) * (0.55 * width, 0.6 * high)
    sheet.stroke((frame @ lean.T + center).tolist(), max(1, round(0.2 * size)), int(rng.uniform(90, 200)))
    sheet.region(Kind.STAMP, lines)


def opening(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """Two pages side by side; one may be empty."""
    left, top, right, bottom = box
    middle = (left + right) / 2
    pages = ((left, top, middle, bottom), (middle, top, right, bottom))
    fill = pick((letter, letter, noted, register, account), rng)
    blank = int(rng.integers(0, 2)) if rng.random() < 0.15 else None
    for number, page in enumerate(pages):
        if number != blank:
            fill(sheet, hand, page, rng)


def noted(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """Prose with notes in a wide margin, on the left or on the right."""
    marginal(sheet, hand, box, rng)
    left, top, right, bottom = inset(box, 0.04, rng.uniform(0.05, 0.1))
    share, gap = rng.uniform(0.15, 0.32) * (right - left), rng.uniform(0.01, 0.05) * (right - left)
    on_left = rng.random() < 0.7
    margin = (left, left + share - gap) if on_left else (right - share + gap, right)
    text = (left + share, top, right, bottom) if on_left else (left, top, right - share, bottom)
    small, many = hand.smaller(rng.uniform(0.6, 1.0)), rng.uniform(0.3, 1)
    end = top

    def note(first: float, last: float) -> None:
        nonlocal end
        row, pitch, lines = max(first + rng.normal(0, 0.3) * small.x_height, end), 2.5 * small.x_height, list[int]()
        if rng.random() > many or row > last:
            return
        for _ in range(int(rng.integers(1, 6))):
            width = margin[1] - margin[0]
            mark = small.mark(small.line(width * rng.uniform(0.5, 1)), most=width)
            lines += sheet.put(mark, margin[0], row, Role.MARGIN)
            row += pitch
        end = row + pitch
        sheet.region(Kind.MARGIN, lines)

    prose(sheet, hand, text, rng, note=note)
    if rng.random() < 0.15:
        x = text[0] - gap / 2 if on_left else text[2] + gap / 2
        sheet.stroke([(x, box[1]), (x + rng.normal(0, 3), box[3])], int(rng.integers(1, 3)), int(rng.uniform(60, 160)))


CROWDED = 1.75
"""Size of the writing in narrow columns, times their number; chosen by eye."""


def columns(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """Two or three columns of prose, with white or a rule between them."""
    marginal(sheet, hand, box, rng)
    left, top, right, bottom = inset(box, 0.05, 0.06)
    count = int(rng.choice((2, 2, 3)))
    if hand.x_height * 60 * count > right - left:  # columns of less than about 30 characters
        hand = hand.smaller(CROWDED / count)
    if rng.random() < 0.4:
        mark = hand.smaller(1.3).mark(hand.next_words(2, 5), most=0.8 * (right - left))
        sheet.region(Kind.TEXT, sheet.put(mark, (left + right - mark.width) / 2, top))
        top += 5 * hand.x_height
    gap, pitch, ruled = rng.uniform(0.02, 0.06) * (right - left), rng.uniform(2.2, 3.4), rng.random() < 0.4
    width = (right - left - (count - 1) * gap) / count
    for number in range(count):
        start = left + number * (width + gap)
        prose(sheet, hand, (start, top, start + width, bottom), rng, pitch * hand.x_height)
        if ruled and number:
            x = start - gap / 2
            sheet.stroke(
                [(x, top - 2 * hand.x_height), (x, bottom)], int(rng.integers(1, 3)), int(rng.uniform(80, 200))
            )


Entry = Callable[[Hand, np.random.Generator], str]
"""Draws the text of a cell."""


def word(hand: Hand, rng: np.random.Generator) -> str:
    """One or two of the next words."""
    return hand.next_words(1, 2)


def several(hand: Hand, rng: np.random.Generator) -> str:
    """Some of the next words."""
    return hand.next_words(2, 7)


def person(hand: Hand, rng: np.random.Generator) -> str:
    """A name."""
    return name(hand.language, rng)


def day(hand: Hand, rng: np.random.Generator) -> str:
    """A short date."""
    months = MONTHS[hand.language]
    return pick(
        (f"{rng.integers(1, 32)} {pick(months, rng)}", f"{rng.integers(1, 32)}", pick(("idem", '"', "d°"), rng)), rng
    )


def amount(hand: Hand, rng: np.random.Generator) -> str:
    """Some digits."""
    value = int(10 ** rng.uniform(0, 4))
    return pick((f"{value}", f"{value}.{rng.integers(0, 100):02}", f"{value}", "-"), rng)


def register(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """A table with three to seven columns, with or without rules, its cells of one or of several lines."""
    marginal(sheet, hand, box, rng)
    left, top, right, bottom = inset(box, rng.uniform(0.02, 0.08), rng.uniform(0.06, 0.1))
    entries: list[tuple[Entry, float]] = [(amount, 1.0), (day, 1.6), (person, 3.0), (several, 4.5), (word, 1.8)]
    chosen = [entries[int(k)] for k in rng.choice(len(entries), int(rng.integers(3, 8)), p=(0.3, 0.15, 0.2, 0.2, 0.15))]
    widths = np.array([share for _, share in chosen]) * rng.uniform(0.8, 1.3, len(chosen))
    edges = left + np.concatenate(((0.0,), np.cumsum(widths))) / widths.sum() * (right - left)
    narrow = min(np.diff(edges) / [8 if entry is several else 4 for entry, _ in chosen])
    hand = hand.smaller(float(np.clip(narrow / hand.x_height / 1.6, 0.55, 1.0)))
    pitch, ruled = hand.x_height * rng.uniform(2.3, 4.0), rng.random() < 0.7
    start, first = len(sheet.lines), top
    if rng.random() < 0.6:
        first += heading(sheet, hand, edges, top, rng)
    rows = table_rows(sheet, hand, chosen, edges, (first, bottom), pitch, rng)
    lines = range(start, len(sheet.lines))
    sheet.region(Kind.TABLE, lines, rows if first == top else ())
    ink, width = int(rng.uniform(60, 220)), int(rng.integers(1, 4))
    reach = (top - 2.5 * hand.x_height, box[3] if rng.random() < 0.4 else bottom + pitch)
    if ruled:
        inner = edges if rng.random() < 0.6 else edges[1:-1]
        for edge in inner.tolist():
            lean = rng.normal(0, 1.5)
            sheet.stroke([(edge - lean, reach[0]), (edge + lean, reach[1])], width + int(rng.random() < 0.2), ink)
    if rng.random() < 0.5:
        for row in np.arange(first - 1.2 * hand.x_height, bottom + pitch, pitch * rng.choice((1, 1, 5))).tolist():
            sheet.stroke([(edges[0], row), (edges[-1], row)], 1, ink)


def heading(sheet: Sheet, hand: Hand, edges: Floats, top: float, rng: np.random.Generator) -> float:
    """The printed or written names of the columns; returns how many rows they take."""
    size = hand.x_height
    for left, right in pairwise(edges.tolist()):
        room, text = 0.85 * (right - left), hand.next_words(1, 2)
        if rng.random() < 0.7:
            mark, role = printed(text[: max(2, int(room / (1.1 * size)))], 0.65 * size, rng), Role.PRINT
        else:
            mark, role = hand.mark(text, most=room), Role.BODY
        if mark.width <= right - left:
            sheet.put(mark, (left + right - mark.width) / 2, top, role)
    row = top + 1.5 * size
    for shift in (0, 3)[: int(rng.integers(1, 3))]:
        sheet.stroke([(edges[0], row + shift), (edges[-1], row + shift)], 1, 180)
    return 4.5 * size


def table_rows(
    sheet: Sheet,
    hand: Hand,
    chosen: Sequence[tuple[Entry, float]],
    edges: Floats,
    rows: tuple[float, float],
    pitch: float,
    rng: np.random.Generator,
) -> list[Cell]:
    """The cells of a table from top to bottom; texts too long for a cell continue on its next line."""
    pools: list[list[list[Mark]]] = []
    for (entry, _), left, right in zip(chosen, edges[:-1], edges[1:], strict=True):
        room = 0.92 * float(right - left)
        pools.append([])
        for _ in range(POOL):
            text = hand.known(entry(hand, rng))
            parts = in_width(hand, text, room) if rng.random() < 0.7 else [text]
            pools[-1].append([hand.mark(part, most=room) for part in parts])
    cells, number, row, fullness = list[Cell](), 0, rows[0], rng.uniform(0.5, 1.0)
    while row < rows[1]:
        tall = 1
        for column, (pool, left) in enumerate(zip(pools, edges[:-1].tolist(), strict=True)):
            if rng.random() > fullness:
                continue
            marks, lines = pool[int(rng.integers(POOL))], list[int]()
            for part, mark in enumerate(marks):
                spare = float(edges[column + 1]) - left - mark.width
                start = left + spare * (rng.uniform(0.03, 0.2) if len(marks) > 1 else rng.uniform(0.05, 0.6))
                if row + part * pitch < rows[1]:
                    lines += sheet.put(mark, start, row + part * pitch + rng.normal(0, 0.06) * pitch)
            tall = max(tall, len(marks))
            cells += [Cell(number, column, tuple(lines))] if lines else []
        number, row = number + 1, row + pitch * tall
    return cells


def in_width(hand: Hand, text: str, room: float) -> list[str]:
    """A text in parts that fit into a cell, at most three."""
    parts = [""]
    for word in text.split():
        longer = f"{parts[-1]} {word}".strip()
        if parts[-1] and len(parts) < 3 and hand.width(longer) > room:
            parts.append(word)
        else:
            parts[-1] = longer
    return parts


def account(sheet: Sheet, hand: Hand, box: Edges, rng: np.random.Generator) -> None:
    """Entries with an amount of one to three numbers each, often with dots that lead to it, and a sum."""
    marginal(sheet, hand, box, rng)
    left, top, right, bottom = inset(box, rng.uniform(0.05, 0.12), rng.uniform(0.06, 0.12))
    numbers, step = int(rng.integers(1, 4)), 4.2 * hand.x_height
    while numbers > 1 and numbers * step > 0.35 * (right - left):
        numbers -= 1
    amounts = right - max(numbers * step, 6 * hand.x_height if numbers == 1 else 0)
    pitch, led = hand.x_height * rng.uniform(2.4, 4.2), rng.random() < 0.6
    mark = hand.mark(hand.next_words(2, 6), most=right - left)
    sheet.region(Kind.TEXT, sheet.put(mark, left, top))
    row, start, cells, number = top + 1.5 * pitch, len(sheet.lines), list[Cell](), 0
    while row < bottom:
        parts = [hand.line(rng.uniform(0.4, 1.0) * (amounts - left)) for _ in range(int(rng.choice((1, 1, 1, 2))))]
        lines = list[int]()
        for text in parts:
            lines += sheet.put(hand.mark(text, most=amounts - left), left, row)
            row += pitch
        row -= pitch
        cells += [Cell(number, 0, tuple(lines))] if lines else []
        if led and lines:
            first = float(sheet.lines[lines[-1]].baseline[-1, 0]) + hand.x_height
            for x in np.arange(first, amounts - hand.x_height, rng.uniform(0.8, 2) * hand.x_height).tolist():
                sheet.stroke([(x, row), (x + 1, row)], 2, 160)
        for column in range(numbers):
            if rng.random() < 0.85:
                mark = hand.mark(hand.known(str(int(10 ** rng.uniform(0, 3)))), most=step)
                end = right - (numbers - 1 - column) * step - 0.6 * hand.x_height
                placed = sheet.put(mark, end - mark.width, row + rng.normal(0, 0.05) * pitch)
                cells += [Cell(number, column + 1, tuple(placed))] if placed else []
        number, row = number + 1, row + pitch
    sheet.region(Kind.TABLE, range(start, len(sheet.lines)), cells)
    if rng.random() < 0.6:
        for column in range(numbers + int(rng.random() < 0.3)):
            x = right - (numbers - column) * step - 0.2 * hand.x_height
            sheet.stroke([(x, top + 0.3 * pitch), (x + rng.normal(0, 1), bottom)], 1, int(rng.uniform(80, 200)))


KINDS: tuple[Callable[[Sheet, Hand, Edges, np.random.Generator], None], ...] = (
    letter,
    opening,
    register,
    account,
    noted,
    columns,
)
