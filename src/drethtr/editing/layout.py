"""What a person does to the layout of a page: each action is one change of its file.

A line that nobody has edited loses its text when its place changes, and is read again; until then the page shows the
text that the history keeps. Edited texts stay.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Points
from drethtr.documents.transcription import Review, Tag, Transcription
from drethtr.editing.changes import Changed, Outline, carry_over, tidy, within
from drethtr.editing.journal import Change
from drethtr.editing.places import crossings, hull, in_writing_direction, neighbor_before, split_offset, split_place
from drethtr.editing.regions import (
    arranged,
    moved,
    parts_beside,
    placed,
    region_of,
    with_free_ids,
    without,
    without_lines,
)
from drethtr.editing.status import status_of
from drethtr.editing.surroundings import in_surroundings


@dataclass(frozen=True)
class Action(ABC):
    """Something that a person does; its fields come from the request."""

    name: ClassVar[str]

    @abstractmethod
    def done(self, file: PageFile, outline: Outline) -> Changed:
        """The file after it.

        Raises:
            DataError: if it cannot be done.
        """


@dataclass(frozen=True)
class Draw(Action):
    """Add a line, after another one or at the place that its position suggests."""

    name = "draw"
    baseline: Points | None = None
    polygon: Points | None = None
    after: str | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        line = TextLine("", within(self.polygon, file.page), within(self.baseline, file.page))
        if line.baseline is None and line.polygon is None:
            raise DataError("a new line needs a baseline or an outline")
        if line.polygon is None:
            line = replace(line, polygon=outline(line, file))
        after = self.after or neighbor_before(file.page.lines, line.baseline or line.polygon or ())
        new = replace(line, id=file.free_id("line"))
        note = Change(new.id, self.name, new="")
        drawn = file.with_lines_after({after: [new]})
        return Changed(drawn if self.after else in_surroundings(drawn, [new.id]), (new.id,), (note,))


@dataclass(frozen=True)
class Delete(Action):
    """Remove lines."""

    name = "delete"
    lines: tuple[str, ...]

    def done(self, file: PageFile, outline: Outline) -> Changed:
        notes = [Change(line, self.name, file.line(line).text) for line in self.lines]
        return Changed(without_lines(file, self.lines), (), tuple(notes))


@dataclass(frozen=True)
class Cut(Action):
    """Cut every line that a stroke crosses, or only some; texts are cut between their words there."""

    name = "cut"
    stroke: Points
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, outline: Outline) -> Changed:
        chosen = [line for line in file.page.lines if not self.lines or line.id in self.lines]
        points = {line.id: found for line in chosen if (found := crossings(in_writing_direction(line), self.stroke))}
        changed = cut(file, points, outline)
        if not changed.lines:
            raise DataError("no line was cut: the stroke crosses none between its ends")
        return changed


@dataclass(frozen=True)
class Split(Action):
    """Cut a line at a point, and its text at an offset, by default between its words there."""

    name = "cut"
    line: str
    point: tuple[int, int]
    offset: int | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        if file.line(self.line).baseline is None:
            raise DataError(f"line {self.line!r} has no baseline to split; draw one first")
        changed = cut(file, {self.line: [self.point]}, outline, self.offset)
        if not changed.lines:
            raise DataError("a line can only be split between its ends; choose a point inside it")
        return changed


def cut(
    file: PageFile, points: Mapping[str, Sequence[tuple[int, int]]], outline: Outline, offset: int | None = None
) -> Changed:
    """A file with lines cut at points, each from its end to its start; the first part keeps the id."""
    ids, changed = file.new_editor().ids, list[TextLine]()
    new = dict[str, list[TextLine]]()
    for id, of_line in points.items():
        first, rest = in_writing_direction(file.line(id)), list[TextLine]()
        touched = status_of(first, file).touched
        for point in of_line:
            if (halves := halved(first, point, touched=touched, offset=offset)) is not None:
                first, second = halves
                rest.insert(0, replace(second, id=ids.claim(id)))
        if rest:
            changed.append(first)
            new[id] = rest
    parts = [part for first in changed for part in (first, *new[first.id])]
    # Text that nobody has edited is read again, unless somebody has tagged it.
    kept = {part.id for id in new if tags_within(file.line(id)) for part in (file.line(id), *new[id])}
    read = {
        part.id: part if part.is_reviewed or part.id in kept else replace(part, transcription=None) for part in parts
    }
    notes = tuple(Change(part.id, Cut.name, part.text, read[part.id].text) for part in parts)
    firsts = [read[first.id] for first in changed]
    after: dict[str | None, list[TextLine]] = {id: [read[part.id] for part in lines] for id, lines in new.items()}
    done = file.with_lines(firsts).with_lines_after(after) if changed else file
    for part in read.values():
        if part.tags:
            done = done.with_tags(part.id, part.tags)
    return Changed(done, tuple(part.id for part in parts), notes)


def halved(
    line: TextLine, point: tuple[int, int], *, touched: bool, offset: int | None = None
) -> tuple[TextLine, TextLine] | None:
    """A line cut in two, with its text; a person's text is "corrected" in both. None if a part would be empty."""
    if line.baseline is None or (parts := split_place(line, point)) is None:
        return None
    at_word = split_offset(line, point) if offset is None else offset
    texts = [tidy(line.text[:at_word]), tidy(line.text[at_word:])]
    starts = [0, len(line.text) - len(texts[1])]
    tags = [tags_within(line, start, start + len(text)) for start, text in zip(starts, texts, strict=True)]
    count = len(texts[0].split())
    words = [
        carry_over(of_part, text) for of_part, text in zip((line.words[:count], line.words[count:]), texts, strict=True)
    ]
    review = Review.CORRECTED if touched else None
    first, second = (
        TextLine(
            line.id, polygon, baseline, Transcription(text, None, known if line.words else (), review=review, tags=own)
        )
        for (baseline, polygon), text, known, own in zip(parts, texts, words, tags, strict=True)
    )
    return first, second


