from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from page_examples import PROVENANCE, document_of, letter_page, line_of, pages, register_page, with_texts

from drethtr.documents import FORMATS, Document, Page, PageFlag, PageWord, Region, TextLine, Transcription
from drethtr.documents.document import About
from drethtr.documents.reflow import is_hyphenated, paragraphs
from drethtr.documents.running_text import READERS
from drethtr.documents.transcription import Review, Tag

TEI = "{http://www.tei-c.org/ns/1.0}"
ID = "{http://www.w3.org/XML/1998/namespace}id"


def tei(*given_pages):
    return ET.fromstring(FORMATS["tei"].write(document_of(*given_pages)))


def found(root, name):
    return list(root.iter(f"{TEI}{name}"))


def text_of(region):
    """The text of a region; words that go on in the next line of a paragraph are joined."""
    lines = [line for line in region.lines if line.transcription is not None]
    parts = [lines] if region.cell is not None else paragraphs(lines)
    return "".join(f"{with_breaks([line.text for line in part])}\n" for part in parts)


def with_breaks(texts):
    breaks = ("" if is_hyphenated(*pair) else "\n" for pair in pairwise(texts))
    return "".join(f"{text}{space}" for text, space in zip(texts, [*breaks, "\n"], strict=False))


def page_of_words(*words):
    text = Transcription(" ".join(word.text for word in words), 0.5, words)
    return Page("a.jpg", 800, 600, (Region("r", (TextLine("l", transcription=text),)),))


@pytest.mark.parametrize("space", ["\x0b", "\x0c", "\x1c", "\x1f"])
def test_white_space_that_xml_forbids_is_replaced_between_words_too(space):
    words = PageWord("one", 0.1, doubtful=True), PageWord("two", 0.1, doubtful=True)
    line = TextLine("l", transcription=Transcription(f"one{space}two", 0.5, words))
    [paragraph] = found(tei(Page("a.jpg", 800, 600, (Region("r", (line,)),))), "p")[-1:]
    assert "".join(paragraph.itertext()).strip() == "one\ufffdtwo"


@settings(max_examples=40)
@given(pages(), pages())
def test_every_break_points_to_its_zone_and_the_text_is_that_of_the_pages(first, second):
    """In the order of the lines, which insertions leave."""
    first, second = (
        page.with_lines(lambda line: replace(line, kind=line.kind.replace("insertion", ""))) for page in (first, second)
    )
    data = FORMATS["tei"].write(document_of(first, second))
    root = ET.fromstring(data)
    zones = {zone.get(ID): zone for zone in [*found(root, "zone"), *found(root, "surface")]}
    pointers = [found(root, name) for name in ("pb", "p", "lb")]
    assert len(zones) == len(found(root, "zone")) + 2
    assert all(element.get("facs", "#")[1:] in zones for elements in pointers for element in elements if element.attrib)
    lines = [line for page in (first, second) for line in page.lines]
    assert len([zone for zone in zones.values() if zone.get("type") == "line"]) == len(lines)
    assert len(found(root, "lb")) == sum(line.transcription is not None for line in lines)
    assert (
        READERS[".xml"](data, Path("a.xml")).split() == "".join(map(text_of, [*first.regions, *second.regions])).split()
    )


def test_regions_and_lines_have_their_places():
    page = letter_page()
    slanted = replace(page.lines[0], polygon=((50, 60), (490, 50), (490, 90), (50, 99)))
    root = tei(page.with_lines(lambda line: slanted if line.id == "l1" else line))
    [surface] = found(root, "surface")
    assert (surface.get("lrx"), surface.get("lry")) == ("800", "600")
    assert surface.find(f"{TEI}graphic").attrib == {"url": "letter.jpg", "width": "800px", "height": "600px"}
    main, first, second, *_ = found(root, "zone")
    assert list(main) == [first, second]
    corners = {"ulx": "50", "uly": "50", "lrx": "490", "lry": "99"}
    assert first.attrib == {ID: "l1", "type": "line", **corners, "points": "50,60 490,50 490,90 50,99"}
    assert second.get("points") is None


def test_pages_of_a_book_stay_together():
    sheets = tuple(replace(document_of(Page("book.pdf", 8, 6)).sheets[0], number=number) for number in (3, 4))
    root = ET.fromstring(FORMATS["tei"].write(Document(sheets, PROVENANCE)))
    assert [graphic.get("url") for graphic in found(root, "graphic")] == ["book.pdf#page=3", "book.pdf#page=4"]
    assert [(pb.get("n"), pb.get("facs")) for pb in found(root, "pb")] == [("3", "#page_3"), ("4", "#page_4")]
    assert found(root, "title")[0].text == "book.pdf"


