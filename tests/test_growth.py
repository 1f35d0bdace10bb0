"""No file causes work that grows faster than the file: times at two sizes are compared."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from growth import grows_evenly
from page_examples import PROVENANCE
from steps import steps

from drethtr.base.errors import DataError
from drethtr.documents.alto.reader import NAMESPACES as ALTO
from drethtr.documents.page_file import PageFile
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.documents.read import parse_page
from drethtr.documents.transcription import Transcription
from drethtr.documents.update import update

SOURCE = Path(__file__).parents[1] / "src" / "drethtr"
SEARCHING, MATCHING = ("search", "finditer", "findall", "sub", "split"), ("match", "fullmatch")
CODE = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
SEARCHED = {name for code in CODE.values() for name in re.findall(rf"\b(\w+)\.(?:{'|'.join(SEARCHING)})\b", code)}
"""Names of patterns that may match anywhere."""


class Used(NamedTuple):
    """A regular expression, and whether it is searched anywhere; otherwise it is only tried at the beginning."""

    pattern: re.Pattern[str]
    anywhere: bool


def used() -> Iterator[Used]:
    """All regular expressions: compiled in modules, in tables of these as well, or written in calls."""
    for path, code in CODE.items():
        if "import re\n" not in code:
            continue  # to parse them all takes seconds
        tree = ast.parse(code)
        if not any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in ast.walk(tree)):
            continue
        module = importlib.import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield Used(as_text(value), name in SEARCHED)
            else:
                yield from within(value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                module_name, _, called = ast.unparse(node.func).rpartition(".")
                if module_name == "re" and called in SEARCHING + MATCHING:
                    yield Used(as_text(re.compile(node.args[0].value)), called in SEARCHING)


def within(table: object) -> Iterator[Used]:
    """The patterns in a table, which may be searched."""
    if isinstance(table, tuple | list | dict):
        for member in table.values() if isinstance(table, dict) else table:
            if isinstance(member, re.Pattern):
                yield Used(as_text(member), True)
            else:
                yield from within(member)


def as_text(pattern: re.Pattern[str] | re.Pattern[bytes]) -> re.Pattern[str]:
    text = pattern.pattern
    return re.compile(text if isinstance(text, str) else text.decode("latin-1"), pattern.flags)


def attacks(pattern: str) -> Iterator[str]:
    """Strings to repeat: literals of a pattern, members of its classes, and pairs of these."""
    words = re.findall(r"[A-Za-z]{2,}", pattern)
    signs = [sign for sign in "{}<>:=\"'?!-_./;,[]" if sign in pattern]
    pieces = dict.fromkeys([*words[:4], *signs[:4], " ", "\n", "a", "1"])
    yield from pieces
    yield from (first + second for first, second in product(pieces, pieces) if first != second)


@pytest.mark.parametrize("used", sorted(set(used()), key=str), ids=lambda used: used.pattern.pattern)
def test_no_regular_expression_is_quadratic(used):
    """Wherever it may match, and at the beginning of a text that as a whole does not."""
    pattern, anywhere = used
    for piece in attacks(pattern.pattern):
        for head in ("", *re.findall(r"[A-Za-z]{4,}", pattern.pattern)[:1]):

            def attack(size, head=head, piece=piece):
                text = (head + piece * size)[:size]
                return sum(1 for _ in pattern.finditer(text)) if anywhere else pattern.fullmatch(f"{text}\0")

            assert grows_evenly(attack), (head, piece)


def page_xml(lines: str) -> str:
    start = f'<PcGts xmlns="{PAGE[-1]}"><Page imageWidth="9" imageHeight="9"><TextRegion>'
    return f"{start}{lines}</TextRegion></Page></PcGts>"


def alto(lines: str) -> str:
    start = f'<alto xmlns="{ALTO[-1]}"><Layout><Page WIDTH="9" HEIGHT="9"><TextBlock>'
    return f"{start}{lines}</TextBlock></Page></Layout></alto>"


PIECES = {
    "custom": (page_xml, '<TextLine custom="', "readingOrder {", '"/>'),
    "custom with indices": (page_xml, '<TextLine custom="readingOrder {', " index", '"/>'),
    "points": (page_xml, '<TextLine><Coords points="', "1,1 ", '"/></TextLine>'),
    "same ids": (page_xml, "", '<TextLine id="a"/>', ""),
    "numbered ids": (page_xml, "", '<TextLine id="line_#"/><TextLine/>', ""),
    "spaces": (page_xml, "<TextLine>", " ", "</TextLine>"),
    "spaces before lines": (page_xml, "", "<TextLine>\n    \n    <Word/></TextLine>", ""),
    "words": (page_xml, "<TextLine>", "<Word/>", "</TextLine>"),
    "texts": (page_xml, "<TextLine>", "<TextEquiv><Unicode>a</Unicode></TextEquiv>", "</TextLine>"),
    "regions": (page_xml, "", '<TextRegion id="a"/>', ""),
    "attributes": (page_xml, "<TextLine", ' a#="a b"', "/>"),
    "strings": (alto, "<TextLine>", '<String CONTENT="a"/>', "</TextLine>"),
    "blocks": (alto, "", "</TextBlock><TextBlock>", ""),
    "references": (alto, '<TextLine TAGREFS="', "a ", '"/>'),
}
"""A start, a piece to repeat (# is a number), and an end."""


@pytest.mark.parametrize(("around", "start", "piece", "end"), PIECES.values(), ids=PIECES)
def test_no_page_file_takes_quadratic_time(around, start, piece, end):
    def read_and_write(size):
        pieces = (piece.replace("#", str(number)) for number in range(size // len(piece)))
        data = around(f"{start}{''.join(pieces)}{end}").encode()
        try:
            page = parse_page(data, "a.xml", lambda _: (9, 9))[2].page
            update(data, page, PROVENANCE, replace=True)
        except DataError:
            pass

    assert grows_evenly(read_and_write)


def test_reading_a_page_anew_takes_no_quadratic_time():
    """Each line of `SMALL` and `LARGE` characters is changed, and then added to a page without lines."""

    def change(size):
        line = '<TextLine><Coords points="1,1 5,1 5,5"/></TextLine>'
        file = PageFile.parse(page_xml(line * (size // len(line))).encode(), "a.xml")
        lines = [replace(line, baseline=((1, 1), (5, 1)), transcription=Transcription("a")) for line in file.page.lines]
        file.with_lines(lines)
        PageFile.parse(page_xml("").encode(), "a.xml").with_lines_after({None: lines})

    assert grows_evenly(change)


@pytest.mark.parametrize(("around", "name"), [(page_xml, "TextRegion"), (alto, "TextBlock")], ids=["PAGE", "ALTO"])
def test_changing_the_regions_of_a_page_takes_no_quadratic_time(around, name):
    """All regions get another kind and order and a line more each, and then become one; steps of Python are counted."""

    def change(size):
        region = f'<{name} id="r#" ID="r#"><TextLine id="l#" ID="l#"/></{name}>'
        regions = "".join(region.replace("#", str(number)) for number in range(size // len(region)))
        data = around("").replace(f"<{name}></{name}>", regions).encode()
        file = PageFile.parse(data, "a.xml", (Path(), 9, 9))
        file = file.with_regions([replace(region, kind="marginalia") for region in reversed(file.page.regions)])
        more = {line.id: [replace(line, id=f"n{line.id}", baseline=((1, 1), (5, 1)))] for line in file.page.lines}
        file = file.with_lines_after(more)
        assert len(file.with_regions([replace(file.page.regions[0], lines=file.page.lines)]).page.regions) == 1

    change(100)  # what is done once
    assert steps(lambda: change(16_000)) < 4.4 * steps(lambda: change(4_000))
