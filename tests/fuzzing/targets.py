"""What is fuzzed: for every reader, files that are nearly right, and what must hold of them.

A file is refused with a `DrethtrError`, or read; what was read goes through every writer, and comes back.
"""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pikepdf
import pyarrow as pa
import pyarrow.parquet as pq
from conftest import varied_model, written
from hypothesis import strategies as st
from page_examples import PROVENANCE
from PIL import Image

from drethtr.base import config
from drethtr.documents.document import Document, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page
from drethtr.documents.read import read_page
from drethtr.documents.readers.alto import NAMESPACES as ALTO
from drethtr.documents.readers.page_xml import NAMESPACES as PAGE
from drethtr.documents.update import update
from drethtr.images.line_file import open_line
from drethtr.images.page import open_pages
from drethtr.lines.sources import open_all
from drethtr.recognition.adapter_file import Adapter, load_adapter, save_adapter
from drethtr.recognition.model_file import load_model, save_model
from drethtr.sharing.additions import read_additions
from drethtr.training.run import RunConfig

Bytes = st.SearchStrategy[bytes]


class Target(NamedTuple):
    """Files that end like this, and a use of one that may raise nothing but `DrethtrError`."""

    ending: str
    files: Bytes
    use: Callable[[Path], object]


# Values that readers have to expect anywhere.
NUMBERS = st.sampled_from(
    ["0", "-1", "1", "40", "99999", "1e9", "1e999", "nan", "1" * 5000, "٣", "0x1", " 7 ", "1,2", "", "-0.0", "1/2"]
)
TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "\ud800",
        "\0",
        "]]>",
        "&amp;",
        "--",
        "../../etc/passwd",
        "=1+1",
        "a" * 3000,
        "{",
        "readingOrder {index:1;}",
        "\u202e",
    ]
)
PLACES = st.lists(st.integers(-50, 999).map(str), max_size=12).map(" ".join) | NUMBERS
VALUES = NUMBERS | TEXTS | PLACES


@st.composite
def mutated(draw: Any, files: Bytes) -> bytes:
    """A file with a few pieces flipped, cut out, doubled, overwritten or moved."""
    data = bytearray(draw(files))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(1, 40))
        piece = bytes(data[start : start + length])
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data[start : start + length] = draw(st.binary(max_size=8))
        elif kind == 1:
            data[start : start + length] = piece * draw(st.integers(2, 5))
        elif kind == 2 and data:
            data[start] ^= 1 << draw(st.integers(0, 7))
        elif kind == 3:
            del data[start:]
        else:
            data[start : start + length] = draw(
                st.sampled_from([b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"9" * 12])
            )
    return bytes(data)


def escaped(text: str) -> str:
    """A text for an attribute; what XML forbids stays."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def elements(names: list[str], attributes: list[str], depth: int = 4) -> st.SearchStrategy[str]:
    """Trees of elements with these names and attributes, in any order."""
    known = st.dictionaries(st.sampled_from(attributes), VALUES, max_size=3)

    def element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        def made(name: str, given: dict[str, str], children: list[str]) -> str:
            start = name + "".join(f' {key}="{escaped(value)}"' for key, value in given.items())
            return f"<{start}>{''.join(children)}</{name}>" if children else f"<{start}/>"

        return st.builds(made, st.sampled_from(names), known, st.lists(inside, max_size=4))

    return st.recursive(TEXTS.map(escaped), element, max_leaves=4 * depth)


@st.composite
def encoded(draw: Any, texts: st.SearchStrategy[str]) -> bytes:
    """A text in some encoding, which its declaration need not name."""
    text, encoding = (
        draw(texts),
        draw(st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"])),
    )
    declared = draw(st.sampled_from(["", f'<?xml version="1.0" encoding="{encoding}"?>', "\n"]))
    return (declared + text).encode(encoding, "replace")


@st.composite
def page_xml(draw: Any) -> str:
    """PAGE XML that is nearly right."""
    names = [
        "TextRegion",
        "TextLine",
        "Word",
        "TextEquiv",
        "Unicode",
        "Coords",
        "Baseline",
        "ReadingOrder",
        "OrderedGroup",
    ]
    names += ["RegionRefIndexed", "TableRegion", "TableCell", "AlternativeImage"]
    attributes = ["id", "custom", "points", "index", "conf", "regionRef", "imageWidth"]
    line = '<TextLine id="l"><Coords points="1,1 30,1 30,9"/><Baseline points="1,8 30,8"/>{}</TextLine>'
    inside = draw(elements(names, attributes))
    if draw(st.booleans()):
        inside = f'<TextRegion id="{escaped(draw(VALUES))}">{line.format(inside)}</TextRegion>'
    size = draw(st.sampled_from(['imageWidth="40" imageHeight="20"', "", f'imageWidth="{escaped(draw(NUMBERS))}"']))
    name = escaped(draw(TEXTS))
    return f'<PcGts xmlns="{draw(st.sampled_from(PAGE))}"><Page imageFilename="{name}" {size}>{inside}</Page></PcGts>'


@st.composite
def alto(draw: Any) -> str:
    """ALTO that is nearly right."""
    names = ["TextBlock", "TextLine", "String", "SP", "HYP", "Shape", "Polygon", "PrintSpace", "ComposedBlock"]
    attributes = ["ID", "HPOS", "VPOS", "WIDTH", "HEIGHT", "CONTENT", "WC", "BASELINE", "POINTS", "TAGREFS", "IDREF"]
    inside = draw(elements(names, attributes))
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


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
POINTS = st.none() | st.lists(st.lists(st.integers(-5, 99), min_size=2, max_size=2), max_size=5) | ANYTHING
CONFIDENCES = st.none() | st.floats(0, 1) | ANYTHING


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these fields, some of which may be missing or wrong."""
    return st.fixed_dictionaries({}, optional=fields) | st.fixed_dictionaries(fields)


