from xml.etree import ElementTree as ET

from page_examples import document_of, letter_page, line_of, register_page

from drethtr.documents import FORMATS, Page, PageWord, Region, TextLine, Transcription
from drethtr.documents.read import page_in
from drethtr.documents.transcription import Review, Tag

PAGE = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15}"


def customs(page, kind):
    root = ET.fromstring(FORMATS["page"].write(document_of(page)))
    return [element.get("custom") for element in root.iter(f"{PAGE}{kind}")]


def test_doubts_and_order_are_marked_as_transkribus_marks_them():
    page = letter_page()
    assert customs(page, "TextRegion") == ["readingOrder {index:0;}", "readingOrder {index:1;}"]
    assert customs(page, "TextLine") == [
        "readingOrder {index:0;} unclear {offset:14; length:4;}",
        "readingOrder {index:1;}",
        "readingOrder {index:0;}",
    ]
    assert customs(page, "Word")[2:4] == [
        "readingOrder {index:2;} unclear {offset:0; length:4;}",
        "readingOrder {index:3;}",
    ]


def test_tags_of_people_come_back():
    """Also odd ones, of JSON or ALTO."""
    names = (Tag("person", 0, 5, (("firstname", "Anne; {x}"),)), Tag("unclear", 6, 2), Tag("gap", 3), Tag("unclear", 9))
    words = (PageWord("Mère", None, ((0, 0), (9, 0), (9, 9))), PageWord("da", None, ((0, 0), (9, 0), (9, 9)), True))
    lines = (
        TextLine("l", None, None, Transcription("Liebe Mutter", tags=names, review=Review.CONFIRMED)),
        TextLine("m", None, None, Transcription("Mère da", None, words, tags=(Tag("a {b} c", 0, 2, (("d;e", "f"),)),))),
    )
    written = FORMATS["page"].write(document_of(Page("a.jpg", 9, 9, (Region("r", lines),))))
    first, second = page_in(written, "x", lambda image: None).lines
    assert first.transcription.tags == names and first.review is Review.CONFIRMED
    assert second.transcription.tags == (Tag("a_b_c", 0, 2, (("d_e", "f"),)),)
    assert [word.doubtful for word in second.words] == [False, True]


def test_the_second_of_two_equal_words_is_found_behind_the_first():
    words = (PageWord("und"), PageWord("und", doubtful=True))
    line = TextLine("l", transcription=Transcription("und und", None, words))
    assert customs(Page("a.jpg", 9, 9, (Region("r", (line,)),)), "TextLine") == [
        "readingOrder {index:0;} unclear {offset:4; length:3;}"
    ]


def test_ids_are_unique_and_valid_in_the_file():
    page = Page("a.jpg", 9, 9, (Region("x", (line_of("a", id="x"), line_of("b", id="1 x"))),))
    root = ET.fromstring(FORMATS["page"].write(document_of(page)))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert ids == ["reading_order", "x", "x_2", "x_2_w1", "_1_x", "_1_x_w1"]


def test_tables_are_those_of_the_schema():
    root = ET.fromstring(FORMATS["page"].write(document_of(register_page())))
    [table] = root.iter(f"{PAGE}TableRegion")
    roles = [role.attrib for role in table.iter(f"{PAGE}TableCellRole")]
    assert roles[-1] == {"rowIndex": "1", "columnIndex": "2"} and len(roles) == 5
    kinds = [region.get("type") for region in root.find(f"{PAGE}Page").findall(f"{PAGE}TextRegion")]
    assert kinds == ["heading", "marginalia"]
    order = [reference.get("regionRef") for reference in root.iter(f"{PAGE}RegionRefIndexed")]
    assert order == ["h", "t00", "t01", "t02", "t10", "t12", "n"]
