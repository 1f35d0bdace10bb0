"""Read a page: segment it unless its lines are given, read them, and place their words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import PageFlag
from drethtr.images.line import Line, open_line
from drethtr.images.straighten import Strip
from drethtr.layout.doubt import doubt_of_layout
from drethtr.layout.finder import Finder, Layout
from drethtr.layout.finders import Whole
from drethtr.layout.given import FOOT, GivenLine, Outlines, complete
from drethtr.layout.order import arranged
from drethtr.pages.flags import LAYOUT, flagged, page_flags
from drethtr.pages.line_reading import ReadLine, ReadLines, read_strips, strips_of, upright
from drethtr.pages.placing import ids_in, merged, placed_line, regions_of, transcription_of
from drethtr.pages.segmentation import FoundBy, Segmentation
from drethtr.pages.source import Original, open_originals
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

Keeps: TypeAlias = Callable[[TextLine], bool]
"""Whether a given line keeps its text instead of being read."""

LineCallback: TypeAlias = Callable[[str, Strip, Reading], object]
"""Called for every line with its final reading: the line's id, its strip on the page, and the reading."""


def keep_none(line: TextLine) -> bool:
    """Read all given lines."""
    return False


def ignore_line(id: str, strip: Strip, reading: Reading) -> None:
    """Ignore a line that was read."""


class SegmentedPage(NamedTuple):
    """A page whose lines are known and cut out, but not read; it can be prepared ahead, in another thread.

    name    of its image
    given   its description, if that has lines
    layout  the given lines that are read, or those that were found
    strips  of these lines, by number; lines that cannot be read have none
    """

    gray: Line
    name: str
    given: Page | None
    layout: Layout
    strips: Mapping[int, Strip]

    @classmethod
    def of(
        cls,
        gray: Line,
        name: str,
        given: Page | None,
        recognizer: Recognizer,
        find: Callable[[Line], Layout],
        keeps: Keeps = keep_none,
        outlines: Outlines = Outlines.AUTO,
    ) -> Self:
        """Segment the image of a page; if the page is given, only its lines without outline are completed."""
        if given is None:
            layout = find(gray)
        else:
            lines = [GivenLine.of(line) for line in given.lines if not keeps(line) and line.is_placed]
            layout = Layout(tuple(complete(gray, lines, outlines)))
        return cls(gray, name, given, layout, dict(strips_of(gray, layout.lines, recognizer)))


Segmented: TypeAlias = "SegmentedPage | WholeLine"
"""A page that is ready to be read."""


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


def transcribe(original: Original, recognizer: Recognizer, finder: Finder | None = None) -> Page:
    """Transcribe a page: its given lines, or the detected ones if there are none.

    Args:
        finder: Line segmentation, if the page has no given lines; by default the one that suits the image, see
            `Original.finder_name`.

    Raises:
        DataError: if the image is damaged, or not the one that was described.
        MissingExtraError: if the finder needs a package that is not installed.
    """
    segmentation = Segmentation() if finder is None else FoundBy(finder)
    return PageReader(recognizer, segmentation).transcribe(original)


