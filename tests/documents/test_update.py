import codecs
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_examples import PROVENANCE, document_of, letter_page, pages, with_texts
from real_data import PAGES, needs_pages

from drethtr.base.errors import DataError
from drethtr.documents import FORMATS, Box, PageWord, Transcription, read_page
from drethtr.documents.read import parse_page
from drethtr.documents.update import update

PAGE = """<?xml version="1.0" encoding="ENCODING"  standalone='yes'?>
<!-- é -->
<pc:PcGts xmlns:pc="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15">
\t<pc:Page imageHeight = '200' imageWidth="100"   imageFilename="a.jpg">
\t\t<pc:TextRegion id="r1">
\t\t\t<pc:TextLine id="empty" custom="é">
\t\t\t\t<pc:Coords points="0,0 100,0 100,20 0,20"></pc:Coords>
\t\t\t\t<pc:Baseline points="0,18 100,18"/><!-- mine --><pc:TextEquiv><pc:Unicode/></pc:TextEquiv>
\t\t\t\t<pc:TextStyle  />
\t\t\t</pc:TextLine>
\t\t\t<pc:TextLine id="read">
\t\t\t\t<pc:Coords points="0,30 100,30 100,40 0,40"/>
\t\t\t\t<pc:Word id="w"><pc:Coords points="0,30 9,30 9,40"/>OLD</pc:Word>
\t\t\t\tOLD
\t\t\t</pc:TextLine>
\t\t\t<pc:TextLine id="marked">
\t\t\t\t<pc:Coords points="0,50 100,50 100,60 0,60"/>
\t\t\t\t<pc:Word id="empty_w1"><pc:Coords points="0,50 9,50 9,60"/></pc:Word>
\t\t\t</pc:TextLine>
\t\t\t<pc:TextLine id="bare"/>
\t\t</pc:TextRegion>
\t</pc:Page>
</pc:PcGts>
""".replace("OLD", "<pc:TextEquiv><pc:Unicode>alt</pc:Unicode></pc:TextEquiv>")
EMPTY_READ = """<pc:Baseline points="0,18 100,18"/>
\t\t\t\t<pc:Word id="empty_w1_2" custom="readingOrder {index:0;} unclear {offset:0; length:3;}">
\t\t\t\t\t<pc:Coords points="0,0 9,0 9,9" />
\t\t\t\t\t<pc:TextEquiv conf="0.2500">
\t\t\t\t\t\t<pc:Unicode>ſ&lt;é</pc:Unicode>
\t\t\t\t\t</pc:TextEquiv>
\t\t\t\t</pc:Word>
\t\t\t\t<pc:TextEquiv conf="0.5000">
\t\t\t\t\t<pc:Unicode>ſ&lt;é</pc:Unicode>
\t\t\t\t</pc:TextEquiv><!-- mine -->
"""
TEXT_ALONE = """
\t\t\t\t<pc:TextEquiv conf="0.5000">
\t\t\t\t\t<pc:Unicode>ſ&lt;é</pc:Unicode>
\t\t\t\t</pc:TextEquiv>"""
NEW = Transcription("ſ<é", 0.5, (PageWord("ſ<é", 0.25, ((0, 0), (9, 0), (9, 9)), doubtful=True),))
COMMENT = "\n\t<!-- text added by drethtr 1.2.3, model 0123abcd on 2026-11-21T12:30:00Z -->"


def page_of(data):
    return parse_page(data, "x", lambda _: None)[2].page


def with_text(data, *ids, text=NEW):
    page = page_of(data)
    return with_texts(page, {line.id: text for line in page.lines if not ids or line.id in ids})


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("encoding", "codec", "mark"),
    [
        ("utf-8", "utf-8", b""),
        ("UTF-8", "utf-8", codecs.BOM_UTF8),
        ("UTF-16", "utf-16-le", codecs.BOM_UTF16_LE),
        ("ISO-8859-1", "latin-1", b""),
    ],
)
def test_all_but_the_new_text_is_as_it_was(newline, encoding, codec, mark):
    def to_bytes(text):
        text = text.replace("ENCODING", encoding).replace("\n", newline)
        return mark + text.encode(codec, "xmlcharrefreplace")

    data = to_bytes(PAGE)
    old = '<pc:Baseline points="0,18 100,18"/><!-- mine --><pc:TextEquiv><pc:Unicode/></pc:TextEquiv>\n'
    expected = PAGE.replace(old, EMPTY_READ).replace("\n</pc:PcGts>", COMMENT + "\n</pc:PcGts>")
    assert update(data, with_text(data, "empty"), PROVENANCE) == to_bytes(expected)


