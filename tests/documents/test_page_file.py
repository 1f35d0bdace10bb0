"""Lines of PAGE and ALTO files are changed one by one; all other bytes stay."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from edited_folders import put_page

from drethtr.base.errors import DataError
from drethtr.documents.document import Provenance
from drethtr.documents.page import CellPlace, Region, TextLine
from drethtr.documents.page_file import SIGNATURE, PageFile
from drethtr.documents.read import parse_page
from drethtr.documents.transcription import Review, Transcription
from drethtr.documents.update import update

FORMATS = ("page", "alto")

NEW = TextLine("new", ((10, 10), (90, 10), (90, 40), (10, 40)), ((10, 30), (90, 30)), Transcription("new text"))


@pytest.fixture(params=FORMATS)
def file(request, tmp_path):
    return PageFile.parse(put_page(tmp_path, "a", request.param).read_bytes(), "a")


def ids(file):
    return [line.id for line in file.page.lines]


def reviewed(line, text, review):
    return replace(line, transcription=Transcription(text, review=review))


def outside(file, line_id):
    """The file without a line, without signatures, and without the tags that say what a line is."""
    element = file.element(line_id)
    rest = file.markup.utf8[: element.start] + file.markup.utf8[element.end :]
    rest = re.sub(rb"\s*<Tags>.*?</Tags>", b"", rest, flags=re.DOTALL)
    return b"".join(row for row in rest.splitlines() if SIGNATURE.encode() not in row)


@pytest.mark.parametrize("review", [*Review, None])
def test_a_text_and_its_review_are_read_as_written_and_nothing_else_changes(file, review):
    line = reviewed(file.line("l1"), 'a & "b" <c>', review)
    changed = file.with_line(line)
    found = changed.line("l1").transcription
    assert (found.text, found.review) == ('a & "b" <c>', review)
    assert [other for other in changed.page.lines if other.id != "l1"] == [
        other for other in file.page.lines if other.id != "l1"
    ]
    assert outside(changed, "l1") == outside(file, "l1")


def test_a_confirmation_leaves_words_and_confidences_and_can_be_taken_back(file):
    line = file.line("l2")
    confirmed = file.with_line(replace(line, transcription=replace(line.transcription, review=Review.CONFIRMED)))
    found = confirmed.line("l2")
    assert found.transcription.review is Review.CONFIRMED and found.words == line.words
    assert confirmed.with_line(line).line("l2") == line


def test_an_empty_text_can_be_confirmed(file):
    assert file.with_line(reviewed(file.line("l0"), "", Review.CONFIRMED)).line("l0").transcription == Transcription(
        "", review=Review.CONFIRMED
    )


def test_the_revision_of_a_line_changes_with_it_alone(file):
    changed = file.with_line(reviewed(file.line("l1"), "b", Review.CORRECTED))
    assert {line for line in ids(file) if changed.revision_of(line) != file.revision_of(line)} == {"l1"}
    assert changed.revision != file.revision


def test_a_place_is_changed_without_the_text(file):
    before = file.line("l1")
    after = replace(before, baseline=((5, 50), (60, 55)), polygon=((5, 30), (60, 35), (60, 60), (5, 60)))
    assert file.with_line(after).line("l1") == after


@pytest.mark.parametrize("element", [b'<TextLine id="l"/>', b'<TextLine id="l"></TextLine>'])
def test_a_line_without_a_place_gets_one(tmp_path, element):
    data = (
        put_page(tmp_path, "a")
        .read_bytes()
        .replace(b"</TextRegion>", b"</TextRegion><TextRegion>%s</TextRegion>" % element)
    )
    file = PageFile.parse(data, "a")
    line = replace(NEW, id="l", transcription=None)
    assert file.with_line(line).line("l") == line


@pytest.mark.parametrize("review", [*Review, None])
def test_many_lines_are_changed_as_one_by_one(file, review):
    moved = ((5, 50), (60, 55))
    texts = [replace(reviewed(line, f"<{line.id}>", review), baseline=moved) for line in file.page.lines]
    changes = [*texts[:3], replace(file.line("l3"), transcription=None)]
    expected = file
    for line in changes:
        expected = expected.with_line(line)
    assert file.with_lines(changes).data == expected.data
    removed = [replace(line, transcription=None) for line in expected.page.lines]
    assert all(line.transcription is None for line in expected.with_lines(removed).page.lines)


@pytest.mark.parametrize("after", [None, "l1", "l3"])
def test_many_lines_are_added_as_one_by_one(file, after):
    new = [replace(NEW, id=f"n{number}") for number in range(3)]
    expected, last = file, after
    for line in new:
        expected, last = expected.with_lines_after({last: [line]}), line.id
    assert file.with_lines_after({after: new}).data == expected.data


@pytest.mark.parametrize(("after", "place"), [(None, 0), ("l0", 1), ("l3", 4)])
def test_a_new_line_stands_where_it_was_put(file, after, place):
    changed = file.with_lines_after({after: [NEW]})
    assert ids(changed) == [*["l0", "l1", "l2", "l3"][:place], "new", *["l0", "l1", "l2", "l3"][place:]]
    found = changed.line("new")
    assert (found.text, found.baseline, found.polygon) == (NEW.text, NEW.baseline, NEW.polygon)


def test_a_line_can_be_removed_and_every_one(file):
    for line in ids(file):
        file = file.without_lines([line])
        assert line not in ids(file)
    assert ids(file.with_lines_after({None: [NEW]})) == ["new"]


def test_lines_without_ids_stay_known_by_their_numbers(file):
    file = PageFile.parse(re.sub(rb' (?:id|ID)="l[12]"', b"", file.data), "a")
    assert ids(file) == ["l0", "line_2", "line_3", "l3"]
    texts = {line.id: line.text for line in file.page.lines}
    changed = file.with_lines_after({None: [NEW]})
    assert ids(changed) == ["new", "l0", "line_2", "line_3", "l3"]
    assert ids(file.without_lines(["l0"])) == ["line_2", "line_3", "l3"]
    moved = arranged(file, ("other", ["l3", "line_3"]), ("r1", ["line_2", "l0"]))
    assert ids(moved) == ["l3", "line_3", "line_2", "l0"]
    for one in (changed, moved):
        assert texts.items() <= {line.id: line.text for line in one.page.lines}.items()


def regions_of(file):
    return [(region.id, [line.id for line in region.lines]) for region in file.page.regions]


def element_of(file, line_id):
    """The bytes of a line, without the number that orders it."""
    element = file.element(line_id)
    return re.sub(rb"index:\d+", b"", file.markup.utf8[element.start : element.end])


def arranged(file, *regions):
    """The file with regions, each as its id and the ids of its lines."""
    known = {region.id: region for region in file.page.regions}
    return file.with_regions(
        [
            replace(known.get(id) or Region(id, kind=kind), lines=tuple(map(file.line, lines)))
            for id, lines, *given in regions
            for kind in (given or [""])
        ]
    )


@pytest.mark.parametrize("order", [["l3", "l2", "l1", "l0"], ["l1", "l0", "l2", "l3"], ["l0", "l1", "l2", "l3"]])
def test_lines_in_another_order_are_the_same_elements(file, order):
    changed = arranged(file, ("r1", order))
    assert regions_of(changed) == [("r1", order)]
    assert [element_of(changed, line) for line in order] == [element_of(file, line) for line in order]


def test_regions_are_added_ordered_and_removed(file):
    first = arranged(file, ("new", ["l3", "l1"], "margin"), ("r1", ["l2", "l0"]))
    assert regions_of(first) == [("new", ["l3", "l1"]), ("r1", ["l2", "l0"])]
    assert first.page.regions[0].kind == "margin" and first.page.regions[0].polygon
    second = arranged(first, ("r1", ["l0"]), ("new", ["l1", "l2", "l3"]), ("third", []))
    assert regions_of(second) == [("r1", ["l0"]), ("new", ["l1", "l2", "l3"]), ("third", [])]
    third = arranged(second, ("new", ["l0", "l1", "l2", "l3"]))
    assert regions_of(third) == [("new", ["l0", "l1", "l2", "l3"])]
    assert all(element_of(third, line) == element_of(file, line) for line in ids(file))
    assert b"r1" not in third.data.split(b"<TextLine")[0].split(b"<Metadata")[-1].split(b"ReadingOrder")[-1]


def test_what_others_say_of_the_reading_order_stays(tmp_path):
    data = put_page(tmp_path, "a").read_bytes()
    group = b'<ReadingOrder><UnorderedGroup id="g" caption="mine"/></ReadingOrder><TextRegion'
    file = PageFile.parse(re.sub(rb"<ReadingOrder>.*</ReadingOrder>", b"", data, flags=re.DOTALL), "a")
    file = PageFile.parse(file.data.replace(b"<TextRegion", group, 1), "a")
    assert b'<OrderedGroup id="g" caption="mine">' in arranged(file, ("new", ["l3"]), ("r1", ["l0", "l1", "l2"])).data


GROUPS = b"""<ReadingOrder><OrderedGroup id="g">
  <RegionRefIndexed index="0" regionRef="a"/>
  <OrderedGroupIndexed index="1" id="n" caption="notes"><Labels comments="mine"/>
    <RegionRefIndexed index="0" regionRef="b"/><RegionRefIndexed index="1" regionRef="c"/>
  </OrderedGroupIndexed>
  <RegionRefIndexed index="2" regionRef="picture"/>
