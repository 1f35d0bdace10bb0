from dataclasses import replace

import pytest
from page_examples import document_of
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.documents import FORMATS, Page, PageFlag, PageWord, Region, TextLine, Transcription, read_page
from drethtr.documents.transcription import Review

BOX = 'HPOS="10" VPOS="20" WIDTH="30" HEIGHT="10"'
POLYGON = ((10, 20), (40, 20), (40, 30), (10, 30))


def read(tmp_path, lines, version=4, unit="pixel", size='WIDTH="100" HEIGHT="50"', before="", block=""):
    path = tmp_path / "a.xml"
    path.write_text(
        f"""<alto xmlns="http://www.loc.gov/standards/alto/ns-v{version}#"><Description>
        <MeasurementUnit>{unit}</MeasurementUnit><sourceImageInformation><fileName>x/a.png</fileName>
        </sourceImageInformation></Description>{before}<Layout><Page ID="p" PHYSICAL_IMG_NR="1" {size}>
        <PrintSpace><ComposedBlock ID="c"><TextBlock ID="b" {block}>{lines}</TextBlock></ComposedBlock></PrintSpace>
        </Page></Layout></alto>"""
    )
    return read_page(path)


def line(inside, attributes=BOX, id="l"):
    return f'<TextLine ID="{id}" {attributes}>{inside}</TextLine>'


@pytest.mark.parametrize("version", [2, 3, 4])
def test_all_versions_since_2_are_read(version, tmp_path):
    page = read(tmp_path, line(f'<String CONTENT="daſs" WC="0.5" {BOX}/>'), version)
    assert (page.image, page.width, page.height) == ("a.png", 100, 50)
    assert page.lines[0].polygon == POLYGON
    assert page.lines[0].words == (PageWord("daſs", 0.5, POLYGON),)


@pytest.mark.parametrize("version", [1, 5])
def test_unknown_versions_are_refused_by_name(version, tmp_path):
    with pytest.raises(
        DataError, match=rf"a\.xml: ALTO with unknown namespace '.*ns-v{version}#'; known: http.*ns-v2#"
    ):
        read(tmp_path, "", version)


@pytest.mark.parametrize(
    "points",
    ["1 2 30 2 30 9", "1,2 30,2 30,9", "1,2,30,2,30,9", " 1 , 2\n30 , 2 30.2 , 8.9 ", "1.0,2.0 30.0,2.0 30.0,9.0"],
)
def test_points_are_read_in_all_the_ways_they_are_written(points, tmp_path):
    shape = f'<Shape><Polygon POINTS="{points}"/></Shape>'
    found = read(tmp_path, line(shape, f'{BOX} BASELINE="{points}"')).lines[0]
    assert found.polygon == found.baseline == ((1, 2), (30, 2), (30, 9))


def test_before_alto_4_2_a_baseline_is_a_height(tmp_path):
    assert read(tmp_path, line("", f'{BOX} BASELINE="28"')).lines[0].baseline == ((10, 28), (40, 28))


def test_an_empty_polygon_leaves_the_box_and_no_box_leaves_nothing(tmp_path):
    empty = '<Shape><Polygon POINTS=""/></Shape>'
    page = read(tmp_path, line(empty) + line(empty, "", id="m") + line(empty, BOX.replace("30", "0"), id="n"))
    assert [found.polygon for found in page.lines] == [POLYGON, None, None]


@pytest.mark.parametrize(
    ("inside", "text", "words"),
    [
        ('<String CONTENT="a"/><SP/><String CONTENT="b"/>', "a b", ["a", "b"]),
        ('<String CONTENT="a"/><String CONTENT="b"/>', "a b", ["a", "b"]),
        ('<String CONTENT="a"/><SP/><String CONTENT="b"/><HYP CONTENT="¬"/>', "a b¬", ["a", "b¬"]),
        ('<String CONTENT="a whole line"/>', "a whole line", []),
        ('<String CONTENT="a&#10;whole line"/>', "a whole line", []),
    ],
)
def test_texts_are_put_together_from_strings(inside, text, words, tmp_path):
    found = read(tmp_path, line(inside)).lines[0]
    assert (found.text, [word.text for word in found.words]) == (text, words)


def test_a_whole_line_in_one_string_gives_the_line_its_confidence(tmp_path):
    assert read(tmp_path, line('<String CONTENT="a b" WC="0.75"/>')).lines[0].confidence == 0.75


