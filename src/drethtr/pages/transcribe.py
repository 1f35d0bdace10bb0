"""Read a page: find its lines unless they are given, straighten and read them, and place their words on the page."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import Page, Region, TextLine, Transcription
from drethtr.images.line import Line
from drethtr.images.straighten import Strip, straighten
from drethtr.layout.finder import Finder, FoundLine
from drethtr.layout.finders import finder_named
from drethtr.layout.given import GivenLine, complete
from drethtr.layout.order import arrange, by_direction
from drethtr.pages.place import Witness, nobody, on_page, transcription_of
from drethtr.pages.single_line import read_whole
from drethtr.pages.source import Original, open_originals
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

LINES_AT_A_TIME = 64
"""Lines that are straightened and read together."""

HEAD_DOWN = 0.9
"""Lines read with less confidence are also tried upside down."""

PROBES = 6
"""Number of lines tried upside down: the longest ones."""

SPACING = 48
"""Pixels between the points of the baseline of a turned line."""

BETTER = 0.1
"""Minimum gain in confidence for lines to be turned upside down."""


Keeps: TypeAlias = Callable[[TextLine], bool]
"""Whether a given line keeps its text instead of being read."""


def nothing(line: TextLine) -> bool:
    """Read all given lines."""
    return False


class ReadLine(NamedTuple):
    """A line and its reading."""

    line: FoundLine
    strip: Strip
    reading: Reading


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
) -> Page:
    """Transcribe a page: its given lines, or the detected ones if there are none.

    Args:
        finder: Line segmentation; by default the one that suits the image, see `Original.finder_name`.
        keeps: Whether a given line is not read; others lose their text, also if they cannot be read.
        witness: Receives every line that is read, once, when its text is final.

    Raises:
        DataError: if the image is damaged, or not the one that was described.
        MissingExtraError: if the finder needs a package that is not installed.
    """
    page = read_original(original, recognizer, finder or finder_named(original.finder_name), keeps, witness)
    return replace(page, source=original.source)


def read_original(original: Original, recognizer: Recognizer, finder: Finder, keeps: Keeps, witness: Witness) -> Page:
    """The page of `transcribe`, still without its scan."""
    if finder.whole and not original.has_lines:
        return read_whole(original, recognizer, witness)
    gray = original.source.gray()
    given = original.given_for(gray)
    if given is not None and given.lines:
        return read_given(gray, given, recognizer, keeps, witness)
    name = original.source.image_name if given is None else given.image
    return read_found(gray, name, recognizer, finder, witness)


def read_given(
    gray: Line, page: Page, recognizer: Recognizer, keeps: Keeps = nothing, witness: Witness = nobody
) -> Page:
    """The page with its given lines read; lines without a usable place have no text."""
    wanted = [line for line in page.lines if not keeps(line)]
    placed = [line for line in wanted if line.baseline or line.polygon]
    done = {line.id: replace(line, transcription=None) for line in wanted}
    lines = complete(gray, [GivenLine.of(line) for line in placed])
    for number, read in read_lines(gray, lines, recognizer):
        text = transcription_of(read.reading, read.strip, page.width, page.height)
        line = placed[number]
        witness(line.id, read.strip, read.reading)
        done[line.id] = merged(line, placed_line(line.id, read, text, page.width, page.height))
    return page.with_lines(lambda line: done.get(line.id, line))


def merged(line: TextLine, read: TextLine) -> TextLine:
    """A given line with its reading, and with the baseline or polygon that it lacked."""
    return replace(read, baseline=line.baseline or read.baseline, polygon=line.polygon or read.polygon)


def read_found(gray: Line, name: str, recognizer: Recognizer, finder: Finder, witness: Witness = nobody) -> Page:
    """The page of an image with this name: the lines that are found and have text."""
    height, width = gray.shape
    reads = upright(gray, dict(read_lines(gray, finder.find(gray), recognizer)), recognizer)
    written = [read for read in reads if read.reading.text]
    regions = []
    for place, block in enumerate(arrange([read.line for read in written]), start=1):
        lines = []
        for number, read in enumerate((written[member] for member in block), start=1):
            text = transcription_of(read.reading, read.strip, width, height)
            lines.append(placed_line(f"r{place}l{number}", read, text, width, height))
            witness(lines[-1].id, read.strip, read.reading)
        regions.append(Region(f"r{place}", tuple(lines)))
    return Page(name, width, height, tuple(regions))


def read_lines(gray: Line, lines: Sequence[FoundLine], recognizer: Recognizer) -> Iterable[tuple[int, ReadLine]]:
    """The lines that can be read, with their numbers."""
    for start in range(0, len(lines), LINES_AT_A_TIME):
        strips = {}
        for number in range(start, min(start + LINES_AT_A_TIME, len(lines))):
            if (strip := readable(gray, lines[number], recognizer)) is not None:
                strips[number] = strip
        readings = recognizer.read_lines([strip.line for strip in strips.values()])
        for (number, strip), reading in zip(strips.items(), readings, strict=True):
            yield number, ReadLine(lines[number], strip, reading)


def readable(gray: Line, line: FoundLine, recognizer: Recognizer) -> Strip | None:
    """The straightened line, dark on light; None if it has no area, or is far too long for its height."""
    try:
        strip = straighten(gray, line.baseline, line.polygon)
        return strip._replace(line=recognizer.open_line(strip.line))
    except DataError:
        return None


def upright(gray: Line, reads: dict[int, ReadLine], recognizer: Recognizer) -> list[ReadLine]:
    """The lines, with those of a direction turned and read again if they are upside down."""
    found = list(reads.values())
    for group in by_direction([read.line for read in found]):
        if confidence([found[number] for number in group]) >= HEAD_DOWN:
            continue
        probes = sorted(group, key=lambda number: -found[number].strip.line.shape[1])[:PROBES]
        turned = read_lines(gray, [half_turned(found[number]) for number in probes], recognizer)
        if confidence([read for _, read in turned]) < confidence([found[number] for number in probes]) + BETTER:
            continue
        lines = [half_turned(found[number]) for number in group]
        for number, read in read_lines(gray, lines, recognizer):
            found[group[number]] = read
    return found


def confidence(reads: Sequence[ReadLine]) -> float:
    """The mean confidence of all characters; 0 if there are none."""
    weights = [len(read.reading.text) for read in reads]
    return sum(read.reading.confidence * weight for read, weight in zip(reads, weights, strict=True)) / max(
        sum(weights), 1
    )


def half_turned(read: ReadLine) -> FoundLine:
    """The line as found on the page upside down: its upper edge becomes its lower one."""
    strip = read.strip
    below = strip.line.shape[0] - strip.above
    other = strip.places - strip.downs * (strip.above - below)
    few = np.linspace(len(other) - 1, 0, max(2, len(other) // SPACING)).round().astype(int)
    return FoundLine(other[few], read.line.polygon)


def placed_line(id: str, read: ReadLine, text: Transcription, width: int, height: int) -> TextLine:
    """A line of a page of this size."""
    polygon, baseline = (on_page(points, width, height) for points in (read.line.polygon, read.line.baseline))
    return TextLine(id, polygon, baseline if len(baseline) > 1 else None, text)