@pytest.mark.parametrize("blank", ["", "<pc:TextEquiv><pc:Unicode> </pc:Unicode></pc:TextEquiv>"])
def test_words_that_somebody_marked_out_stay(blank):
    word = f'9,60"/>{blank}</pc:Word>'
    data = PAGE.replace("ENCODING", "utf-8").replace('9,60"/></pc:Word>', word)
    expected = data.replace(word, word + TEXT_ALONE).replace("\n</pc:PcGts>", COMMENT + "\n</pc:PcGts>")
    assert update(data.encode(), with_text(data.encode(), "marked"), PROVENANCE).decode() == expected


GLYPHS = '<pc:Glyph id="g"><pc:Coords points="0,50 4,50 4,60"/>GLYPH</pc:Glyph>'.replace(
    "GLYPH", "<pc:TextEquiv><pc:Unicode>h</pc:Unicode></pc:TextEquiv>"
)


def test_letters_that_somebody_marked_out_stay():
    """A word may have its text in its letters alone."""
    data = PAGE.replace("ENCODING", "utf-8").replace('9,60"/></pc:Word>', f'9,60"/>{GLYPHS}</pc:Word>').encode()
    updated = update(data, with_text(data, "marked"), PROVENANCE).decode()
    assert GLYPHS in updated and page_of(updated.encode()).lines[2].text == NEW.text


def test_of_several_texts_an_empty_one_is_none():
    texts = ["<pc:TextEquiv index='0'><pc:Unicode/></pc:TextEquiv>", "<pc:TextEquiv index='1'>TEXT</pc:TextEquiv>"]
    texts[1] = texts[1].replace("TEXT", "<pc:Unicode/><pc:PlainText>mein Text</pc:PlainText>")
    data = (
        PAGE.replace("ENCODING", "utf-8").replace('id="bare"/>', f'id="bare">{"".join(texts)}</pc:TextLine>').encode()
    )
    assert page_of(data).lines[3].text == "mein Text"
    assert update(data, with_text(data, "bare"), PROVENANCE) == data


def test_text_that_is_there_stays_unless_it_is_to_be_replaced():
    data = PAGE.replace("ENCODING", "utf-8").encode()
    page = with_text(data, "read")
    assert update(data, page, PROVENANCE) == data
    replaced = update(data, page, PROVENANCE, replace=True)
    assert b"alt" not in replaced
    assert page_of(replaced).lines[1] == page.lines[1]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_tag_goes_only_if_all_that_it_marks_is_gone_and_the_file_says_so(quote):
    custom = "readingOrder {index:1;} person {offset:0; length:3;} structure {type:heading;} sic {length:1; offset:2;}"
    tagged = f'id="read" x="custom=" custom={quote}{custom}{quote}'
    data = PAGE.replace("ENCODING", "utf-8").replace('id="read"', tagged).encode()
    page = with_text(data, "read", text=Transcription("neu"))
    assert update(data, page, PROVENANCE) == data
    written = update(data, page, PROVENANCE, replace=True).decode()
    kept = f"custom={quote}readingOrder {{index:1;}} person {{offset:0; length:3;}} structure {{type:heading;}}{quote}>"
    assert f'id="read" x="custom=" {kept}' in written and 'custom="é"' in written
    assert "line read had sic {length:1; offset:2;} -->" in written


def test_a_tag_that_closes_itself_is_opened():
    data = PAGE.replace("ENCODING", "utf-8").encode()
    text = Transcription("neu")
    written = update(data, with_text(data, "bare", text=text), PROVENANCE).decode()
    assert '\n\t\t\t<pc:TextLine id="bare">\n\t\t\t\t<pc:TextEquiv>\n' in written
    assert "\n\t\t\t\t</pc:TextEquiv>\n\t\t\t</pc:TextLine>\n\t\t</pc:TextRegion>" in written


def test_a_second_time_changes_nothing():
    data = PAGE.replace("ENCODING", "utf-8").encode()
    once = update(data, with_text(data), PROVENANCE)
    assert once != data
    assert update(once, with_text(once, text=Transcription("anders")), PROVENANCE) == once


def test_a_file_in_one_row_stays_in_one_row():
    data = "".join(row.strip() for row in PAGE.replace("ENCODING", "utf-8").splitlines()).encode()
    written = update(data, with_text(data), PROVENANCE)
    assert b"\n" not in written
    assert [line.text for line in page_of(written).lines] == ["ſ<é", "alt", "ſ<é", "ſ<é"]