@pytest.mark.parametrize(
    "inside", ["", '<String CONTENT=""/>', '<String CONTENT=" "/>', f'<String CONTENT="" {BOX}></String>']
)
def test_a_line_that_nobody_read_has_no_transcription(inside, tmp_path):
    assert read(tmp_path, line(inside)).lines[0].transcription is None


def test_doubtful_words_are_known_by_their_tag(tmp_path):
    tags = '<Tags><OtherTag ID="t7" LABEL="doubtful"/><OtherTag ID="t8" LABEL="x"/></Tags>'
    strings = '<String CONTENT="a" TAGREFS="t8"/><String CONTENT="b" TAGREFS="t8 t7"/>'
    assert [word.doubtful for word in read(tmp_path, line(strings), before=tags).lines[0].words] == [False, True]


@pytest.mark.parametrize(("unit", "per_pixel"), [("mm10", 254 / 300), ("inch1200", 4)])
def test_other_units_become_pixels_of_the_image_or_of_300_dpi(unit, per_pixel, tmp_path):
    sides = {"HPOS": 10, "VPOS": 20, "WIDTH": 30, "HEIGHT": 10}
    box = " ".join(f'{side}="{pixels * per_pixel}"' for side, pixels in sides.items())
    size = f'WIDTH="{100 * per_pixel}" HEIGHT="{50 * per_pixel}"'
    page = read(tmp_path, line("", box), unit=unit, size=size)
    assert (page.width, page.height, page.lines[0].polygon) == (100, 50, POLYGON)
    Image.new("L", (200, 100)).save(tmp_path / "a.png")
    page = read(tmp_path, line("", box), unit=unit, size=size)
    assert (page.width, page.height) == (200, 100)
    assert page.lines[0].polygon == tuple((2 * x, 2 * y) for x, y in POLYGON)


@pytest.mark.parametrize(("version", "width"), [(2, 300), (3, 254), (4, 254)])
def test_a_file_of_alto_2_that_names_no_unit_is_in_tenths_of_a_millimeter(version, width, tmp_path):
    read(tmp_path, "", version, size='WIDTH="254" HEIGHT="127"')
    path = tmp_path / "a.xml"
    path.write_text(path.read_text().replace("<MeasurementUnit>pixel</MeasurementUnit>", ""))
    assert read_page(path).width == width


@pytest.mark.parametrize("size", ["", 'WIDTH="1e-300" HEIGHT="50"'])
@pytest.mark.parametrize("unit", ["pixel", "mm10"])
def test_a_page_without_size_has_the_size_of_its_image(size, unit, tmp_path):
    assert read(tmp_path, line(""), unit=unit, size=size).width == 0
    Image.new("L", (200, 100)).save(tmp_path / "a.png")
    page = read(tmp_path, line("", BOX.replace("10", "1e6")), unit=unit, size=size)
    assert (page.width, page.height) == (200, 100)


@pytest.mark.parametrize("attributes", ['HPOS="a" VPOS="1" WIDTH="9" HEIGHT="9"', 'BASELINE="1,2,3"', 'BASELINE="low"'])
def test_places_that_are_none_cost_themselves_and_are_named(attributes, tmp_path):
    page = read(tmp_path, line('<String CONTENT="a" WC="high"/>', attributes))
    [found] = page.lines
    assert found.text == "a" and found.polygon is found.baseline is found.words[0].confidence is None
    assert len(page.oddities) == 2 and all("line 'l': " in oddity for oddity in page.oddities)


def test_an_unknown_unit_is_named(tmp_path):
    with pytest.raises(DataError, match="unknown MeasurementUnit 'furlong'; known: pixel, mm10, inch1200"):
        read(tmp_path, "", unit="furlong")


def test_a_reading_order_sorts_blocks_and_lines(tmp_path):
    references = '<ElementRef ID="1" REF="m"/><ElementRef ID="2" REF="l"/>'
    order = f'<ReadingOrder><OrderedGroup ID="o">{references}</OrderedGroup></ReadingOrder>'
    page = read(tmp_path, line("", id="l") + line("", id="k") + line("", id="m"), before=order)
    assert [found.id for found in page.lines] == ["m", "l", "k"]


