"""Read a page file with another program's reader, and print the result as JSON; run by `test_oracles.py`.

usage: oracles.py {schema,kraken,ocrd,hocr,docx,iiif} FILE
"""

import contextlib
import importlib.util
import io
import json
import sys
from pathlib import Path

SCHEMAS = {
    "PcGts": ("ocrd_validators", "page.xsd"),
    "alto": ("htrflow", "serialization/schemas/alto-4-4.xsd"),
}


def schema(path):
    """Violations of the official schema."""
    from lxml import etree

    tree = etree.parse(path)
    checked = tei_schema() if etree.QName(tree.getroot()).localname == "TEI" else xml_schema(tree)
    checked.validate(tree)
    return [f"{error.line}: {error.message}" for error in checked.error_log]


def tei_schema():
    """The RelaxNG schema of TEI P5."""
    from lxml import etree

    return etree.RelaxNG(etree.parse(folder("schemas") / "tei_all.rng"))


def xml_schema(tree):
    """The schema of PAGE or ALTO."""
    from lxml import etree

    class Local(etree.Resolver):
        def resolve(self, url, _id, context):
            return (
                self.resolve_filename(str(folder("ocrd_validators") / "xlink.xsd"), context) if "xlink" in url else None
            )

    package, file = SCHEMAS[etree.QName(tree.getroot()).localname]
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(Local())
    return etree.XMLSchema(etree.parse(str(folder(package) / file), parser))


def folder(package):
    """The folder of a package."""
    return Path(importlib.util.find_spec(package).origin).parent


def kraken(path):
    """The lines that kraken reads."""
    from kraken.lib.xml import XMLPage

    lines = XMLPage(path).get_sorted_lines()
    return [[line.id, line.text, line.baseline, line.boundary] for line in lines]


def ocrd(path):
    """The lines and words that OCR-D reads, in its reading order."""
    from ocrd_models.ocrd_page import parse

    page = parse(path, silence=True).get_Page()
    return [
        [
            line.id,
            [text.Unicode for text in line.get_TextEquiv()],
            [w.get_TextEquiv()[0].Unicode for w in line.get_Word()],
        ]
        for region in page.get_AllRegions(classes=["Text"], order="reading-order")
        for line in region.get_TextLine()
    ]


def hocr(path):
    """The failed checks of hocr-tools, and the lines that they read."""
    from hocr_tools_lib.tools.hocr_check import Checker
    from hocr_tools_lib.utils.node_utils import get_text
    from lxml import html

    with contextlib.redirect_stderr(io.StringIO()) as report:
        Checker(path).check()
    failed = [row for row in report.getvalue().splitlines() if row.startswith("not ok")]
    lines = html.parse(path).xpath("//*[@class='ocr_line']")
    return [failed, [" ".join(get_text(line).split()) for line in lines]]


def docx(path):
    """The paragraphs of a Word document with their styles, the styles of its runs, and its comments."""
    from docx import Document

    document = Document(path)
    paragraphs = [[paragraph.style.name, paragraph.text] for paragraph in document.paragraphs]
    styled = {run.text: run.style.name for paragraph in document.paragraphs for run in paragraph.runs}
    return [paragraphs, styled, [comment.text for comment in document.comments]]


def iiif(path):
    """The annotations that the models of IIIF Presentation 3 accept, by their text."""
    from iiif_prezi3 import AnnotationPage

    return [item.body.value for item in AnnotationPage.model_validate_json(Path(path).read_bytes()).items]


if __name__ == "__main__":
    oracles = {"schema": schema, "kraken": kraken, "ocrd": ocrd, "hocr": hocr, "docx": docx, "iiif": iiif}
    seen = oracles[sys.argv[1]](sys.argv[2])
    print(json.dumps(seen))  # noqa: T201
