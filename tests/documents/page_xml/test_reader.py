import re

import pytest

from drethtr.base.errors import DataError
from drethtr.documents import PageWord, read_page
from drethtr.documents.page_xml.reader import NAMESPACES
from drethtr.documents.running_text import read_running_text

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/{}"


def read(tmp_path, content, version="2019-07-15", page='imageFilename="a.jpg" imageWidth="100" imageHeight="50"'):
    path = tmp_path / "a.xml"
    path.write_text(f'<PcGts xmlns="{NAMESPACE.format(version)}"><Page {page}>{content}</Page></PcGts>')
    return read_page(path)


def region(*lines, id="r", custom=""):
    return f'<TextRegion id="{id}" custom="{custom}"><Coords points="0,0 9,0 9,9"/>{"".join(lines)}</TextRegion>'


def line(id, inside="", custom="", points="0,0 9,0 9,9"):
    return f'<TextLine id="{id}" custom="{custom}"><Coords points="{points}"/>{inside}</TextLine>'


def text(content, attributes=""):
    return f"<TextEquiv {attributes}><Unicode>{content}</Unicode></TextEquiv>"


def reading_order(references):
    return f'<ReadingOrder><OrderedGroup id="g">{references}</OrderedGroup></ReadingOrder>'


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_all_versions_since_2013_are_read(namespace, tmp_path):
    page = read(tmp_path, region(line("l", text("daſs", 'conf="0.5"'))), namespace.rsplit("/", 1)[1])
    assert (page.image, page.width, page.height) == ("a.jpg", 100, 50)
    assert (page.lines[0].text, page.lines[0].confidence) == ("daſs", 0.5)
    assert page.regions[0].polygon == page.lines[0].polygon == ((0, 0), (9, 0), (9, 9))


def test_a_namespace_with_https_is_the_same(tmp_path):
    page, path = read(tmp_path, region(line("l", text("Haus")))), tmp_path / "a.xml"
    path.write_text(path.read_text(encoding="utf-8").replace("http://schema", "https://schema"), encoding="utf-8")
    assert "https://schema" in path.read_text(encoding="utf-8") and read_page(path) == page


@pytest.mark.parametrize("version", ["2010-03-19", "2027-07-15"])
def test_unknown_versions_are_refused_by_name(version, tmp_path):
    with pytest.raises(DataError, match=rf"a\.xml: PAGE XML with unknown namespace '.*{version}'; known: http.*2013"):
        read(tmp_path, "", version)


def test_regions_follow_the_reading_order_of_the_page(tmp_path):
    inner = '<UnorderedGroupIndexed index="0" id="h"><RegionRef regionRef="c"/></UnorderedGroupIndexed>'
    order = reading_order(f'<RegionRefIndexed index="1" regionRef="a"/>{inner}')
    page = read(tmp_path, order + region(id="a") + region(id="b") + region(id="c"))
    assert [r.id for r in page.regions] == ["c", "a", "b"]


def test_transkribus_numbers_regions_and_lines_in_custom(tmp_path):
    numbered = "readingOrder {{index:{};}} structure {{type:paragraph;}}"
    lines = [line(f"l{n}", custom=numbered.format(n)) for n in (10, 2, 1)]
    page = read(tmp_path, region(*lines, id="b", custom=numbered.format(1)) + region(id="a", custom=numbered.format(0)))
    assert [r.id for r in page.regions] == ["a", "b"]
    assert [found.id for found in page.lines] == ["l1", "l2", "l10"]


def test_a_line_without_number_leaves_lines_as_they_stand(tmp_path):
    page = read(tmp_path, region(line("b", custom="readingOrder {index:1;}"), line("a")))
    assert [found.id for found in page.lines] == ["b", "a"]


def test_regions_in_regions_and_cells_of_tables_follow_what_is_around_them(tmp_path):
    cell = f'<TableRegion id="t"><TableCell id="c">{line("l2")}</TableCell></TableRegion>'
    nested = f'<TextRegion id="o">{line("l1")}<TextRegion id="i">{line("l3")}</TextRegion></TextRegion>'
    order = reading_order('<RegionRefIndexed index="0" regionRef="t"/><RegionRefIndexed index="1" regionRef="o"/>')
    page = read(tmp_path, f'{order}{nested}{cell}<ImageRegion id="p"/>')
    assert [found.id for found in page.lines] == ["l2", "l1", "l3"]
    assert [r.id for r in page.regions] == ["c", "o", "i"]


def test_of_several_texts_the_lowest_index_counts(tmp_path):
    page = read(tmp_path, region(line("l", text("no", 'index="10"') + text("yes", 'index="2"'))))
    assert page.lines[0].text == "yes"