@dataclass(frozen=True)
class PageReader:
    """Reads pages: in one call with `transcribe`, or with `segment`, maybe in another thread, and then `page`.

    segmentation  how to get the lines of a page
    keeps         whether a given line keeps its text; others lose it, even if they cannot be read
    on_line       receives every line that is read, once, when its text is final
    read_lines    reads the lines; by default the recognizer does, all at once
    """

    recognizer: Recognizer
    segmentation: Segmentation
    keeps: Keeps = keep_none
    on_line: LineCallback = ignore_line
    read_lines: ReadLines | None = None

    def transcribe(self, original: Original) -> Page:
        """A page as it is read.

        Raises:
            DataError: as `drethtr.transcribe`.
            MissingExtraError: as `drethtr.transcribe`.
        """
        return self.page(original, self.segment(original))

    def segment(self, original: Original, threads: int | None = None) -> Segmented:
        """A page with its lines.

        Args:
            threads: To find lines with; by default as many as the recognizer has.

        Raises:
            DataError: as `transcribe`.
            MissingExtraError: as `transcribe`.
        """
        if original.error is not None:
            raise original.error
        if self.segmentation.is_line(original):
            return WholeLine.open(original, self.recognizer)
        gray = original.source.gray()
        given = original.given_for(gray)
        name = original.source.image_name if given is None else given.image
        lines = given if given is not None and given.lines else None
        find = partial(self.segmentation.layout, original, threads=threads or self.recognizer.threads)
        return SegmentedPage.of(gray, name, lines, self.recognizer, find, self.keeps, original.outlines)

    def page(self, original: Original, segmented: Segmented) -> Page:
        """A page of which the lines are known, as it is read, with its flags."""
        page = self.read(segmented)
        rate = self.recognizer.model.record.error_rate(self.recognizer.strategy)
        return replace(page, source=original.source, flags=(*page.flags, *page_flags(page.lines, rate)))

    def read(self, segmented: Segmented) -> Page:
        """The page with its readings; unusable given lines have no text, found lines without text are dropped."""
        read_lines = self.read_lines or self.recognizer.read_lines
        if isinstance(segmented, WholeLine):
            [reading] = read_lines([segmented.pixels])
            return segmented.page(reading, self.on_line)
        reads = dict(read_strips(segmented.layout.lines, segmented.strips.items(), read_lines))
        reads = upright(segmented.gray, reads, self.recognizer, read_lines)
        if segmented.given is not None:
            return self.with_given(segmented.given, reads)
        return self.with_found(segmented, reads)

    def with_given(self, page: Page, reads: Mapping[int, ReadLine]) -> Page:
        """A given page with the readings of its lines."""
        wanted = [line for line in page.lines if not self.keeps(line)]
        placed = [line for line in wanted if line.is_placed]
        done = {line.id: replace(line, transcription=None) for line in wanted}
        for number, one in reads.items():
            text = transcription_of(one.reading, one.strip, page.width, page.height)
            line = placed[number]
            self.on_line(line.id, one.strip, one.reading)
            done[line.id] = merged(line, placed_line(line.id, one.line, text, page.width, page.height))
        return page.with_lines(lambda line: done.get(line.id, line))

    def with_found(self, segmented: SegmentedPage, reads: Mapping[int, ReadLine]) -> Page:
        """The page with the lines of its layout that have text."""
        height, width = segmented.gray.shape
        written = {number: one for number, one in reads.items() if one.reading.text}
        # The remaining layout renumbers its lines in the order of `written`.
        layout = arranged(segmented.layout.with_lines({number: one.line for number, one in written.items()}))
        in_layout = list(written.values())
        lines = {}
        for number, id in ids_in(layout).items():
            one = in_layout[number]
            text = transcription_of(one.reading, one.strip, width, height)
            lines[number] = placed_line(id, one.line, text, width, height)
            self.on_line(id, one.strip, one.reading)
        flags: tuple[PageFlag, ...] = ()
        if lines and (reason := doubt_of_layout(layout).reason):
            flags, first = (PageFlag(LAYOUT, reason),), next(iter(lines))
            lines[first] = flagged(lines[first], *flags)  # for formats in which only lines have flags
        return Page(segmented.name, width, height, regions_of(layout, lines, width, height), flags=flags)


LINE_ID = "r1l1"
"""The id of the only line."""


class WholeLine(NamedTuple):
    """An opened image that is read as a single line: its pixels as for any line image, and its name."""

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

    def page(self, reading: Reading, on_line: LineCallback = ignore_line) -> Page:
        """The page whose only line is the image, neither straightened nor cropped."""
        height, width = self.pixels.shape
        [found] = Whole().find(self.pixels)
        strip = strip_of(self.pixels)
        on_line(LINE_ID, strip, reading)
        text = transcription_of(reading, strip, width, height)
        region = Region("r1", (placed_line(LINE_ID, found, text, width, height),))
        return Page(self.name, width, height, (region,), self.original.source)


def strip_of(line: Line) -> Strip:
    """The strip that covers the image of a line."""
    height, width = line.shape
    above = round(FOOT * height)
    places = np.column_stack((np.linspace(0, width, width), np.full(width, above, dtype=np.float64)))
    return Strip(line, places, np.tile((0.0, 1.0), (width, 1)), above, (0, width))