def tags_within(line: TextLine, start: int = 0, end: int = sys.maxsize) -> tuple[Tag, ...]:
    """The tags between two places of a text, relative to the first; without tags of the whole line."""
    found = list[Tag]()
    for tag in line.tags:
        begin, stop = max(tag.start, start), min(tag.start + tag.length, end)
        if begin < stop:
            found.append(tag._replace(start=begin - start, length=stop - begin))
    return tuple(found)


@dataclass(frozen=True)
class Join(Action):
    """Join the pieces of a line; the first in reading order keeps its id, and all that other programs wrote in it."""

    name = "join"
    lines: tuple[str, ...]

    def done(self, file: PageFile, outline: Outline) -> Changed:
        lines = [line for line in file.page.lines if line.id in self.lines]
        if len(lines) < 2 or len(set(self.lines)) != len(lines):
            raise DataError("choose at least two lines of this page to join")
        kept, *gone = lines
        pieces = in_writing_order(lines)
        baseline = tuple(point for piece in pieces for point in piece.baseline or ()) or None
        joined = TextLine(kept.id, hull([point for piece in pieces for point in piece.polygon or ()]) or None, baseline)
        if baseline is not None and (found := outline(joined, file)) is not None:
            joined = replace(joined, polygon=found)
        text, tags = "", list[Tag]()
        for piece in pieces:
            text = f"{text} " if text and piece.text else text
            tags += [tag._replace(start=len(text) + tag.start) for tag in tags_within(piece)]
            text += piece.text
        touched = any(status_of(piece, file).touched for piece in pieces)
        if touched or tags:
            words = tuple(word for piece in pieces for word in piece.words)
            review = Review.CORRECTED if touched else None
            joined = replace(joined, transcription=Transcription(text, None, words, review=review))
        notes = [Change(kept.id, self.name, text, joined.text)]
        notes += [Change(line.id, self.name, line.text) for line in gone]
        file = file.with_line(joined)
        if tags:
            file = file.with_tags(kept.id, tags)
        return Changed(file.without_lines([line.id for line in gone]), (kept.id,), tuple(notes))