</OrderedGroup></ReadingOrder>"""


@pytest.mark.parametrize(
    ("order", "is_kept"), [("cba", True), ("acb", True), ("bca", True), ("dabc", True), ("bac", False), ("bdca", False)]
)
def test_groups_of_the_reading_order_stay_unless_they_are_torn_apart(tmp_path, order, is_kept):
    regions = b"".join(b'<TextRegion id="%c"><Coords points="0,0 9,0 9,9"/></TextRegion>' % id for id in b"abc")
    whole = b"<ReadingOrder>.*</TextRegion>"
    data = re.sub(whole, GROUPS + regions, put_page(tmp_path, "a").read_bytes(), flags=re.DOTALL)
    file = PageFile.parse(data, "a")
    assert [region.id for region in file.page.regions] == ["a", "b", "c"]
    changed = arranged(file, *((id, []) for id in order))
    assert [region.id for region in changed.page.regions] == list(order)
    listed = changed.data.partition(b"<ReadingOrder>")[2].partition(b"</ReadingOrder>")[0]
    group = listed.partition(b"<OrderedGroupIndexed")[2].partition(b"</OrderedGroupIndexed>")[0]
    assert re.findall(rb'regionRef="(\w)"', group) == ([id.encode() for id in order if id in "bc"] if is_kept else [])
    assert (b'caption="notes"' in group and b'<Labels comments="mine"' in group) == is_kept
    assert re.findall(rb'regionRef="(\w+)"', listed)[-1] == b"picture"


def test_the_kind_and_the_outline_of_a_region_change_alone(file):
    [region] = file.page.regions
    for kind in ("heading", "index-card", "margin", ""):
        changed = file.with_regions([replace(region, kind=kind, polygon=((0, 0), (99, 0), (99, 99)))])
        [found] = changed.page.regions
        assert (found.kind, found.polygon) == (kind, ((0, 0), (99, 0), (99, 99)))
        assert all(element_of(changed, line) == element_of(file, line) for line in ids(file))
        file, region = changed, found


def test_lines_become_cells_of_a_table_and_lines_again(file):
    cells = [
        Region(f"t{row}{column}", (file.line(line),), kind="table", cell=CellPlace("t", row, column))
        for line, (row, column) in zip(ids(file), [(0, 0), (0, 1), (1, 0), (1, 1)], strict=True)
    ]
    table = file.with_regions(cells)
    assert [region.cell for region in table.page.regions] == [cell.cell for cell in cells]
    assert len(table.page.blocks) == 1 and all(element_of(table, line) == element_of(file, line) for line in ids(file))
    flat = arranged(table, ("r9", ids(file)))
    assert (
        regions_of(flat) == [("r9", ids(file))]
        and b"TableRegion" not in flat.data
        and b"ComposedBlock" not in flat.data
    )


def test_many_regions_get_new_kinds(file):
    """In ALTO, in one list of tags."""
    file = arranged(file, *((f"n{number}", [f"l{number}"]) for number in range(4)))
    kinds = {"n0": "margin", "n1": "index-card", "n2": "heading", "n3": ""}
    changed = file.with_regions([replace(region, kind=kinds[region.id]) for region in file.page.regions])
    assert {region.id: region.kind for region in changed.page.regions} == kinds
    assert changed.data.count(b"<Tags>") <= 1


def test_a_reading_order_keeps_what_else_it_names(tmp_path):
    data = put_page(tmp_path, "a", "alto").read_bytes()
    listed = b'<ElementRef ID="e1" REF="r1"/><ElementRef ID="e2" REF="picture"/>'
    order = b'<ReadingOrder><OrderedGroup ID="o">%s</OrderedGroup></ReadingOrder><Layout>' % listed
    file = PageFile.parse(data.replace(b"<Layout>", order), "a")
    changed = arranged(file, ("new", ["l3"]), ("r1", ["l0", "l1", "l2"]))
    assert regions_of(changed) == [("new", ["l3"]), ("r1", ["l0", "l1", "l2"])]
    assert re.findall(rb'<ElementRef[^>]*REF="(\w+)"', changed.data) == [b"new", b"r1", b"picture"]


def test_lines_leave_a_cell_of_transkribus_and_a_picture(tmp_path):
    """The cell stays in its table, as a region without lines; the picture is none."""
    place = b'<Coords points="0,0 9,0 9,9"/>'
    line = b'%s<TextLine id="%s">%s</TextLine>'
    cell = b'<TableRegion id="t">%s<TableCell id="c" row="1" col="0">%s</TableCell></TableRegion>'
    more = cell % (place, line % (place, b"x", place)) + b'<ImageRegion id="g">%s</ImageRegion>' % (
        line % (place, b"y", place)
    )
    data = put_page(tmp_path, "a").read_bytes().replace(b"</TextRegion>", b"</TextRegion>" + more)
    file = PageFile.parse(data, "a")
    assert regions_of(file)[1:] == [("c", ["x"]), ("g", ["y"])]
    changed = arranged(file, ("r1", ["x", "y", *[f"l{number}" for number in range(4)]]), ("c", []), ("g", []))
    assert regions_of(changed) == [("r1", ["x", "y", "l0", "l1", "l2", "l3"]), ("c", [])]
    assert changed.page.regions[1].cell == CellPlace("t", 1, 0) and b"<ImageRegion" in changed.data


def test_each_line_must_be_in_a_region(file):
    for lines in (["l0", "l1", "l2"], ["l0", "l1", "l2", "l3", "l3"]):
        with pytest.raises(DataError, match="each line must be in one"):
            arranged(file, ("r1", lines))


def test_other_regions_and_their_attributes_survive_another_order(tmp_path):
    """A picture, a region of Transkribus with its structure, and a group with a caption."""
    data = (
        put_page(tmp_path, "a")
        .read_bytes()
        .replace(
            b"</TextRegion>",
            b'</TextRegion><GraphicRegion id="g"><Coords points="0,0 9,0 9,9"/></GraphicRegion>'
            b'<TextRegion id="r2" custom="structure {type:letter-head;}" odd="1"><Coords points="0,0 9,0 9,9"/>'
            b'<TextLine id="x" custom="person {offset:0; length:1;}"><Coords points="0,0 9,0 9,9"/></TextLine>'
            b"</TextRegion>",
        )
        .replace(
            b'<RegionRefIndexed index="0"', b'<RegionRefIndexed index="7" regionRef="g" /><RegionRefIndexed index="0"'
        )
    )
    file = PageFile.parse(data, "a")
    changed = arranged(file, ("r2", ["l3", "x"]), ("r1", ["l0", "l1", "l2"]))
    assert regions_of(changed) == [("r2", ["l3", "x"]), ("r1", ["l0", "l1", "l2"])]
    assert b'regionRef="g"' in changed.data and b"<GraphicRegion" in changed.data
    assert b'person {offset:0; length:1;}"><Coords' in changed.data and b'odd="1"' in changed.data


def test_a_page_without_regions_gets_one():
    namespace = b"http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"
    page = b'<Page imageFilename="a" imageWidth="100" imageHeight="50"/>'
    empty = b'<PcGts xmlns="' + namespace + b'">' + page + b"</PcGts>"
    file = PageFile.parse(empty, "a").with_lines_after({None: [NEW]})
    assert file.line("new").text == "new text" and file.page.regions[0].polygon


def test_coordinates_are_those_of_the_image_and_units_those_of_the_file(tmp_path):
    path = put_page(tmp_path, "a", "alto")
    data = path.read_bytes().replace(b">pixel<", b">mm10<")
    with_image = PageFile.parse(data, "a", (path.with_name("a.png"), 1400, 680))
    line = with_image.line("l1")
    assert with_image.page.width == 1400
    again = with_image.with_line(replace(line, baseline=((100, 200), (500, 200))))
    assert again.line("l1").baseline == ((100, 200), (500, 200)) and b'BASELINE="50,100 250,100"' in again.data


def test_entries_of_other_programs_in_custom_survive(tmp_path):
    given = b'id="l1" custom="readingOrder {index:1;}'
    data = put_page(tmp_path, "a").read_bytes().replace(given, given + b" structure {type:heading;}")
    file = PageFile.parse(data, "a")
    once = file.with_line(reviewed(file.line("l1"), "x", Review.CORRECTED))
    twice = once.with_line(reviewed(once.line("l1"), "y", Review.CONFIRMED))
    assert b'custom="readingOrder {index:1;} structure {type:heading;} drethtr {review:confirmed;}"' in twice.data


def test_the_text_of_a_region_follows_its_lines_unless_it_was_another(tmp_path):
    data = put_page(tmp_path, "a").read_bytes()
    lines = PageFile.parse(data, "a").page.lines
    whole = "\n".join(line.text for line in lines).encode()
    text = b"</TextLine><TextEquiv><Unicode>%s</Unicode></TextEquiv></TextRegion>"
    for before, after in ((whole, b"a &amp; b\nyour letter of the fourth"), (b"a summary", b"a summary")):
        start, _, end = data.rpartition(b"</TextLine>")
        file = PageFile.parse(start + text % before + end.replace(b"</TextRegion>", b"", 1), "a")
        changed = file.with_line(reviewed(file.line("l0"), "a & b", Review.CORRECTED))
        assert b"<Unicode>%s" % after in changed.data
        if before == whole:
            assert b"<Unicode>" + whole[len(lines[0].text) + 1 :] + b"</Unicode>" in file.without_lines(["l0"]).data


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n "])
def test_the_text_of_a_region_follows_its_lines_if_some_have_none(tmp_path, end):
    """With an empty row for these, as Transkribus writes it, or without."""
    data = put_page(tmp_path, "a").read_bytes()
    file = PageFile.parse(data, "a")
    file = file.with_lines([replace(line, transcription=None) for line in file.page.lines[1:]])
    start, last, rest = file.data.rpartition(b"</TextLine>")
    text = b"<TextEquiv><Unicode>%s</Unicode></TextEquiv>" % (file.page.lines[0].text.encode() + end)
    file = PageFile.parse(start + last + text + rest, "a")
    changed = file.with_line(reviewed(file.line("l0"), "other", Review.CORRECTED))
    assert re.search(rb"<TextEquiv><Unicode>other\s*</Unicode></TextEquiv>\s*</TextRegion>", changed.data)


def test_an_update_replaces_no_text_of_a_person(file):
    mine = file.with_line(reviewed(file.line("l1"), "mine", Review.CORRECTED))
    other = mine.page.with_lines(lambda line: replace(line, transcription=Transcription("theirs", 0.5)))
    texts = parse_page(update(mine.data, other, Provenance.now("m"), replace=True), "a", lambda _: None)[2].page.text
    assert texts == "theirs\nmine\ntheirs\ntheirs\n"


def test_the_file_is_signed_once(file):
    once = file.with_line(reviewed(file.line("l1"), "x", Review.CORRECTED))
    twice = once.with_line(reviewed(once.line("l2"), "y", Review.CORRECTED))
    assert twice.data.count(SIGNATURE.encode()) == 1


def test_what_is_not_there_cannot_be_changed(file):
    with pytest.raises(DataError, match="contains no line 'gone'"):
        file.with_line(replace(NEW, id="gone"))
    with pytest.raises(DataError, match="contains no line 'gone'"):
        file.without_lines(["gone"])
    with pytest.raises(DataError, match="contains no line 'gone'"):
        file.with_lines_after({"gone": [NEW]})


def test_text_and_review_share_an_attribute_that_loses_what_refers_to_the_old_text():
    space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
    custom = "readingOrder {index:0;} unclear {offset:0; length:1;} drethtr {review:confirmed;}"
    file = PageFile.parse(
        f'<PcGts xmlns="{space}"><Metadata/><Page imageFilename="a.png" imageWidth="9" imageHeight="9">'
        f'<TextRegion id="r"><Coords points="0,0 9,0 9,9"/><TextLine id="l" custom="{custom}">'
        '<Coords points="0,0 9,0 9,9"/><TextEquiv><Unicode>old</Unicode></TextEquiv></TextLine></TextRegion>'
        "</Page></PcGts>".encode(),
        "a",
    )
    changed = file.with_line(reviewed(file.line("l"), "new", Review.CORRECTED))
    assert b'custom="readingOrder {index:0;} drethtr {review:corrected;}"' in changed.data
    assert changed.line("l").transcription == Transcription("new", review=Review.CORRECTED)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_lines_on_stored_pixels_are_changed_as_they_lie_on_the_upright_image(file, orientation):
    width, height = file.page.width, file.page.height
    size = (height, width) if orientation > 4 else (width, height)
    turned = PageFile.parse(file.data, "a", (Path("a.png"), *size), lambda _: orientation)
    first, *others = turned.page.lines
    assert turned.with_lines(turned.page.lines).data == file.data
    changed = turned.with_line(replace(first, polygon=others[0].polygon, baseline=others[0].baseline))
    assert (changed.page.lines[0].polygon, changed.page.lines[0].baseline) == (others[0].polygon, others[0].baseline)
    stored = PageFile.parse(changed.data, "a").page.lines
    assert (stored[0].polygon, stored[0].baseline) == (file.page.lines[1].polygon, file.page.lines[1].baseline)
