"""Read a page: find its lines unless they are given, straighten and read them, and place their words on the page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import CellPlace, Page, Region, TextLine
from drethtr.documents.points import Points, box_around
from drethtr.documents.transcription import PageFlag, PageWord, Transcription
from drethtr.images.line import Line, open_line
from drethtr.images.straighten import Strip, straighten
from drethtr.layout.doubt import doubt_of_layout
from drethtr.layout.finder import Finder, Floats, FoundLine, Layout, Role
from drethtr.layout.finders import finder_named
from drethtr.layout.given import FOOT, GivenLine, Outlines, complete
from drethtr.layout.order import arranged, by_direction
from drethtr.layout.turn import half_turned
from drethtr.layout.whole import Whole
from drethtr.pages.source import Original, open_originals
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt
from drethtr.recognition.reading import Reading, Word, is_doubtful
from drethtr.recognition.recognizer import Recognizer

Witness: TypeAlias = Callable[[str, Strip, Reading], object]
"""Called for every line with its final reading: the line's id, its strip on the page, and the reading."""


def nobody(id: str, strip: Strip, reading: Reading) -> None:
    """A witness that ignores everything."""


def transcription_of(reading: Reading, strip: Strip, width: int, height: int) -> Transcription:
    """The text of a straightened line, its words and flags with their places on a page of this size."""
    words = tuple(word_of(word, reading, strip, width, height) for word in reading.words())
    flags = tuple(
        PageFlag(flag.kind, flag.reason, outline_on_page(strip, flag.left, flag.right, width, height))
        for flag in reading.flags
    )
    return Transcription(reading.text, reading.confidence, words, flags, reading.calibrated)


def word_of(word: Word, line: Reading, strip: Strip, width: int, height: int) -> PageWord:
    """A word of a line, with its place on a page of this size."""
    place = outline_on_page(strip, word.left, word.right, width, height)
    return PageWord(word.text, word.confidence, place, is_doubtful(word, line))


def outline_on_page(strip: Strip, left: float, right: float, width: int, height: int) -> Points | None:
    """The polygon of some columns of a line on a page of this size; None if it has no area there."""
    polygon = on_page(strip.outline(left, right), width, height)
    return polygon if (box := box_around(polygon)) is not None and box.width and box.height else None


def on_page(points: Floats | Iterable[tuple[float, float]], width: int, height: int) -> Points:
    """Points in whole pixels, clipped to the page, without consecutive repetitions."""
    whole = np.rint(np.asarray(list(points), dtype=np.float64).reshape(-1, 2)).clip(0, (width, height))
    places = ((int(x), int(y)) for x, y in whole)
    return tuple(place for place, _ in groupby(places))


LINES_AT_A_TIME = 64
"""Lines that are straightened and read together."""

HEAD_DOWN = 0.9
"""Lines read with less confidence are also tried upside down."""

PROBES = 6
"""Number of lines tried upside down: the longest ones."""

LAYOUT = "layout"
"""The kind of the flag on a page whose layout is doubtful, and on its first line."""

BETTER = 0.1
"""Minimum gain in confidence for lines to be turned upside down."""

Keeps: TypeAlias = Callable[[TextLine], bool]
"""Whether a given line keeps its text instead of being read."""


def nothing(line: TextLine) -> bool:
    """Read all given lines."""
    return False


ReadLines: TypeAlias = Callable[[Sequence[Line]], list[Reading]]
"""Reads lines as `Recognizer.read_lines` does; an editor or server passes one that lets others take turns."""


class ReadLine(NamedTuple):
    """A line and its reading."""

    line: FoundLine
    strip: Strip
    reading: Reading


class Seen(NamedTuple):
    """A page whose lines are known and cut out, but not read: what can be done ahead, in another thread.

    given   its description, if it has one
    lines   the given lines that are read, or those of the layout that was found
    strips  of these lines, by number; lines that cannot be read have none
    """

    original: Original
    gray: Line
    given: Page | None
    layout: Layout
    strips: Mapping[int, Strip]

    @property
    def has_lines(self) -> bool:
        """Whether its lines are given."""
        return self.given is not None and bool(self.given.lines)