def in_writing_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Pieces of one line by where they begin along the longest of them; those below each other stay in order."""
    known = [line for line in lines if line.baseline]
    if len(known) < len(lines):
        return list(lines)
    ends = [np.asarray((line.baseline[0], line.baseline[-1]), dtype=np.float64) for line in known if line.baseline]
    longest = max(ends, key=lambda pair: float(np.hypot(*(pair[1] - pair[0]))))
    along = [pair @ (longest[1] - longest[0]) for pair in ends]
    order = sorted(range(len(lines)), key=lambda number: float(along[number][0]))
    beside = all(along[b][0] >= along[a].mean() for a, b in pairwise(order))
    return [lines[number] for number in order] if beside else list(lines)


@dataclass(frozen=True)
class Move(Action):
    """Move lines, in the order given, after or before another line and into its region, or to the beginning."""

    name = "order"
    lines: tuple[str, ...]
    after: str | None = None
    before: str | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        beside = (
            self.after or self.before or next((line.id for line in file.page.lines if line.id not in self.lines), "")
        )
        if beside in self.lines:
            raise DataError("lines cannot be moved beside one of themselves")
        region = region_of(file, beside)
        others = [line.id for line in region.lines if line.id not in self.lines]
        start = others.index(beside) + (self.after is not None)
        return moved(file, self.lines, region, start, self.name)


@dataclass(frozen=True)
class Follow(Action):
    """Order lines along a drawn path: they follow each other at the place of the first of them."""

    name = "order"
    lines: tuple[str, ...]

    def done(self, file: PageFile, outline: Outline) -> Changed:
        if len(set(self.lines)) < 2:
            raise DataError("draw the path through at least two lines")
        region = region_of(file, self.lines[0])
        start = next(place for place, line in enumerate(region.lines) if line.id in self.lines)
        return moved(file, self.lines, region, start, self.name)


@dataclass(frozen=True)
class SetRegion(Action):
    """Give lines a region of their own, with a kind; or give a region a kind, an outline, more lines."""

    name = "region"
    lines: tuple[str, ...] = ()
    region: str | None = None
    kind: str | None = None
    polygon: Points | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        known = [line for line in file.page.lines if line.id in self.lines]
        polygon = within(self.polygon, file.page)
        if self.region is None:
            if not known:
                raise DataError("a region needs lines; choose some")
            new = Region(file.free_id("region"), tuple(known), polygon, tidy(self.kind or ""))
            parts = [part for region in file.page.regions for part in parts_beside(region, known)]
            regions = with_free_ids(file, placed(file.page, parts, [new]))
            return arranged(file, regions, self.lines, self.name)
        if self.region not in file.region_ids:
            raise DataError(f"this page has no region {self.region!r}")
        regions = [
            replace(
                region,
                lines=(*region.lines, *known),
                kind=region.kind if self.kind is None else tidy(self.kind),
                polygon=polygon or region.polygon,
            )
            if region.id == self.region
            else region
            for region in (without(region, self.lines) for region in file.page.regions)
        ]
        return arranged(file, regions, self.lines, self.name)


@dataclass(frozen=True)
class Dissolve(Action):
    """Remove a region; its lines go to the nearest one, the earlier of two, but not to a cell if it is none itself."""

    name = "region"
    region: str

    def done(self, file: PageFile, outline: Outline) -> Changed:
        ids = [region.id for region in file.page.regions]
        if self.region not in ids or len(ids) < 2:
            raise DataError("the only region of a page cannot be removed" if self.region in ids else "no such region")
        number = ids.index(self.region)
        regions = list(file.page.regions)
        gone = regions[number]

        def distance(other: int) -> tuple[bool, int, int]:
            return regions[other].cell is not None and gone.cell is None, abs(other - number), other

        near = min(set(range(len(ids))) - {number}, key=distance)
        lines = gone.lines + regions[near].lines if number < near else regions[near].lines + gone.lines
        regions[near] = replace(regions[near], lines=lines)
        del regions[number]
        return arranged(file, regions, [line.id for line in gone.lines], self.name)


@dataclass(frozen=True)
class MoveRegion(Action):
    """Move a region, or the whole table of a cell, after another region, or to the beginning."""

    name = "order"
    region: str
    after: str | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        regions = {region.id: region for region in file.page.regions}
        cell = regions[self.region].cell if self.region in regions else None
        tables = {id: region.cell.table for id, region in regions.items() if region.cell}
        chosen = [id for id in regions if id == self.region or (cell and tables.get(id) == cell.table)]
        others = [id for id in regions if id not in chosen]
        if not chosen or (self.after and self.after not in others):
            raise DataError("there is no such region, or it is the same")
        start = 0 if self.after is None else others.index(self.after) + 1
        order = [regions[id] for id in (*others[:start], *chosen, *others[start:])]
        lines = [line.id for id in chosen for line in regions[id].lines]
        return arranged(file, order, lines, self.name)
