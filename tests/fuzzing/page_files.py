"""PAGE, ALTO and JSON: pages are read, updated, written in every format, and read back."""

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from page_examples import PROVENANCE
from PIL import Image

from drethtr.documents.alto.reader import NAMESPACES as ALTO
from drethtr.documents.document import Document, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.documents.read import read_page
from drethtr.documents.update import update
from fuzzing.files import (
    ANYTHING,
    NUMBERS,
    TEXTS,
    VALUES,
    Target,
    as_json,
    elements,
    encoded,
    escaped,
    mutated,
    objects,
)

PAGE_PARTS = elements(
    "TextRegion TextLine Word TextEquiv Unicode Coords Baseline ReadingOrder OrderedGroup RegionRefIndexed "
    "TableRegion TableCell AlternativeImage",
    "id custom points index conf regionRef imageWidth",
)
ALTO_PARTS = elements(
    "TextBlock TextLine String SP HYP Shape Polygon PrintSpace ComposedBlock",
    "ID HPOS VPOS WIDTH HEIGHT CONTENT WC BASELINE POINTS TAGREFS IDREF",
)


@st.composite
def page_xml(draw: Any) -> str:
    """Almost valid PAGE XML."""
    line = '<TextLine id="l"><Coords points="1,1 30,1 30,9"/><Baseline points="1,8 30,8"/>{}</TextLine>'
    inside = draw(PAGE_PARTS)
    if draw(st.booleans()):
        inside = f'<TextRegion id="{escaped(draw(VALUES))}">{line.format(inside)}</TextRegion>'
    size = draw(st.sampled_from(['imageWidth="40" imageHeight="20"', "", f'imageWidth="{escaped(draw(NUMBERS))}"']))
    name = escaped(draw(TEXTS))
    return f'<PcGts xmlns="{draw(st.sampled_from(PAGE))}"><Page imageFilename="{name}" {size}>{inside}</Page></PcGts>'


@st.composite
def alto(draw: Any) -> str:
    """Almost valid ALTO."""
    inside = draw(ALTO_PARTS)
    if draw(st.booleans()):
        line = f'<TextLine ID="l" HPOS="1" VPOS="1" WIDTH="30" HEIGHT="9">{inside}</TextLine>'
        inside = f'<TextBlock ID="b">{line}</TextBlock>'
    unit = draw(st.sampled_from(["pixel", "mm10", "inch1200", "ell"]))
    head = f"<Description><MeasurementUnit>{unit}</MeasurementUnit></Description>"
    head += draw(
        st.sampled_from(["", '<ReadingOrder><OrderedGroup><ElementRef REF="b l"/></OrderedGroup></ReadingOrder>'])
    )
    page = f'<Page WIDTH="{escaped(draw(NUMBERS))}" HEIGHT="20">{inside}</Page>'
    return f'<alto xmlns="{draw(st.sampled_from(ALTO))}">{head}<Layout>{page}</Layout></alto>'


POINTS = st.none() | st.lists(st.lists(st.integers(-5, 99), min_size=2, max_size=2), max_size=5) | ANYTHING
CONFIDENCES = st.none() | st.floats(0, 1) | ANYTHING

WORDS = objects(text=TEXTS, confidence=CONFIDENCES, polygon=POINTS, doubtful=st.booleans())
TAGS = objects(
    name=st.sampled_from(["person", "abbrev"]) | TEXTS,
    start=st.integers(-1, 99) | ANYTHING,
    length=st.integers(-1, 99),
    details=st.dictionaries(st.just("expansion") | TEXTS, TEXTS, max_size=2) | ANYTHING,
)
LINES = objects(
    id=TEXTS,
    text=st.none() | TEXTS,
    words=st.lists(WORDS, max_size=2),
    confidence=CONFIDENCES,
    polygon=POINTS,
    baseline=POINTS,
    flags=st.lists(TEXTS, max_size=2),
    tags=st.lists(TAGS, max_size=2),
)
REGIONS = objects(id=TEXTS, polygon=POINTS, lines=st.lists(LINES, max_size=3))
SIDES = st.integers(-1, 99) | ANYTHING
PAGES = objects(image=TEXTS, width=SIDES, height=SIDES, regions=st.lists(REGIONS, max_size=2), format=ANYTHING)


def use_page(path: Path) -> None:
    """Read a page file, update it twice, write it in every format, and read it back."""
    page = read_page(path)
    data = path.read_bytes()
    if path.suffix == ".xml":
        once = update(data, page, PROVENANCE, replace=True, name=path.name)
        again = path.with_name("again.xml")
        again.write_bytes(once)
        assert [line.text for line in read_page(again).lines] == [line.text for line in page.lines]
        update(once, read_page(again), PROVENANCE, replace=True, name=path.name)
    size = max(page.width, 1), max(page.height, 1)
    if size[0] * size[1] > 10**6:
        return
    document = Document((Sheet(page, Scan(lambda: Image.new("L", size, 255))),), PROVENANCE)
    for name, format in FORMATS.items():
        written = format.write(document)
        if name in ("page", "alto", "json"):
            back = path.with_name(f"back{'.json' if name == 'json' else '.xml'}")
            back.write_bytes(written)
            assert len(read_page(back).lines) == len(page.lines), name


TARGETS = {
    "page": Target(".xml", mutated(encoded(page_xml())), use_page),
    "alto": Target(".xml", mutated(encoded(alto())), use_page),
    "json": Target(".json", mutated(PAGES.map(as_json)), use_page),
}