def test_pages_of_several_files_are_counted():
    """A page of a PDF is still found in it by its own number."""
    sheets = [document_of(Page(image, 8, 6)).sheets[0] for image in ("a.jpg", "b.jpg", "book.pdf")]
    numbered = tuple(replace(sheet, number=number) for sheet, number in zip(sheets, (1, 1, 7), strict=True))
    root = ET.fromstring(FORMATS["tei"].write(Document(numbered, PROVENANCE)))
    assert [graphic.get("url") for graphic in found(root, "graphic")] == ["a.jpg", "b.jpg", "book.pdf#page=7"]
    assert [(pb.get("n"), pb.get("facs")) for pb in found(root, "pb")] == [(n, f"#page_{n}") for n in "123"]


def test_only_doubtful_words_are_unclear_and_say_how_sure_they_are():
    doubtful = [PageWord(f"w{sure}", sure, None, True) for sure in (0.95, 0.5, 0.49, 0.25, 0.2, None)]
    root = tei(page_of_words(PageWord("sure", 0.1), *doubtful))
    unclear = found(root, "unclear")
    assert [word.text for word in unclear] == [word.text for word in doubtful]
    assert [word.get("cert") for word in unclear] == ["high", "high", "medium", "medium", "low", None]
    [responsible] = found(root, "respStmt")
    assert {word.get("resp") for word in unclear} == {f"#{responsible.get(ID)}"}


def test_white_space_between_words_is_kept():
    word = PageWord("a", 0.3, None, True)
    text = Transcription("a  a,aa", 0.3, (word, replace(word, text="a,a"), word))
    root = tei(Page("a.jpg", 8, 6, (Region("r", (TextLine("l", transcription=text),)),)))
    assert "".join(found(root, "text")[0].find(f".//{TEI}p").itertext()) == "a  a,aa\n   "


def test_the_header_names_version_model_and_the_work_of_people():
    page = letter_page()
    confirmed = replace(page.lines[0].transcription, review=Review.CONFIRMED)
    odd = replace(page.lines[1].transcription, flags=(PageFlag("blank", "there is no ink"),))
    root = tei(with_texts(page, {"l1": confirmed, "l2": odd}))
    [application] = found(root, "application")
    assert application.attrib == {"ident": "drethtr", "version": "1.2.3", "when": "2026-11-21T12:30:00Z"}
    assert application.find(f"{TEI}desc").text == "model 0123abcd"
    assert "A person has corrected or confirmed 1 of 3 lines." in "".join(root.itertext())
    assert [note.text for note in found(root, "note")] == ["blank: there is no ink"]


def test_lines_name_the_people_who_answer_for_them():
    """A name beside a line that nobody has corrected by now, such as after undo, says nothing."""
    page = letter_page()
    confirmed = replace(page.lines[0].transcription, review=Review.CONFIRMED)
    document = document_of(with_texts(page, {"l1": confirmed}))
    [sheet] = document.sheets
    people = {"l1": " Ada ", "l2": "Bob", "gone": "Eve"}
    root = ET.fromstring(FORMATS["tei"].write(replace(document, sheets=(replace(sheet, people=people),))))
    _, ada = found(root, "respStmt")
    assert ada.find(f"{TEI}persName").text == "Ada"
    assert [line.get("resp") for line in found(root, "lb")] == [f"#{ada.get(ID)}", None, None]
    assert "that person" in "".join(root.itertext())


@pytest.mark.parametrize(("version", "kept"), [("0.2.0.dev3+g1a2b", "0.2.0"), ("unknown", "0")])
def test_a_version_that_tei_has_no_form_for(version, kept):
    document = replace(document_of(letter_page()), provenance=replace(PROVENANCE, version=version))
    root = ET.fromstring(FORMATS["tei"].write(document))
    assert found(root, "application")[0].get("version") == kept and version in "".join(root.itertext())


def test_tables_and_notes():
    root = ET.fromstring(FORMATS["tei"].write(document_of(register_page())))
    rows = [["".join(cell.itertext()).split() for cell in row.iter(f"{TEI}cell")] for row in root.iter(f"{TEI}row")]
    assert rows == [[["No."], ["Name"], ["Sum"]], [["1"], [], ["12.50"]]]
    [note] = root.findall(f".//{TEI}body/{TEI}note")
    assert note.get("place") == "margin" and "paid" in "".join(note.itertext())