@settings(max_examples=30)
@given(pages(), st.sampled_from(["page", "alto"]))
def test_text_written_into_a_file_is_read_from_it(page, format):
    data = FORMATS[format].write(document_of(page))
    new = with_texts(page_of(data), {line.id: NEW for line in page.lines if line.transcription is None})
    written = page_of(update(data, new, PROVENANCE))
    assert [line.text for line in written.lines] == [line.text for line in new.lines]
    assert [line.polygon for line in written.lines] == [line.polygon for line in new.lines]


ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v{}#">
  <Description><MeasurementUnit>{}</MeasurementUnit></Description>
  <Layout><Page ID="p" PHYSICAL_IMG_NR="1" WIDTH="1000" HEIGHT="500"><PrintSpace><TextBlock ID="b">
    <TextLine ID="l" HPOS="10" VPOS="10" WIDTH="100" HEIGHT="20" BASELINE="25">{}</TextLine>
  </TextBlock></PrintSpace></Page></Layout>
</alto>"""


def alto(version=4, unit="pixel", inside='\n      <String CONTENT=""/>\n    '):
    return ALTO.format(version, unit, inside).encode()


def test_empty_strings_make_way_for_words():
    data = alto()
    words = (PageWord("a", 0.5, Box(10, 10, 20, 30).polygon()), PageWord("b", 0.25, ((30, 10), (40, 12), (38, 30))))
    written = update(data, with_text(data, text=Transcription("a b", 0.4, words)), PROVENANCE).decode()
    strings = """
      <String ID="l_s1" CONTENT="a" HPOS="10" VPOS="10" WIDTH="10" HEIGHT="20" WC="0.5000" />
      <SP />
      <String ID="l_s2" CONTENT="b" HPOS="30" VPOS="10" WIDTH="10" HEIGHT="20" WC="0.2500">
        <Shape>
          <Polygon POINTS="30,10 40,12 38,30" />
        </Shape>
      </String>
    """
    assert written.replace(COMMENT.replace("\t", "  "), "") == alto(inside=strings).decode()


def test_strings_have_no_polygon_before_alto_4():
    data = alto(version=2)
    words = (PageWord("b", 0.25, ((30, 10), (40, 12), (38, 30))),)
    assert b"Polygon" not in update(data, with_text(data, text=Transcription("b", 0.4, words)), PROVENANCE)


@pytest.mark.parametrize("inside", ["", "\n    "])
def test_a_line_without_anything_is_filled(inside):
    data = alto(inside=inside)
    written = update(data, with_text(data, text=Transcription("a b", 0.5)), PROVENANCE)
    [line] = page_of(written).lines
    assert (line.text, line.confidence) == ("a b", 0.5)
    assert b'\n      <String ID="l_s1" CONTENT="a b" HPOS="10"' in written


def test_places_are_written_in_the_units_of_the_file():
    data = alto(unit="mm10")
    page = page_of(data).resized(2000, 1000)
    words = (PageWord("a", 0.5, Box(20, 20, 220, 60).polygon()),)
    written = update(data, with_texts(page, {"l": Transcription("a", 0.5, words)}), PROVENANCE)
    assert b'HPOS="10" VPOS="10" WIDTH="100" HEIGHT="20" WC' in written


def test_places_are_written_in_the_units_of_a_file_that_does_not_tell_its_size():
    data = alto(unit="mm10").replace(b'WIDTH="1000" HEIGHT="500"', b"", 1)
    page = replace(page_of(data), width=1181, height=591)
    words = (PageWord("a", 0.5, Box(12, 12, 130, 35).polygon()),)
    written = update(data, with_texts(page, {"l": Transcription("a", 0.5, words)}), PROVENANCE)
    assert b'HPOS="10" VPOS="10" WIDTH="100" HEIGHT="20" WC' in written


def test_the_comment_is_one_whatever_the_model_is_called():
    provenance = replace(PROVENANCE, model="a---b -\0-")
    written = update(alto(), with_text(alto()), provenance)
    assert page_of(written).lines[0].text == NEW.text and b"model a- - -b" in written


def test_a_line_that_the_file_lacks_is_named():
    with pytest.raises(DataError, match=r"^a\.xml: contains no line 'l1' to write text into"):
        update(alto(), letter_page(), PROVENANCE, name="a.xml")


@needs_pages
@pytest.mark.parametrize("path", sorted(PAGES.glob("*.xml")), ids=lambda path: path.name)
def test_real_pages_lose_nothing(path):
    data, page = path.read_bytes(), read_page(path)
    assert update(data, page, PROVENANCE) == data
    emptied = page_of(data.replace(b"CONTENT=", b"CONTENT='' X=", 1))
    assert emptied.lines[0].transcription is None
    written = update(data, page, PROVENANCE, replace=True)
    assert page_of(written).text == page.text
    new_rows = set(written.splitlines()) - set(data.splitlines())
    assert all(row.strip().startswith((b"<String", b"<!-- text added", b"</TextLine")) for row in new_rows)
