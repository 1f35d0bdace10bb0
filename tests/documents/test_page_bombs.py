"""Page files of less than a megabyte take little memory and time in this process, whatever they hold."""

from contextlib import suppress
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.documents.alto.reader import NAMESPACES as ALTO
from drethtr.documents.page_file import PageFile
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.documents.read import page_in
from drethtr.layout.given import GivenLine, complete

STATUS = Path("/proc/self/status")
SIDE = 2000


def page(inside, around=""):
    return f'<PcGts xmlns="{PAGE[-1]}">{around}<Page imageWidth="{SIDE}" imageHeight="{SIDE}">{inside}</Page></PcGts>'


def region(inside):
    return page(f"<TextRegion>{inside}</TextRegion>")


def alto(inside):
    return f'<alto xmlns="{ALTO[-1]}"><Layout><Page WIDTH="{SIDE}" HEIGHT="{SIDE}">{inside}</Page></Layout></alto>'


def nested(tag, inside, depth=90, more=""):
    return f"<{tag}{more}>" * depth + inside + f"</{tag}>" * depth


def lines(number, height=9):
    """Lines with the same band around each, in rows and columns."""
    for n in range(number):
        x, y = 40 * (n % 50), 20 + n // 50 * 5
        yield f'<TextLine><Coords points="{x},{y - height} {x + 30},{y - height} {x + 30},{y} {x},{y}"/>'
        yield f'<Baseline points="{x},{y - 2} {x + 30},{y - 2}"/></TextLine>'


BOMBS = {
    "elements": lambda: page("<a/>" * 240_000),
    "nested regions": lambda: page(nested("TextRegion", "<TextLine/>" + "<a/>" * 220_000)),
    "nested tables": lambda: alto(nested("ComposedBlock", "<a/>" * 220_000, more=' TYPE="table"')),
    "regions": lambda: page('<TextRegion id="a"/>' * 48_000),
    "lines": lambda: region("".join(lines(6_000))),
    "empty lines": lambda: region("<TextLine/>" * 80_000),
    "points": lambda: region(f'<TextLine><Coords points="{"0,0 9,9 " * 120_000}"/></TextLine>'),
    "a long baseline": lambda: region(f'<TextLine><Baseline points="{"0,9 1999,9 " * 80_000}"/></TextLine>'),
    "words": lambda: region(f"<TextLine>{'<Word/>' * 130_000}</TextLine>"),
    "texts": lambda: region(f"<TextLine>{'<TextEquiv/>' * 80_000}</TextLine>"),
    "tags": lambda: region(f'<TextLine custom="{"unclear {offset:0; length:1;} " * 30_000}"/>'),
    "attributes": lambda: region("<TextLine a" + '" a'.join(f'{n}="' for n in range(90_000)) + '"/>'),
    "order": lambda: page("<ReadingOrder>" + nested("OrderedGroup", "<a/>" * 220_000) + "</ReadingOrder>"),
    "oddities": lambda: region(f'<TextLine><Coords points="{"x " * 450_000}"/></TextLine>'),
    "strings": lambda: alto(f"<TextBlock><TextLine>{'<String/>' * 100_000}</TextLine></TextBlock>"),
    "references": lambda: alto(f'<TextBlock TAGREFS="{"a " * 450_000}"/>'),
    "json": lambda: '{"lines": [' + "[" * 900 + '"a",' * 200_000 + '"a"' + "]" * 900 + "]}",
    "json lines": lambda: '{"width": 9, "height": 9, "image": "a.png", "regions": [' + "{}," * 300_000 + "{}]}",
}


def megabytes():
    """The most memory that this process has taken since `/proc/self/clear_refs` was written."""
    return int(STATUS.read_text().split("VmHWM:")[1].split()[0]) >> 10


@pytest.mark.skipif(not STATUS.exists(), reason="no measure of memory")
@pytest.mark.parametrize("name", BOMBS)
def test_no_page_file_of_a_megabyte_takes_much_memory_or_time_here(name):
    data = BOMBS[name]().encode()
    assert len(data) < 1 << 20
    Path("/proc/self/clear_refs").write_text("5")
    before, began = megabytes(), process_time()
    with suppress(DataError):
        read = page_in(data, "a.xml", lambda _: (SIDE, SIDE))
        complete(
            np.full((SIDE, SIDE), 225, np.uint8),
            [GivenLine.of(one) for one in read.lines if one.baseline or one.polygon],
        )
        if not data.startswith(b"{"):
            PageFile.parse(data, "a.xml")
    assert megabytes() - before < 300 and process_time() - began < 15