def see(original: Original, recognizer: Recognizer, finder: Finder, keeps: Keeps = nothing) -> Seen | None:
    """A page with its lines, for `transcribe` with the same arguments; None for the image of a single line.

    Raises:
        DataError: as `transcribe`.
        MissingExtraError: as `transcribe`.
    """
    if original.error is not None:
        raise original.error
    if finder.whole and not original.has_lines:
        return None
    gray = original.source.gray()
    given = original.given_for(gray)
    if given is not None and given.lines:
        layout = Layout(tuple(given_lines(gray, given, keeps, original.outlines)))
    else:
        layout = Layout.of(finder.find(gray))
    return Seen(original, gray, given, layout, dict(strips_of(gray, layout.lines, recognizer)))


def transcribe_page(path: str | Path, recognizer: Recognizer, finder: Finder | None = None) -> Page:
    """Transcribe a page: an image file, or a PAGE, ALTO or JSON file with its image beside it.

    Args:
        path: A file with one page.
        finder: Line segmentation, if the file has no lines. By default an image less than 300 pixels tall, or
            at least five times wider than tall, is one line, and `RapidDetector` finds the lines of others.

    Raises:
        ConfigError: if `path` is no path, but an image.
        DataError: if file or image are missing or damaged, or the file holds several pages.
        MissingExtraError: if the finder needs a package that is not installed.
    """
    original, *others = open_originals(path)
    if others:
        raise DataError(
            f"holds {len(others) + 1} pages; drethtr.open_originals gives each of them, "
            "and drethtr.transcribe reads it",
            path,
        )
    return transcribe(original, recognizer, finder)


def transcribe(
    original: Original,
    recognizer: Recognizer,
    finder: Finder | None = None,
    *,
    keeps: Keeps = nothing,
    witness: Witness = nobody,
    read: ReadLines | None = None,
    seen: Seen | None = None,
) -> Page:
    """Transcribe a page: its given lines, or the detected ones if there are none.

    Args:
        finder: Line segmentation; by default the one that suits the image, see `Original.finder_name`.
        keeps: Whether a given line is not read; others lose their text, also if they cannot be read.
        witness: Receives every line that is read, once, when its text is final.
        read: Reads the lines; by default the recognizer does, all at once.
        seen: What `see` found on the page before.

    Raises:
        DataError: if the image is damaged, or not the one that was described.
        MissingExtraError: if the finder needs a package that is not installed.
    """
    if original.error is not None:
        raise original.error
    chosen = finder or finder_named(original.finder_name)
    seen = seen or see(original, recognizer, chosen.with_threads(recognizer.threads), keeps)
    read = read or recognizer.read_lines
    page = read_original(original, seen, recognizer, keeps, witness, read)
    rate = recognizer.model.record.error_rate(recognizer.strategy)
    return replace(page, source=original.source, flags=(*page.flags, *page_flags(page.lines, rate)))


def read_original(
    original: Original, seen: Seen | None, recognizer: Recognizer, keeps: Keeps, witness: Witness, read: ReadLines
) -> Page:
    """The page of `transcribe`, still without its scan."""
    if seen is None:
        line = WholeLine.open(original, recognizer)
        [reading] = read([line.pixels])
        return line.page(reading, witness)
    gray, given = seen.gray, seen.given
    reads = dict(read_lines(gray, seen.layout.lines, recognizer, read, seen.strips))
    if given is not None and seen.has_lines:
        return read_given_lines(gray, given, reads, recognizer, keeps, witness, read)
    name = original.source.image_name if given is None else given.image
    return read_layout(gray, name, seen.layout, reads, recognizer, witness, read)