WORDS = objects(text=TEXTS, confidence=CONFIDENCES, polygon=POINTS, doubtful=st.booleans())
LINES = objects(
    id=TEXTS,
    text=st.none() | TEXTS,
    words=st.lists(WORDS, max_size=2),
    confidence=CONFIDENCES,
    polygon=POINTS,
    baseline=POINTS,
    flags=st.lists(TEXTS, max_size=2),
)
REGIONS = objects(id=TEXTS, polygon=POINTS, lines=st.lists(LINES, max_size=3))
SIDES = st.integers(-1, 99) | ANYTHING
PAGES = objects(image=TEXTS, width=SIDES, height=SIDES, regions=st.lists(REGIONS, max_size=2), format=ANYTHING)


def as_json(value: Any) -> bytes:
    """JSON, with halves of characters as it may contain them."""
    return json.dumps(value).encode()


def settings(names: list[str]) -> Bytes:
    """TOML with these keys, and values of any kind."""
    values = st.one_of(
        ANYTHING.map(json.dumps),
        st.sampled_from(["[" * 3000, "1979-05-27", "nan", "1" * 5000, "{kind = 'Real'}", "[{}]", "[[]]", "'''", "0x"]),
    )
    keys = st.sampled_from(names) | st.text(max_size=5)
    rows = st.tuples(keys, values).map(" = ".join)
    tables = st.sampled_from(names).map(lambda name: f"[{name}]")
    return st.lists(rows | tables, max_size=6).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def images() -> Bytes:
    """Small images of all formats."""
    kinds = ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000"]
    picture = Image.fromarray(np.asarray(written("abc def")))
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.sampled_from(["L", "RGB"]).map(lambda mode: saved(picture.convert(mode), kind))
    )


def saved(picture: Image.Image, kind: str) -> bytes:
    """An encoded image."""
    file = BytesIO()
    picture.save(file, kind)
    return file.getvalue()


@st.composite
def pdfs(draw: Any) -> bytes:
    """PDFs with contents that may be anything."""
    pdf = pikepdf.new()
    for _ in range(draw(st.integers(1, 2))):
        sides = st.sampled_from([3, 10, 72, 300, 14_400])
        page = pdf.add_blank_page(page_size=(draw(sides), draw(sides)))
        commands = st.sampled_from(
            ["q", "Q", "BT", "ET", "0 0 m 9 9 l S", "/F Do", "1 0 0 1 0 0 cm", "/drethtr BMC", "W n", "9 w"]
        )
        streams = st.lists(commands, max_size=6).map(lambda rows: pdf.make_stream("\n".join(rows).encode()))
        odd = st.sampled_from([b"null", b"true", b"<<>>", b"[]", b"(a)", b"9"]).map(pikepdf.Object.parse)
        page.obj.Contents = pikepdf.Array(draw(st.lists(streams | odd, max_size=3)))
        if draw(st.booleans()):
            page.obj.Rotate = draw(st.sampled_from([90, 180, 45, -90, 10**9]))
        if draw(st.booleans()):
            page.obj.CropBox = pikepdf.Array(draw(st.lists(st.integers(-99, 999), min_size=4, max_size=4)))
    file = BytesIO()
    pdf.save(file, compress_streams=draw(st.booleans()))
    return file.getvalue()


