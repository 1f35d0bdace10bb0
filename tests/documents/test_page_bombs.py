"""Page files take little memory and time here, whatever they hold, and no more than their length asks for.

`DRETHTR_PAGE_BYTES=1000000 pytest tests/documents/test_page_bombs.py` measures files of the size that the docs name.
"""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from growth import grows_evenly, megabytes_of, needs_status, steps
from page_examples import PROVENANCE

from drethtr.base.errors import DataError
from drethtr.documents.alto.reader import NAMESPACES as ALTO
from drethtr.documents.page_file import PageFile
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.documents.read import page_in, parse_page
from drethtr.documents.transcription import Transcription
from drethtr.documents.update import update
from drethtr.layout.given import GivenLine, complete

SIDE = 2000
MOST = 1_000_000
SIZE = int(os.environ.get("DRETHTR_PAGE_BYTES", MOST // 8))


def page(inside, around=""):
    return f'<PcGts xmlns="{PAGE[-1]}">{around}<Page imageWidth="{SIDE}" imageHeight="{SIDE}">{inside}</Page></PcGts>'


def region(inside):
    return page(f"<TextRegion>{inside}</TextRegion>")


def alto(inside):
    return f'<alto xmlns="{ALTO[-1]}"><Layout><Page WIDTH="{SIDE}" HEIGHT="{SIDE}">{inside}</Page></Layout></alto>'


def nested(tag, inside, depth=90, more=""):
    return f"<{tag}{more}>" * depth + inside + f"</{tag}>" * depth


def nested_texts(inside, depth):
    """Regions in regions, each with a text of its own."""
    return "<TextRegion>" * depth + inside + "<TextEquiv><Unicode>a</Unicode></TextEquiv></TextRegion>" * depth


def lines(number, height=9):
    """Lines with the same band around each, in rows and columns."""
    for n in range(number):
        x, y = 40 * (n % 50), 20 + n // 50 * 5
        yield f'<TextLine><Coords points="{x},{y - height} {x + 30},{y - height} {x + 30},{y} {x},{y}"/>'
        yield f'<Baseline points="{x},{y - 2} {x + 30},{y - 2}"/></TextLine>'


def many(size, unit, around=""):
    """A text of about so many bytes, repeated; # is a number."""
    return around.join(unit.replace("#", str(n)) for n in range(size // (len(unit) + len(around))))


BOMBS = {
    "elements": lambda size: page(many(size, "<a/>")),
    "nested regions": lambda size: page(nested("TextRegion", "<TextLine/>" + many(size, "<a/>"))),
    "nested texts": lambda size: page(nested_texts(many(size, "<a/>"), depth=min(90, size // 350))),
    "nested tables": lambda size: alto(nested("ComposedBlock", many(size, "<a/>"), more=' TYPE="table"')),
    "regions": lambda size: page(many(size, '<TextRegion id="a"/>')),
    "blocks": lambda size: alto(many(size, "<TextBlock></TextBlock>")),
    "same ids": lambda size: region(many(size, '<TextLine id="a"/>')),
    "numbered ids": lambda size: region(many(size, '<TextLine id="line_#"/><TextLine/>')),
    "spaces": lambda size: region(f"<TextLine>{many(size, ' ')}</TextLine>"),
    "spaces before lines": lambda size: region(many(size, "<TextLine>\n    \n    <Word/></TextLine>")),
    "lines": lambda size: region("".join(lines(size // 160))),
    "empty lines": lambda size: region(many(size, "<TextLine/>")),
    "points": lambda size: region(f'<TextLine><Coords points="{many(size, "0,0 9,9 ")}"/></TextLine>'),
    "a long baseline": lambda size: region(f'<TextLine><Baseline points="{many(size, "0,9 1999,9 ")}"/></TextLine>'),
    "words": lambda size: region(f"<TextLine>{many(size, '<Word/>')}</TextLine>"),
    "texts": lambda size: region(f"<TextLine>{many(size, '<TextEquiv/>')}</TextLine>"),
    "indices": lambda size: region(f'<TextLine custom="{many(size, "readingOrder {")}"/>'),
    "an index": lambda size: region(f'<TextLine custom="readingOrder {{{many(size, " index")}"/>'),
    "tags": lambda size: region(f'<TextLine custom="{many(size, "unclear {offset:0; length:1;} ")}"/>'),
    "long tags": lambda size: region(
        f'<TextLine custom="{many(size * 3 // 4, f"a {{offset:0; length:{size // 8};}} ")}">'
        f"<TextEquiv><Unicode>{many(size // 4, 'a' + chr(10))}</Unicode></TextEquiv></TextLine>"
    ),
    "attributes": lambda size: region("<TextLine " + many(size, 'a#="" ') + "/>"),
    "order": lambda size: page("<ReadingOrder>" + nested("OrderedGroup", many(size, "<a/>")) + "</ReadingOrder>"),
    "oddities": lambda size: region(f'<TextLine><Coords points="{many(size, "x ")}"/></TextLine>'),
    "strings": lambda size: alto(f"<TextBlock><TextLine>{many(size, '<String/>')}</TextLine></TextBlock>"),
    "references": lambda size: alto(f'<TextBlock TAGREFS="{many(size, "a ")}"/>'),
    "json": lambda size: '{"lines": [' + "[" * 900 + many(size, '"a"', ",") + "]" * 900 + "]}",
    "json lines": lambda size: (
        '{"width": 9, "height": 9, "image": "a.png", "regions": [' + many(size, "{}", ",") + "]}"
    ),
}


def read(data):
    with suppress(DataError):
        found = page_in(data, "a.xml", lambda _: (SIDE, SIDE))
        given = [GivenLine.of(line) for line in found.lines if line.is_placed]
        complete(np.full((SIDE, SIDE), 225, np.uint8), given)


@needs_status
@pytest.mark.parametrize("name", BOMBS)
def test_no_page_file_takes_much_memory_here(name):
    """Nor much time, which is measured at the full size only: the next test counts steps."""
    data = BOMBS[name](SIZE).encode()
    began, share = process_time(), len(data) / MOST
    assert megabytes_of(lambda: read(data)) < 80 + 220 * share
    assert SIZE < MOST or process_time() - began < 15


@pytest.mark.parametrize("name", BOMBS)
def test_page_files_four_times_as_long_take_four_times_the_steps(name):
    short, long = (BOMBS[name](size).encode() for size in (8_000, 32_000))
    read(short)  # what is done once

    def work(data):
        read(data)
        if not data.startswith(b"{"):
            with suppress(DataError):
                PageFile.parse(data, "a.xml")

    assert steps(lambda: work(long)) < 4.4 * steps(lambda: work(short))


@pytest.mark.parametrize("name", BOMBS)
def test_no_page_file_takes_quadratic_time(name):
    """Also in compiled loops, in which no steps are counted."""

    def read_and_write(size):
        data = BOMBS[name](size).encode()
        with suppress(DataError):
            found = parse_page(data, "a.xml", lambda _: (SIDE, SIDE))[2].page
            update(data, found, PROVENANCE, replace=True)

    assert grows_evenly(read_and_write)


def test_reading_a_page_anew_takes_no_quadratic_time():
    """Each line is changed, and then added to a page without lines."""

    def change(size):
        line = '<TextLine><Coords points="1,1 5,1 5,5"/></TextLine>'
        file = PageFile.parse(region(many(size, line)).encode(), "a.xml")
        lines = [replace(line, baseline=((1, 1), (5, 1)), transcription=Transcription("a")) for line in file.page.lines]
        file.with_lines(lines)
        PageFile.parse(region("").encode(), "a.xml").with_lines_after({None: lines})

    assert grows_evenly(change)


@pytest.mark.parametrize(("around", "name"), [(page, "TextRegion"), (alto, "TextBlock")], ids=["PAGE", "ALTO"])
def test_changing_the_regions_of_a_page_takes_no_quadratic_time(around, name):
    """All regions get another kind and order and a line more each, and then become one; steps of Python are counted."""

    def change(size):
        regions = many(size, f'<{name} id="r#" ID="r#"><TextLine id="l#" ID="l#"/></{name}>')
        file = PageFile.parse(around(regions).encode(), "a.xml", (Path(), SIDE, SIDE))
        file = file.with_regions([replace(region, kind="marginalia") for region in reversed(file.page.regions)])
        more = {line.id: [replace(line, id=f"n{line.id}", baseline=((1, 1), (5, 1)))] for line in file.page.lines}
        file = file.with_lines_after(more)
        assert len(file.with_regions([replace(file.page.regions[0], lines=file.page.lines)]).page.regions) == 1

    change(100)  # what is done once
    assert steps(lambda: change(16_000)) < 4.4 * steps(lambda: change(4_000))