def read_given(
    gray: Line,
    page: Page,
    recognizer: Recognizer,
    keeps: Keeps = nothing,
    witness: Witness = nobody,
    read: ReadLines | None = None,
    outlines: Outlines = Outlines.AUTO,
) -> Page:
    """The page with its given lines read; lines without a usable place have no text."""
    reads = dict(read_lines(gray, given_lines(gray, page, keeps, outlines), recognizer, read))
    return read_given_lines(gray, page, reads, recognizer, keeps, witness, read)


def given_lines(gray: Line, page: Page, keeps: Keeps, outlines: Outlines) -> Sequence[FoundLine]:
    """The given lines of a page that are read and have a place."""
    return complete(gray, [GivenLine.of(line) for line in page.lines if not keeps(line) and is_placed(line)], outlines)


def is_placed(line: TextLine) -> bool:
    """Whether a given line has a place."""
    return bool(line.baseline or line.polygon)


def read_given_lines(
    gray: Line,
    page: Page,
    reads: Mapping[int, ReadLine],
    recognizer: Recognizer,
    keeps: Keeps,
    witness: Witness,
    read: ReadLines | None,
) -> Page:
    """The page with the readings of its `given_lines`."""
    wanted = [line for line in page.lines if not keeps(line)]
    placed = list(filter(is_placed, wanted))
    done = {line.id: replace(line, transcription=None) for line in wanted}
    for number, one in upright(gray, reads, recognizer, read).items():
        text = transcription_of(one.reading, one.strip, page.width, page.height)
        line = placed[number]
        witness(line.id, one.strip, one.reading)
        done[line.id] = merged(line, placed_line(line.id, one.line, text, page.width, page.height))
    return page.with_lines(lambda line: done.get(line.id, line))


def merged(line: TextLine, read: TextLine) -> TextLine:
    """A given line with its reading, the baseline or polygon that it lacked, and its baseline in writing direction."""
    known = line.baseline if line.baseline and read.baseline and runs_as(line.baseline, read.baseline) else None
    return replace(read, baseline=known or read.baseline, polygon=line.polygon or read.polygon, kind=line.kind)


def runs_as(baseline: Points, other: Points) -> bool:
    """Whether two baselines have the same direction, not the opposite one."""
    (x, y), (other_x, other_y) = (np.subtract(points[-1], points[0]) for points in (baseline, other))
    return bool(x * other_x + y * other_y >= 0)


def read_found(
    gray: Line,
    name: str,
    recognizer: Recognizer,
    finder: Finder,
    witness: Witness = nobody,
    read: ReadLines | None = None,
) -> Page:
    """The page of an image with this name: the lines that are found and have text."""
    layout = Layout.of(finder.with_threads(recognizer.threads).find(gray))
    reads = dict(read_lines(gray, layout.lines, recognizer, read))
    return read_layout(gray, name, layout, reads, recognizer, witness, read)


def read_layout(
    gray: Line,
    name: str,
    layout: Layout,
    reads: Mapping[int, ReadLine],
    recognizer: Recognizer,
    witness: Witness,
    read: ReadLines | None,
) -> Page:
    """The page with the readings of the lines of a layout."""
    height, width = gray.shape
    reads = upright(gray, reads, recognizer, read)
    written = {number: one for number, one in reads.items() if one.reading.text}
    layout = arranged(layout.with_lines({number: one.line for number, one in written.items()}))
    in_layout = list(written.values())
    lines = {}
    for number, id in ids_in(layout).items():
        one = in_layout[number]
        text = transcription_of(one.reading, one.strip, width, height)
        lines[number] = placed_line(id, one.line, text, width, height)
        witness(id, one.strip, one.reading)
    flags: tuple[PageFlag, ...] = ()
    if lines and (reason := doubt_of_layout(layout).reason):
        flags, first = (PageFlag(LAYOUT, reason),), next(iter(lines))
        lines[first] = flagged(lines[first], *flags)  # for formats in which only lines have flags
    return Page(name, width, height, regions_of(layout, lines, width, height), flags=flags)