def table_rows(kind: str) -> Bytes:
    """Tables of lines in TSV or JSON Lines."""
    cells = st.lists(VALUES, max_size=4).map("\t".join)
    entries = objects(file=TEXTS | ANYTHING, text=TEXTS | ANYTHING, page=ANYTHING, clean=ANYTHING).map(json.dumps)
    rows = cells if kind == "tsv" else entries | TEXTS
    return st.lists(rows, max_size=5).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def parquet() -> Bytes:
    """A Parquet file of lines."""
    file = BytesIO()
    image = {"bytes": saved(Image.new("L", (40, 20), 200), "PNG"), "path": None}
    pq.write_table(pa.Table.from_pylist([{"image": image, "text": "abc", "set": "words"}] * 3), file)
    return st.just(file.getvalue())


def model_files(folder: Path) -> Bytes:
    """A small model."""
    save_model(varied_model(), folder / "model.safetensors")
    return st.just((folder / "model.safetensors").read_bytes())


def adapter_files(folder: Path) -> Bytes:
    """A small adapter."""
    factors = {"a.up": np.zeros((4, 2), np.float32), "a.down": np.zeros((2, 4), np.float32)}
    save_adapter(Adapter(factors, "0" * 64, "model.safetensors", {"name": "a"}), folder / "adapter.safetensors")
    return st.just((folder / "adapter.safetensors").read_bytes())


@st.composite
def with_header(draw: Any, files: Bytes) -> bytes:
    """A safetensors file in whose header some values are replaced."""
    data = draw(files)
    end = 8 + int.from_bytes(data[:8], "little")
    header = data[8:end].decode()
    pieces = header.replace(",", ":").split(":")
    for _ in range(draw(st.integers(0, 3))):
        old = draw(st.sampled_from(pieces))
        header = header.replace(
            old, draw(st.sampled_from(["0", "-1", "1e999", "null", "[]", "{}", "9" * 30, '\\"a\\"'])), 1
        )
    new = header.encode()
    return len(new).to_bytes(8, "little") + new + data[end:]


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


def use_image(path: Path) -> None:
    """Open an image as a line and as pages."""
    for source in open_pages(path, 20):
        grey = source.grey()
        assert grey.shape[::-1] == source.size() == source.image().size
    open_line(path)


def use_pdf(path: Path) -> None:
    """Open the pages of a PDF, and write text into it."""
    sources = open_pages(path, 20)
    sheets = []
    for source in sources:
        width, height = source.size()
        if width * height < 10**6:
            source.grey()
        sheets.append(Sheet(Page(path.name, width, height), Scan(source.image), source.number))
    FORMATS["pdf"].write(Document(tuple(sheets), PROVENANCE, path))


def use_lines(path: Path) -> None:
    """Read lines with their texts."""
    for sample in open_all([str(path)]):
        sample.line()


def use_settings(path: Path) -> None:
    """Read the settings of a run, and entries of a card."""
    read_additions(path)
    config.load(RunConfig, path)


def targets(folder: Path) -> dict[str, Target]:
    """All targets; `folder` is for files that are made once."""
    keys = [
        "samples",
        "train",
        "validation",
        "network",
        "optimizer",
        "kind",
        "paths",
        "seed",
        "license",
        "data",
        "name",
    ]
    return {
        "page": Target(".xml", mutated(encoded(page_xml())), use_page),
        "alto": Target(".xml", mutated(encoded(alto())), use_page),
        "json": Target(".json", mutated(PAGES.map(as_json)), use_page),
        "image": Target(".png", mutated(images()), use_image),
        "pdf": Target(".pdf", mutated(pdfs()), use_pdf),
        "toml": Target(".toml", mutated(settings(keys)), use_settings),
        "tsv": Target(".tsv", mutated(table_rows("tsv")), use_lines),
        "jsonl": Target(".jsonl", mutated(table_rows("jsonl")), use_lines),
        "parquet": Target(".parquet", mutated(parquet()), use_lines),
        "model": Target(".safetensors", mutated(with_header(model_files(folder))), load_model),
        "adapter": Target(".safetensors", mutated(with_header(adapter_files(folder))), load_adapter),
    }
