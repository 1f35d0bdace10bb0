"""The order of elements, ids and references of what is written and updated, as the formats want it.

The schemas themselves are only asked where there are other readers (test_oracles.py).
"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from page_examples import PROVENANCE, document_of, letter_page, pages, register_page, with_texts

from drethtr.documents import FORMATS, Transcription
from drethtr.documents.read import parse_page
from drethtr.documents.update import update

CHILDREN = {
    "PcGts": "Metadata Page ",
    "Metadata": "Creator Created LastChange (Comments )?(UserDefined )?(MetadataItem )*",
    "Page": "(AlternativeImage )*(PrintSpace )?(ReadingOrder )?((Text|Table|Image|Graphic|Separator)Region )*",
    "TableRegion": "Coords (Roles )?(TextRegion )*",
    "TextRegion": "(Labels )*Coords (Roles )?(TextRegion )*(TextLine )*(TextEquiv )*(TextStyle )?",
    "TextLine": "Coords (Baseline )?(Word )*(TextEquiv )*(TextStyle )?",
    "Word": "Coords (TextEquiv )*",
    "TextEquiv": "(PlainText )?Unicode ",
    "alto": "(Description )?(Styles )?(Tags )?Layout ",
    "Description": "MeasurementUnit (sourceImageInformation )?(OCRProcessing )*(Processing )*",
    "Layout": "(Page )+",
}
"""The children of elements of PAGE and ALTO, one after the other; both have a `Page` and a `TextLine`."""

OF_ALTO = {
    "Page": "(PrintSpace )?",
    "PrintSpace": "((Composed|Text)Block )*",
    "ComposedBlock": "(Shape )?((Composed|Text)Block )*",
    "TextBlock": "(Shape )?(TextLine )*",
    "TextLine": "(Shape )?(String (SP )?)+(HYP )?",
    "String": "(Shape )?(ALTERNATIVE )*(Glyph )*",
}

NAME = re.compile(r"[^\W\d][\w.-]*")
REFERENCES = {"regionRef", "TAGREFS", "STYLEREFS", "IDNEXT", "facs", "hand", "resp"}
"""Attributes that name ids; in TEI with # before each."""


def names(element):
    return "".join(f"{etree.QName(child).localname} " for child in element.iterchildren(tag=etree.Element))


def check(format, data):
    root = etree.fromstring(data)
    grammar = CHILDREN | OF_ALTO if format == "alto" else CHILDREN
    for element in root.iter(tag=etree.Element) if format != "tei" else ():
        wanted = grammar.get(etree.QName(element).localname)
        assert wanted is None or re.fullmatch(wanted, names(element)), (element.tag, names(element))
    ids = root.xpath("//@id | //@ID | //@xml:id", namespaces={"xml": "http://www.w3.org/XML/1998/namespace"})
    assert len(ids) == len(set(ids)) and all(NAME.fullmatch(one) for one in ids)
    for element in root.iter(tag=etree.Element):
        for name in REFERENCES & set(element.keys()):
            named = [word.removeprefix("#") for word in element.get(name).split()]
            assert set(named) <= set(ids), (element.tag, name, element.get(name))


@settings(max_examples=60)
@given(st.sampled_from(["page", "alto"]), pages(), st.booleans())
def test_what_is_written_and_updated_is_in_order(format, page, anew):
    data = FORMATS[format].write(document_of(page))
    check(format, data)
    read = parse_page(data, "x", lambda _: None)[2].page
    new = with_texts(read, {line.id: Transcription("neu", 0.5) for line in read.lines} if anew else {})
    check(format, update(data, new, PROVENANCE, replace=True))


@pytest.mark.parametrize("format", ["page", "alto"])
@pytest.mark.parametrize("page", [letter_page(), register_page()], ids=["letter", "register"])
def test_tables_and_doubtful_words_are_in_order(format, page):
    check(format, FORMATS[format].write(document_of(page)))


@settings(max_examples=30)
@given(st.lists(pages(), min_size=1, max_size=3))
def test_ids_and_references_of_an_edition_lead_somewhere(found):
    check("tei", FORMATS["tei"].write(document_of(*found)))