def test_insertions_stand_in_their_line_and_numbers_and_stamps_are_told_apart():
    line = line_of("we went home", id="l1", top=100)
    above = replace(line_of("all", left=line.words[1].box.right - 10, top=60, id="l2"), kind="insertion")
    regions = (
        Region("f", (line_of("12", id="f1"),), kind="number"),
        Region("r", (line, above, line_of("late", id="l3", top=200))),
        Region("s", (line_of("ARCHIVES", id="s1"),), kind="stamp"),
        Region("m", (line_of("paid", id="m1"),), kind="MarginTextZone"),
    )
    root = tei(Page("a.jpg", 800, 600, regions))
    [block, _, note] = found(found(root, "body")[0], "p")
    assert "".join(block.itertext()).split() == ["we", "went", "all", "home", "late"]
    [added] = found(root, "add")
    assert added.attrib == {"place": "above", "facs": "#l2"} and added.text == "all"
    assert len(found(block, "lb")) == 2 and note in list(found(root, "note")[0])
    assert "".join(found(root, "fw")[0].itertext()).strip() == "12"
    assert "".join(found(root, "stamp")[0].itertext()).strip() == "ARCHIVES"


TAGS = (
    Tag("person", 0, 9),
    Tag("abbrev", 0, 5, (("expansion", "Madame"),)),
    Tag("date", 3, 10),
    Tag("place", 16, 4),
    Tag("organization"),
)


def test_raised_letters_tags_and_words_that_go_on_in_the_next_line():
    lines = (
        TextLine("l1", transcription=Transcription("M^me Anna went to Ly-", 0.9, tags=TAGS)),
        TextLine("l2", transcription=Transcription("on in May", 0.9)),
    )
    root = tei(Page("a.jpg", 800, 600, (Region("r", lines),)))
    [paragraph] = root.findall(f".//{TEI}body/{TEI}p")
    written = ET.tostring(paragraph, encoding="unicode").replace(
        ' xmlns:ns0="http://www.w3.org/XML/1998/namespace"', ""
    )
    assert [lb.get("break") for lb in found(root, "lb")] == [None, "no"]
    [choice] = found(root, "choice")
    assert ["".join(part.itertext()) for part in choice] == ["Mme ", "Madame"], written
    assert [(hi.text, hi.get("rend")) for hi in found(root, "hi")] == [("me", "superscript")]
    assert ["".join(name.itertext()) for name in found(root, "placeName")] == ["o Ly"]
    assert not found(root, "date") and not found(
        root, "orgName"
    )  # the date crosses the person, the other marks no word
    data = FORMATS["tei"].write(document_of(Page("a.jpg", 800, 600, (Region("r", lines),))))
    assert READERS[".xml"](data, Path("a.xml")).split() == ["M^me", "Anna", "went", "to", "Ly-on", "in", "May"]


def test_a_page_with_nothing_but_a_note_has_a_paragraph_as_the_schema_wants():
    root = tei(Page("a.jpg", 800, 600, (Region("m", (line_of("paid"),), kind="margin"),)))
    assert [element.tag for element in found(root, "body")[0]] == [f"{TEI}{name}" for name in ("pb", "note", "p")]


def test_only_abbreviations_are_expanded():
    tags = (Tag("person", 0, 3, (("expansion", "Antonia"),)),)
    root = tei(Page("a.jpg", 800, 600, (Region("r", (TextLine("l", transcription=Transcription("Ant", tags=tags)),)),)))
    assert found(root, "persName") and not found(root, "choice")


def test_thousands_of_tags_on_one_word_are_no_deeper_than_xml_may_be():
    tags = (Tag("person", 0, 3),) * 2000
    line = TextLine("l", transcription=Transcription("Ant at home", tags=tags))
    document = document_of(Page("a.jpg", 800, 600, (Region("r", (line,)),)))
    assert READERS[".xml"](FORMATS["tei"].write(document), Path("a.xml")).split() == ["Ant", "at", "home"]


def test_an_edition_says_what_it_is():
    about = About(
        "Letters", "Anne Brontë", "Leeds, MS 7", "Ada L.; Bo", "https://creativecommons.org/licenses/by/4.0/", "en"
    )
    root = ET.fromstring(FORMATS["tei"].write(replace(document_of(letter_page()), about=about)))
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == "en"
    told = {name: [one.text for one in found(root, name)] for name in ("title", "author", "editor", "publisher")}
    assert told == {
        "title": ["Letters"],
        "author": ["Anne Brontë"],
        "editor": ["Ada L.", "Bo"],
        "publisher": ["Ada L., Bo"],
    }
    assert found(root, "licence")[0].get("target") == about.licence
    assert "Leeds, MS 7" in "".join(root.itertext())