def test_words_are_read_with_their_doubts(tmp_path):
    unsure = text("b", 'conf="0.25"')
    words = (
        f'<Word id="2" custom="readingOrder {{index:1;}} unclear {{offset:0;}}">{unsure}</Word>'
        f'<Word id="1" custom="readingOrder {{index:0;}}"><Coords points="1,1 2,1 2,2"/>{text("a")}</Word>'
    )
    found = read(tmp_path, region(line("l", words))).lines[0]
    assert found.words == (PageWord("a", None, ((1, 1), (2, 1), (2, 2))), PageWord("b", 0.25, None, doubtful=True))
    assert found.text == "a b"


@pytest.mark.parametrize(("written", "read_as"), [("\n  eine\n\n   Zeile \n", "eine Zeile"), ("a  b", "a  b")])
def test_the_text_of_a_line_is_one_row(written, read_as, tmp_path):
    assert read(tmp_path, region(line("l", text(written)))).lines[0].text == read_as


@pytest.mark.parametrize(
    "inside", ["", text(""), text(" \n "), "<TextEquiv/>", '<Word id="w"><Coords points="0,0 1,0 1,1"/></Word>']
)
def test_a_line_that_nobody_read_has_no_transcription(inside, tmp_path):
    assert read(tmp_path, region(line("l", inside))).lines[0].transcription is None


@pytest.mark.parametrize("points", ["", "5,5", "0,0 9,9", "0,0 0,0 0,0", "-9,-9 -1,-9 -1,-1", "200,0 300,0 300,40"])
def test_polygons_that_enclose_nothing_of_the_page_are_none(points, tmp_path):
    assert read(tmp_path, region(line("l", points=points))).lines[0].polygon is None


def test_points_beyond_the_page_move_to_its_edge(tmp_path):
    found = read(
        tmp_path, region(line("l", '<Baseline points="-5,20 130,20"/>', points="-5,10 130,10 130,90.4"))
    ).lines[0]
    assert found.polygon == ((0, 10), (100, 10), (100, 50))
    assert found.baseline == ((0, 20), (100, 20))


@pytest.mark.parametrize("points", ["1,2,3", "a,b", "nan,1 2,2 3,3", "1e99,1 2,2 3,3"])
def test_points_that_are_none_cost_themselves_and_are_named(points, tmp_path):
    page = read(tmp_path, region(line("l2", text("eins")) + line("l3", text("zwei"), points=points)))
    assert [(line.text, line.polygon is None) for line in page.lines] == [("eins", False), ("zwei", True)]
    [oddity] = page.oddities
    assert re.match(r".*a\.xml: line 'l3': .* not ", oddity)


def test_a_confidence_or_size_that_is_none_costs_itself(tmp_path):
    page = read(tmp_path, region(line("l", text("eins", 'conf="high"'))), page='imageFilename="a" imageWidth="wide"')
    [found] = page.lines
    assert found.text == "eins" and found.confidence is None and page.width == 0
    assert [oddity.partition(": ")[2][:20] for oddity in page.oddities] == [
        "'wide' is not a numb",
        "line 'l': 'high' is ",
    ]


@pytest.mark.parametrize("name", ["../../etc/a.jpg", r"C:\scans\a.jpg", "https://example.org/x/a.jpg", " a.jpg "])
def test_only_the_last_part_of_an_image_name_is_kept(name, tmp_path):
    assert read(tmp_path, "", page=f'imageFilename="{name}"').image == "a.jpg"


def test_two_lines_of_one_id_are_told_apart(tmp_path):
    page = read(tmp_path, region(line("l", text("a")), line("l", text("b"))))
    assert [(found.id, found.text) for found in page.lines] == [("l", "a"), ("line_2", "b")]


def test_an_index_of_thousands_of_digits_is_none(tmp_path):
    """Python refuses to convert it."""
    many = "1" * 5000
    both = text("first", f'index="{many}"') + text("second", 'index="1"')
    order = reading_order(f'<RegionRefIndexed index="{many}" regionRef="r"/>')
    page = read(tmp_path, order + region(line("a", both)))
    assert page.text.strip() == "first"


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (region(text("Liebe Mutter,\nich bin\n")), ["Liebe Mutter,", "ich bin"]),
        (region(line("l"), text("Liebe Mutter,\nich bin")), ["Liebe Mutter,", "ich bin"]),
        (region(line("l", text("Liebe")), text("Liebe Mutter")), ["Liebe"]),
        (region(text("zwei", 'index="1"'), text("eins", 'index="0"')), ["eins"]),
        (region(region(line("l", text("innen")), id="s"), text("innen")), ["innen"]),
        (region(line("l", text("oben"))) + region(text("unten"), id="s"), ["oben", "unten"]),
        (region(text(" ")), []),
    ],
)
def test_the_text_of_a_region_counts_where_its_lines_have_none(content, rows, tmp_path):
    page = read(tmp_path, content)
    assert page.running_text.splitlines() == rows == read_running_text(tmp_path / "a.xml").splitlines()