def flagged(line: TextLine, *flags: PageFlag) -> TextLine:
    """A read line with more flags."""
    text = line.transcription
    return line if text is None else replace(line, transcription=replace(text, flags=(*text.flags, *flags)))


def ids_in(layout: Layout) -> dict[int, str]:
    """The ids of the lines of an arranged layout, in reading order, by their numbers."""
    return {
        line: f"r{place}l{number}"
        for place, region in enumerate(layout.regions or (), start=1)
        for number, line in enumerate(region.lines, start=1)
    }


def regions_of(layout: Layout, lines: Mapping[int, TextLine], width: int, height: int) -> tuple[Region, ...]:
    """The regions of an arranged layout on a page of this size, with a region for each cell of a table."""
    regions = []
    for place, region in enumerate(layout.regions or (), start=1):
        id = f"r{place}"
        if not region.cells:
            outline = None if region.polygon is None else on_page(region.polygon, width, height)
            regions.append(Region(id, tuple(lines[number] for number in region.lines), outline, str(region.kind)))
        rank = {number: rank for rank, number in enumerate(region.lines)}
        for cell in sorted(region.cells, key=lambda cell: min(rank[number] for number in cell.lines)):
            of_cell = tuple(lines[number] for number in sorted(cell.lines, key=rank.__getitem__))
            of_table = CellPlace(id, cell.row, cell.column)
            regions.append(
                Region(f"{id}c{cell.row + 1}_{cell.column + 1}", of_cell, kind=str(region.kind), cell=of_table)
            )
    return tuple(regions)


def read_lines(
    gray: Line,
    lines: Sequence[FoundLine],
    recognizer: Recognizer,
    read: ReadLines | None = None,
    strips: Mapping[int, Strip] | None = None,
) -> Iterable[tuple[int, ReadLine]]:
    """The lines that can be read, with their numbers; `strips` are those of all lines, if they were cut out before."""
    read = read or recognizer.read_lines
    every = strips_of(gray, lines, recognizer) if strips is None else iter(strips.items())
    while some := list(islice(every, LINES_AT_A_TIME)):
        readings = read([strip.line for _, strip in some])
        for (number, strip), reading in zip(some, readings, strict=True):
            yield number, ReadLine(lines[number], strip, reading)


def strips_of(gray: Line, lines: Sequence[FoundLine], recognizer: Recognizer) -> Iterator[tuple[int, Strip]]:
    """The strips of the lines that can be read, with the numbers of these."""
    for number, line in enumerate(lines):
        if (strip := readable(gray, line, recognizer)) is not None:
            yield number, strip


def readable(gray: Line, line: FoundLine, recognizer: Recognizer) -> Strip | None:
    """The straightened line, dark on light; None if it has no area, or is far too long for its height."""
    try:
        strip = straighten(gray, line.baseline, line.polygon)
        return strip._replace(line=recognizer.open_line(strip.line))
    except DataError:
        return None


def upright(
    gray: Line, reads: Mapping[int, ReadLine], recognizer: Recognizer, read: ReadLines | None = None
) -> dict[int, ReadLine]:
    """The lines, with those of a direction turned and read again if they are upside down."""
    found, numbers = dict(reads), list(reads)
    for group in by_direction([read.line for read in found.values()]):
        own = [numbers[place] for place in group]
        if confidence([found[number] for number in own]) >= HEAD_DOWN:
            continue
        probes = sorted(own, key=lambda number: -found[number].strip.line.shape[1])[:PROBES]
        turned = read_lines(
            gray, [half_turned(found[number].line, found[number].strip) for number in probes], recognizer, read
        )
        if confidence([one for _, one in turned]) < confidence([found[number] for number in probes]) + BETTER:
            continue
        lines = [half_turned(found[number].line, found[number].strip) for number in own]
        for place, one in read_lines(gray, lines, recognizer, read):
            found[own[place]] = one
    return found