def test_a_block_without_a_place_in_the_reading_order_is_where_the_block_around_it_is(tmp_path):
    blocks = {id: f'<TextBlock ID="{id}">{line("", id=f"l{id}")}</TextBlock>' for id in "defg"}
    content = (
        f'</TextBlock>{blocks["d"]}<ComposedBlock ID="n"><ComposedBlock>{blocks["e"]}{blocks["f"]}</ComposedBlock>'
        f'</ComposedBlock>{blocks["g"]}<TextBlock ID="h">'
    )
    references = "".join(f'<ElementRef ID="{number}" REF="{id}"/>' for number, id in enumerate("gfn"))
    order = f'<ReadingOrder><OrderedGroup ID="o">{references}</OrderedGroup></ReadingOrder>'
    page = read(tmp_path, content, before=order)
    assert [found.id for found in page.lines] == ["lg", "lf", "le", "ld"]


def test_lines_without_id_are_numbered(tmp_path):
    path_lines = "<TextLine/><TextLine/>"
    assert [found.id for found in read(tmp_path, path_lines).lines] == ["line_1", "line_2"]


def test_several_pages_in_a_file_are_refused(tmp_path):
    with pytest.raises(DataError, match="ALTO with 2 Page elements; expected one page per file"):
        read(tmp_path, "", size='/><Page ID="q"')


def of(tmp_path, inside):
    """Text, words and line confidence of a line."""
    [found] = read(tmp_path, line(inside)).lines
    return found.text, [(word.text, word.confidence) for word in found.words], found.confidence


@pytest.mark.parametrize("empty", ["", " ", "\u00a0"])
@pytest.mark.parametrize("spaces", ["", "<SP/>"])
def test_an_empty_string_is_no_word(tmp_path, empty, spaces):
    inside = spaces.join(['<String CONTENT="a" WC="0.5"/>', f'<String CONTENT="{empty}"/>', '<String CONTENT="b"/>'])
    assert of(tmp_path, inside) == ("a b", [("a", 0.5), ("b", None)], None)


def test_a_space_that_does_not_break_is_part_of_its_word(tmp_path):
    inside = '<String CONTENT="4\u00a0March" WC="0.5"/><String CONTENT="b" WC="0.7"/>'
    assert of(tmp_path, inside) == ("4\u00a0March b", [("4\u00a0March", 0.5), ("b", 0.7)], None)


def test_strings_of_several_words_keep_their_mean_confidence(tmp_path):
    """Without it, a text by a program would count as written by a person."""
    inside = '<String CONTENT="a b" WC="0.5"/><String CONTENT="c" WC="0.7"/>'
    assert of(tmp_path, inside) == ("a b c", [], pytest.approx(0.6))


@pytest.mark.parametrize("sign", ["-", "\u00ad", "¬", "⸗"])
@pytest.mark.parametrize("last", ["Whit", "Whit-", "Whit\u00ad", "Whit¬", "Whit⸗"])
def test_a_line_ends_with_one_hyphen(tmp_path, last, sign):
    wanted = last if last != "Whit" else last + sign
    assert of(tmp_path, f'<String CONTENT="to"/><String CONTENT="{last}"/><HYP CONTENT="{sign}"/>') == (
        f"to {wanted}",
        [("to", None), (wanted, None)],
        None,
    )


def test_our_own_marks_are_no_tags_of_people(tmp_path):
    words = (PageWord("a", doubtful=True), PageWord("b"))
    read = Transcription("a b", None, words, (PageFlag("repeats", "in circles"),))
    confirmed = replace(read, review=Review.CONFIRMED)
    lines = TextLine("l", POLYGON, None, read, "insertion"), TextLine("m", POLYGON, None, confirmed)
    (tmp_path / "a.xml").write_bytes(FORMATS["alto"].write(document_of(Page("a.png", 100, 50, (Region("r", lines),)))))
    first, second = read_page(tmp_path / "a.xml").lines
    assert first.kind == "insertion" and first.words[0].doubtful and second.review is Review.CONFIRMED
    assert first.transcription.tags == second.transcription.tags == ()


def test_labels_of_tags_on_lines_and_words_are_known(tmp_path):
    tags = '<Tags><OtherTag ID="t" LABEL="gap"/><OtherTag ID="u" LABEL="unclear"/><OtherTag ID="v" LABEL="x"/></Tags>'
    inside = line('<String CONTENT="a" TAGREFS="u"/>', f'{BOX} TAGREFS="t"')
    assert [tag.name for tag in read(tmp_path, inside, before=tags).lines[0].transcription.tags] == ["gap", "unclear"]
