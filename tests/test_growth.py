"""No file causes work that grows faster than the file: times at two sizes are compared."""

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import process_time

import pytest
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
SMALL, LARGE = 4_000, 64_000
MOST = 4 * LARGE / SMALL
"""Quadratic work exceeds the ratio `LARGE / SMALL` 16 times; a busy machine may exceed it several times."""

BLINK = 0.01
"""Seconds below which `LARGE` cannot be quadratic, since that takes about 10^9 steps."""


def grows_evenly(work: Callable[[int], object]) -> bool:
    """Whether the time of `work` grows no faster than its input; tried twice, since the machine may be busy."""

    def seconds(size: int) -> float:
        begun = process_time()
        work(size)
        return process_time() - begun

    return any((large := seconds(LARGE)) < BLINK or large < MOST * seconds(SMALL) for _ in range(2))


CALLS = [f"re.{name}" for name in ("search", "finditer", "findall", "sub", "split")]
CODE = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}


def patterns() -> Iterator[str]:
    """All regular expressions used for searching: compiled in modules, or written in calls."""
    for path, code in CODE.items():
        tree = ast.parse(code)
        if not any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in ast.walk(tree)):
            continue
        module = importlib.import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and is_searched(name):
                yield as_text(value.pattern)
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in CALLS
                and isinstance(node.args[0], ast.Constant)
            ):
                yield as_text(node.args[0].value)


def is_searched(name: str) -> bool:
    """Whether a pattern may match anywhere; otherwise it is only tried once."""
    searches = re.compile(rf"\b{name}\.(search|finditer|findall|sub|split)\b")
    return any(searches.search(code) for code in CODE.values())


def as_text(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def attacks(pattern: str) -> Iterator[str]:
    """Strings to repeat: literals of a pattern, members of its classes, and pairs of these."""
    words = re.findall(r"[A-Za-z]{2,}", pattern)
    signs = [sign for sign in "{}<>:=\"'?!-_./;,[]" if sign in pattern]
    pieces = dict.fromkeys([*words[:4], *signs[:4], " ", "\n", "a", "1"])
    yield from pieces
    yield from (first + second for first, second in product(pieces, pieces) if first != second)


@pytest.mark.parametrize("pattern", sorted(set(patterns())))
def test_no_regular_expression_is_quadratic(pattern):
    compiled = re.compile(pattern)
    for piece in attacks(pattern):
        for head in ("", *re.findall(r"[A-Za-z]{4,}", pattern)[:1]):

            def search(size, head=head, piece=piece):
                return sum(1 for _ in compiled.finditer((head + piece * size)[:size]))

            assert grows_evenly(search), (head, piece)


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
        PageFile.parse(page_xml("").encode(), "a.xml").with_new_lines(lines, None)

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