def confidence(reads: Sequence[ReadLine]) -> float:
    """The mean confidence of all characters; 0 if there are none."""
    weights = [len(read.reading.text) for read in reads]
    return sum(read.reading.confidence * weight for read, weight in zip(reads, weights, strict=True)) / max(
        sum(weights), 1
    )


def placed_line(id: str, line: FoundLine, text: Transcription | None, width: int, height: int) -> TextLine:
    """A line of a page of this size."""
    polygon, baseline = (on_page(points, width, height) for points in (line.polygon, line.baseline))
    kind = "" if line.role in (None, Role.BODY) else str(line.role)
    return TextLine(id, polygon, baseline if len(baseline) > 1 else None, text, kind)


LINE_ID = "r1l1"
"""The id of the only line."""


class WholeLine(NamedTuple):
    """An image taken for a single line, opened: its pixels as those of any line image, and its name on its page."""

    original: Original
    pixels: Line
    name: str

    @classmethod
    def open(cls, original: Original, recognizer: Recognizer) -> Self:
        """Open the image of an original.

        Raises:
            DataError: if it is damaged, not the one that was described, or too long for its height.
        """
        source = original.source
        line = open_line(source.path if original.is_alone else source.gray())
        given = original.given_for(line)
        try:
            recognizer.refuse_unreadable(line)
        except DataError as error:
            raise error.of(original.name) from error
        return cls(original, line, source.image_name if given is None else given.image)

    @classmethod
    def or_error(cls, original: Original, recognizer: Recognizer) -> Self | DataError:
        """The opened image, or why it cannot be opened."""
        try:
            return cls.open(original, recognizer)
        except DataError as error:
            return error

    def page(self, reading: Reading, witness: Witness = nobody) -> Page:
        """The page whose only line is the image, neither straightened nor cropped."""
        height, width = self.pixels.shape
        [found] = Whole().find(self.pixels)
        strip = strip_of(self.pixels)
        witness(LINE_ID, strip, reading)
        text = transcription_of(reading, strip, width, height)
        polygon, baseline = (on_page(points, width, height) for points in (found.polygon, found.baseline))
        region = Region("r1", (TextLine(LINE_ID, polygon, baseline, text),))
        return Page(self.name, width, height, (region,), self.original.source)


def strip_of(line: Line) -> Strip:
    """The strip that covers the image of a line."""
    height, width = line.shape
    above = round(FOOT * height)
    places = np.column_stack((np.linspace(0, width, width), np.full(width, above, dtype=np.float64)))
    return Strip(line, places, np.tile((0.0, 1.0), (width, 1)), above, (0, width))


UNKNOWN_HAND = "unknown-hand"
"""The kind of the flag."""

CURE = "confirm about 60 lines of it in drethtr edit, and run drethtr model finetune"
"""Sixty lines of a new hand removed a third of its errors, fifty lines a sixth in another."""


def doubt_in(lines: Iterable[TextLine]) -> TotalDoubt:
    """The doubt in lines that were read; those without confidence are left out."""
    sure = [(line.confidence, line.text) for line in lines if line.confidence is not None]
    return TotalDoubt(
        sum((1 - confidence) * len(text) for confidence, text in sure),
        sum(len(text) for _, text in sure),
        len(sure),
        sum(not text for _, text in sure),
    )


def page_flags(lines: Iterable[TextLine], rate: ErrorRate | None) -> tuple[PageFlag, ...]:
    """The flags of a page as a whole, from its lines that no person has touched; none if `rate` is unknown."""
    read = doubt_in(line for line in lines if not line.is_reviewed)
    if rate is None or not rate.unknown_hand(read):
        return ()
    return (PageFlag(UNKNOWN_HAND, f"about {rate(read).cer:.0%} of the characters are probably wrong; {CURE}"),)


def has_unknown_hand(page: Page) -> bool:
    """Whether a page was flagged so."""
    return any(flag.kind == UNKNOWN_HAND for flag in page.flags)
