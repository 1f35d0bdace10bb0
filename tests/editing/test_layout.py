"""What a person can do with the layout of a page, and that every step can be undone to the byte."""

import random
import zlib
from dataclasses import replace

import numpy as np
import pytest
from edited_folders import foreign, put_page

from drethtr.base.errors import DataError
from drethtr.documents.page import Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box
from drethtr.documents.transcription import Review, Tag, Transcription
from drethtr.editing import Workspace
from drethtr.editing.changes import Changed, LineEdit, edit_line
from drethtr.editing.journal import Change
from drethtr.editing.layout import Cut, Delete, Dissolve, Draw, Follow, Join, Move, MoveRegion, SetRegion, Split
from drethtr.editing.page_files import Stale
from drethtr.editing.repairs import ByColumns, ByRows, Replace, Table, TwoPages
from drethtr.layout.turn import turn_points


def no_outline(line, file):
    return None


@pytest.fixture(params=("page", "alto"))
def file(request, tmp_path):
    return PageFile.parse(put_page(tmp_path, "a", request.param).read_bytes(), "a")


def ids(file):
    return [line.id for line in file.page.lines]


def regions(file):
    return [[line.id for line in region.lines] for region in file.page.regions]


def confirmed(file, line):
    edit = LineEdit(status=Review.CONFIRMED)
    return edit_line(file, line, edit, no_outline).file


def middle(file, line="l0"):
    (left, y), (right, _) = file.line(line).baseline
    return (left + right) // 2, y


def on_scan(points, quarters):
    """Points of an upright page on a scan of 700 x 340 pixels that must be turned to the left so many times."""
    size = (340, 700) if quarters % 2 else (700, 340)
    return tuple(map(tuple, turn_points(np.array(points), -quarters, *size).tolist()))


def with_lines(file, *places, texts=None, quarters=0):
    """The file with other lines: (left, right, baseline) each, in the order given, on a scan that is turned."""
    new = [
        TextLine(
            f"n{number}",
            on_scan(((left, y - 20), (right, y - 20), (right, y + 8), (left, y + 8)), quarters),
            on_scan(((left, y), (right, y)), quarters),
            Transcription(f"text {number}", 0.9),
        )
        for number, (left, right, y) in enumerate(places)
    ]
    file = file.with_lines_after({"l3": new})
    for line in ("l0", "l1", "l2", "l3"):
        file = file.without_lines([line])
    return file


def opening(file, rows=8, crossing=(3, 5)):
    """An opening whose lines alternate left and right; those of some rows run across the fold."""
    places = []
    for row in range(rows):
        y = 60 + 30 * row
        places += [(20, 680, y)] if row in crossing else [(20, 320, y), (380, 680, y)]
    return with_lines(file, *places)


def test_the_halves_of_a_read_line_are_to_be_read(file):
    changed = Split("l0", middle(file)).done(file, no_outline)
    first, second = map(changed.file.line, changed.lines)
    assert first.transcription is None and second.transcription is None
    assert first.baseline[-1] == second.baseline[0] == middle(file)
    assert first.box.right == second.box.left and ids(changed.file)[:2] == list(changed.lines)
    assert " ".join(note.old for note in changed.notes) == file.line("l0").text


def test_a_persons_text_is_split_between_words_and_none_of_it_is_lost(file):
    old = confirmed(file, "l0")
    changed = Split("l0", middle(file)).done(old, no_outline)
    first, second = map(changed.file.line, changed.lines)
    assert f"{first.text} {second.text}" == file.line("l0").text and first.text and second.text
    assert {line.transcription.review for line in (first, second)} == {Review.CORRECTED}
    assert (*first.words, *second.words) == old.line("l0").words
    changed = Split("l0", middle(file), offset=3).done(old, no_outline)
    assert [changed.file.line(line).text for line in changed.lines] == ["Dea", "r Sir, I have received"]


def test_a_text_is_cut_at_its_words_also_if_its_baseline_was_drawn_against_them(file):
    """All of it went to one half."""
    old = confirmed(file, "l0")
    line = old.line("l0")
    drawn = old.with_line(replace(line, baseline=line.baseline[::-1]))
    assert drawn.line("l0").baseline == line.baseline[::-1] and drawn.line("l0").words == line.words
    x, y = middle(file)
    for action in (Split("l0", (x, y)), Cut(((x, y - 90), (x, y + 20), (x - 90, y + 20), (x - 90, y - 90)), ("l0",))):
        usual, against = (action.done(one, no_outline) for one in (old, drawn))
        parts = list(map(against.file.line, against.lines))
        assert parts == list(map(usual.file.line, usual.lines)) and all(part.text for part in parts)


@pytest.mark.parametrize("x", [0, 10_000])
def test_a_line_is_split_between_its_ends(file, x):
    with pytest.raises(DataError, match="between its ends"):
        Split("l0", (x, middle(file)[1])).done(file, no_outline)


def test_one_stroke_cuts_every_line_that_it_crosses(file):
    x, _ = middle(file)
    changed = Cut(((x, 0), (x + 10, 10_000))).done(file, no_outline)
    assert len(ids(changed.file)) == 8 and len(changed.lines) == 8
    zigzag = ((x - 60, 0), (x - 60, 120), (x + 60, 120), (x + 60, 0))
    assert len(ids(Cut(zigzag, ("l0",)).done(file, no_outline).file)) == 6
    with pytest.raises(DataError, match="crosses none"):
        Cut(((0, 0), (5, 9))).done(file, no_outline)


def test_a_stroke_through_the_letters_cuts_and_one_at_the_end_does_not(file):
    (left, y), (right, _) = file.line("l0").baseline
    x = (left + right) // 2
    assert len(Cut(((x, y - 30), (x, y - 8))).done(file, no_outline).lines) == 2
    with pytest.raises(DataError, match="crosses none"):
        Cut(((right - 4, y - 40), (right - 4, y + 20))).done(file, no_outline)


def test_split_and_joined_is_the_same_line(file):
    before = confirmed(file, "l0")
    parts = Cut(((middle(file)[0], 0), (middle(file)[0], 9999)), ("l0",)).done(before, no_outline)
    joined = Join(tuple(reversed(parts.lines))).done(parts.file, no_outline)
    old, new = before.line("l0"), joined.file.line("l0")
    assert joined.lines == ("l0",) and ids(joined.file) == ["l0", "l1", "l2", "l3"]
    assert (new.text, new.words, new.box) == (old.text, old.words, old.box)
    assert (new.baseline[0], new.baseline[-1]) == (old.baseline[0], old.baseline[-1])


@pytest.mark.parametrize("review", [Review.CONFIRMED, None])
def test_what_is_tagged_stays_so_in_the_parts_of_a_line_and_when_they_are_joined(tmp_path, review):
    file = PageFile.parse(put_page(tmp_path, "a").read_bytes(), "a")
    text = file.line("l0").text  # Dear Sir, I have received
    spans = {"person": "Dear", "unclear": "have received", "place": "received"}
    tags = tuple(Tag(name, text.index(words), len(words)) for name, words in spans.items())
    file = edit_line(file, "l0", LineEdit(status=review, tags=tags), no_outline).file

    def tagged(file, line):
        found = file.line(line)
        places = {tag.name: found.text[tag.start : tag.start + tag.length] for tag in found.transcription.tags}
        assert len(places) == len(found.transcription.tags)
        return places

    cut = Split("l0", middle(file), text.index("received")).done(file, no_outline)
    first, second = cut.lines
    assert tagged(cut.file, first) == {"person": "Dear", "unclear": "have"}
    assert tagged(cut.file, second) == {"unclear": "received", "place": "received"}
    renamed = edit_line(cut.file, second, LineEdit(tags=(Tag("place", 0, 8),)), no_outline).file
    joined = Join((first, second)).done(renamed, no_outline).file
    assert joined.line(first).text == text
    assert joined.line(first).review is (review and Review.CORRECTED)
    assert tagged(joined, first) == {"person": "Dear", "unclear": "have", "place": "received"}


def test_read_lines_that_are_joined_are_to_be_read(file):
    joined = Join(("l1", "l2")).done(file, no_outline)
    assert joined.file.line("l1").transcription is None
    assert joined.notes[0].old == f"{file.line('l1').text} {file.line('l2').text}"
    with pytest.raises(DataError, match="at least two"):
        Join(("l1", "l1")).done(file, no_outline)


@pytest.mark.parametrize(
    ("box", "place"),
    [((80, 10, 300, 40), 0), ((500, 62, 600, 95), 1), ((80, 240, 400, 256), 3), ((80, 330, 400, 338), 4)],
)
def test_a_drawn_line_goes_where_it_belongs(file, box, place):
    left, top, right, bottom = box
    polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
    changed = Draw(((left, bottom - 2), (right, bottom - 2)), polygon).done(file, no_outline)
    assert ids(changed.file).index(changed.lines[0]) == place


def test_places_outside_the_page_move_to_its_edge(file):
    drawn = Draw(((5, 0), (5, 1_000_000))).done(file, no_outline)
    assert drawn.file.line(drawn.lines[0]).baseline == ((5, 0), (5, file.page.height))


@pytest.mark.parametrize(("after", "order"), [(None, "l3 l1 l0 l2"), ("l0", "l0 l3 l1 l2"), ("l2", "l0 l2 l3 l1")])
def test_several_lines_move_at_once(file, after, order):
    assert ids(Move(("l3", "l1"), after).done(file, no_outline).file) == order.split()


def test_a_path_numbers_lines_as_it_runs_through_them(file):
    assert ids(Follow(("l3", "l1", "l2")).done(file, no_outline).file) == ["l0", "l3", "l1", "l2"]


def test_regions_get_lines_kinds_and_an_order(file):
    once = SetRegion(("l2", "l3"), kind="margin").done(file, no_outline).file
    assert regions(once) == [["l0", "l1"], ["l2", "l3"]] and once.page.regions[1].kind == "margin"
    new = once.page.regions[1].id
    twice = SetRegion(("l0",), region=new, kind="heading").done(once, no_outline).file
    assert regions(twice) == [["l1"], ["l2", "l3", "l0"]] and twice.page.regions[1].kind == "heading"
    assert regions(MoveRegion(new).done(twice, no_outline).file) == [["l2", "l3", "l0"], ["l1"]]
    assert regions(Dissolve(new).done(twice, no_outline).file) == [["l1", "l2", "l3", "l0"]]


def test_a_heading_within_a_region_stays_between_its_parts_and_a_note_beside_it_does_not_divide_it(file):
    divided = SetRegion(("l1", "l2"), kind="heading").done(file, no_outline).file
    assert regions(divided) == [["l0"], ["l1", "l2"], ["l3"]] and ids(divided) == ids(file)
    first, heading, second = divided.page.regions
    assert first.kind == second.kind == file.page.regions[0].kind and heading.kind == "heading"
    assert (
        first.box.bottom < heading.box.bottom < second.box.bottom and first.box.top < heading.box.top < second.box.top
    )
    beside = with_lines(file, (20, 300, 60), (20, 300, 100), (320, 400, 70), (320, 400, 110), (20, 300, 140))
    noted = SetRegion(("n2", "n3"), kind="margin").done(beside, no_outline).file
    assert regions(noted) == [["n0", "n1", "n4"], ["n2", "n3"]]
    cut_off = with_lines(file, (120, 400, 60), (20, 110, 99), (110, 400, 100), (120, 400, 140))
    noted = SetRegion(("n1",), kind="margin").done(cut_off, no_outline).file
    assert regions(noted) == [["n0", "n2", "n3"], ["n1"]]


def test_an_opening_that_alternates_becomes_two_pages(file):
    """Eight rows, of which two run across the fold."""
    before = opening(file)
    changed = TwoPages().done(before, no_outline)
    left, right = changed.file.page.regions
    assert len(left.lines) == len(right.lines) == 8
    assert all(line.box.right <= 360 for line in left.lines) and all(line.box.left >= 330 for line in right.lines)
    for side in (left, right):
        rows = [line.baseline[0][1] for line in side.lines]
        assert rows == sorted(rows)
    assert len(changed.lines) == 4


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_on_a_scan_that_is_turned_left_and_above_are_those_of_the_writing(file, quarters):
    width = 340 if quarters % 2 else 700
    middle = width // 2
    left, right = (20, middle - 20), (middle + 20, width - 20)
    turned = with_lines(file, (*right, 60), (*left, 60), (*right, 90), (*left, 90), quarters=quarters)
    assert ids(TwoPages().done(turned, no_outline).file) == ["n1", "n3", "n0", "n2"]
    gap, line, drawn = (
        on_scan(stroke, quarters)
        for stroke in (((middle, 0), (middle, 120)), ((0, 75), (width, 75)), ((right[0], 65), (right[1], 65)))
    )
    table = Table(columns=(gap,), rows=(line,)).done(turned, no_outline).file
    assert ids(table) == ["n1", "n0", "n3", "n2"]
    changed = Draw(drawn).done(table, no_outline)
    assert ids(changed.file).index(changed.lines[0]) == 2
    column = with_lines(file, *((20, 300, y) for y in (60, 120, 180)), quarters=quarters)
    assert regions(SetRegion(("n1",)).done(column, no_outline).file) == [["n0"], ["n1"], ["n2"]]


def test_a_page_of_one_side_is_no_opening(file):
    with pytest.raises(DataError, match="one side"):
        TwoPages().done(with_lines(file, (20, 180, 60), (20, 180, 90)), no_outline)


def grid(file, columns=4, rows=5, seed=1):
    """Fragments of a register in no order."""
    places = [
        (20 + 165 * column, 160 + 165 * column, 60 + 40 * row) for row in range(rows) for column in range(columns)
    ]
    random.Random(seed).shuffle(places)
    return with_lines(file, *places)


def corners(file):
    return [(line.box.left, line.baseline[0][1]) for line in file.page.lines]


def test_fragments_are_read_row_by_row_or_column_by_column(file):
    before = grid(file)
    by_rows = ByRows().done(before, no_outline).file
    assert corners(by_rows) == sorted(corners(before), key=lambda corner: (corner[1], corner[0]))
    by_columns = ByColumns().done(by_rows, no_outline).file
    assert corners(by_columns) == sorted(corners(before)) and len(by_columns.page.regions) == 4


def test_the_lines_of_a_cell_are_read_from_top_to_bottom(file):
    strokes, rows = (((170, 0), (170, 400)),), (((0, 110), (400, 110)),)
    table = Table(strokes, rows).done(grid(file, columns=2, rows=4), no_outline).file
    assert [corner for corner in corners(table) if corner[0] < 170] == [(20, 60), (20, 100), (20, 140), (20, 180)]
    assert len(table.page.regions) == 4


def drawn_at(*places):
    """Lines as they are found: (left, right, baseline) each."""
    return tuple(
        TextLine(
            f"f{number}", ((left, y - 20), (right, y - 20), (right, y + 8), (left, y + 8)), ((left, y), (right, y))
        )
        for number, (left, right, y) in enumerate(places)
    )


def cells(file):
    """The lines in each cell, with the identity of its table."""
    return [(region.cell, [line.id for line in region.lines]) for region in file.page.regions]


def test_a_line_that_is_drawn_in_a_table_is_in_the_cell_of_its_row_and_column(file):
    lines = with_lines(file, (20, 100, 60), (220, 300, 60), (20, 100, 140), (20, 100, 220), (220, 300, 220))
    table = Table(columns=(((160, 0), (160, 300)),)).done(lines, no_outline).file
    [first, *_] = cells(table)
    missing = Draw(((225, 140), (290, 142))).done(table, no_outline).file
    assert cells(missing)[2:4] == [(first[0]._replace(row=1), ["n2"]), (first[0]._replace(row=1, column=1), ["line"])]
    again = Draw(((310, 61), (340, 61)), ((240, 45), (340, 45), (340, 65))).done(table, no_outline).file
    assert cells(again)[1] == (first[0]._replace(column=1), ["n1", "line"]) and len(cells(again)) == 5


@pytest.mark.parametrize("quarters", range(4))
def test_a_line_that_is_drawn_beside_a_table_is_in_no_cell(file, quarters):
    lines = with_lines(file, (20, 80, 60), (120, 180, 60), (20, 80, 140), (120, 180, 140), quarters=quarters)
    table = Table(columns=(on_scan(((100, 0), (100, 300)), quarters),)).done(lines, no_outline).file
    beside = Draw(on_scan(((220, 62), (330, 62)), quarters)).done(table, no_outline).file
    assert beside.page.regions[:4] == table.page.regions and cells(beside)[4:] == [(None, ["line"])]
    reaching = Draw(on_scan(((170, 62), (330, 62)), quarters)).done(table, no_outline).file
    assert regions(reaching) == [["n0"], ["n1", "line"], ["n2"], ["n3"]]
    if not quarters:
        found = Replace((Region("", drawn_at((220, 330, 60), (220, 330, 140))),), Box(200, 0, 340, 200))
        assert regions(found.done(table, no_outline).file)[4:] == [["line", "line_2"]]


def test_a_region_grows_with_a_line_that_is_drawn_outside_of_it(file):
    columns = SetRegion(("n1",)).done(with_lines(file, (20, 300, 60), (360, 640, 60)), no_outline).file
    drawn = Draw(((360, 180), (660, 180))).done(columns, no_outline).file
    assert regions(drawn) == [["n0"], ["n1", "line"]]
    assert drawn.page.regions[0] == columns.page.regions[0] and drawn.page.regions[1].box[2:] == (660, 180)


def test_a_box_around_the_lines_of_a_region_shrinks_with_them_and_a_drawn_outline_stays(file):
    lines = with_lines(file, (20, 300, 60), (20, 300, 140), (20, 300, 220), (20, 300, 300))
    boxed = SetRegion(("n1", "n2", "n3")).done(lines, no_outline).file
    region = boxed.page.regions[1].id
    shape = ((0, 0), (700, 80), (700, 340), (0, 340))
    drawn = SetRegion(region=region, polygon=shape).done(boxed, no_outline).file
    for action in (Delete(("n3",)), Move(("n3",), "n0")):
        [moved, kept] = (action.done(before, no_outline).file.page.regions[1] for before in (boxed, drawn))
        assert moved.box == Box(20, 120, 300, 228) and kept.polygon == shape


def test_lines_that_are_drawn_or_found_in_a_box_join_the_columns_around_them(file):
    places = (20, 300, 60), (20, 300, 100), (20, 300, 140), (360, 640, 60), (360, 640, 140)
    columns = SetRegion(("n3", "n4")).done(with_lines(file, *places), no_outline).file
    drawn = Draw(((360, 100), (640, 100))).done(columns, no_outline).file
    assert regions(drawn) == [["n0", "n1", "n2"], ["n3", "line", "n4"]]
    both = Region("", drawn_at((20, 300, 100), (20, 300, 140), (360, 640, 100), (360, 640, 140)))
    found = Replace((both,), Box(0, 75, 700, 200)).done(columns, no_outline).file
    assert regions(found) == [["n0", "line", "line_2"], ["n3", "line_3", "line_4"]]
    table = Table(columns=(((330, 0), (330, 300)),)).done(with_lines(file, *places), no_outline).file
    found = Replace((both,), Box(0, 75, 700, 200)).done(table, no_outline).file
    assert [[line.baseline[0] for line in region.lines] for region in found.page.regions] == [
        [(20, 60)],
        [(360, 60)],
        [(20, 100)],
        [(360, 100)],
        [(20, 140)],
        [(360, 140)],
    ]


def test_strokes_make_a_table_of_fragments(file):
    strokes = tuple(((170 + 165 * column, 0), (170 + 165 * column, 400)) for column in range(3))
    table = Table(columns=strokes).done(grid(file), no_outline).file
    cells = [region.cell for region in table.page.regions]
    assert [(cell.row, cell.column) for cell in cells] == [(row, column) for row in range(5) for column in range(4)]
    assert corners(table) == sorted(corners(table), key=lambda corner: (corner[1], corner[0]))
    below = SetRegion((table.page.lines[-1].id,)).done(table, no_outline).file
    cells, note = below.page.regions[:-1], below.page.regions[-1]
    for region in (cells[0], cells[-1]):
        moved = MoveRegion(region.id, after=note.id).done(below, no_outline).file
        assert [one.id for one in moved.page.regions] == [note.id, *(one.id for one in cells)]
    line = moved.page.lines[-1].id
    around = SetRegion((line,)).done(moved, no_outline).file
    assert [region.cell is None for region in around.page.regions] == [True, *(len(cells) - 1) * [False], True]
    above = Dissolve(around.page.regions[-1].id).done(around, no_outline).file
    assert above.page.regions[0].lines[-1].id == line
    drawn = Table(columns=strokes, rows=(((0, 115), (690, 115)),)).done(grid(file), no_outline).file
    assert {(region.cell.row, region.cell.column) for region in drawn.page.regions} == {
        (row, column) for row in (0, 1) for column in range(4)
    }


def test_lines_that_are_found_again_leave_those_of_persons(file):
    mine = confirmed(file, "l1")
    (left, y), (right, _) = file.line("l2").baseline
    polygon = ((left, y - 20), (right, y - 20), (right, y + 8), (left, y + 8))
    found = [TextLine("x", polygon, ((left, y), (right, y))), file.line("l1")]
    changed = Replace((Region("r", tuple(found), kind="margin"),)).done(mine, no_outline)
    assert [line.text for line in changed.file.page.lines if line.text] == [file.line("l1").text]
    assert len(ids(changed.file)) == 2
    new = next(region for region in changed.file.page.regions if region.kind == "margin")
    assert [line.baseline for line in new.lines] == [((left, y), (right, y))]


def test_a_table_that_is_found_again_is_none_that_was_there(file):
    table = Table(columns=(((335, 0), (335, 400)),)).done(grid(file), no_outline).file
    kept = {region.cell.table for region in table.page.regions}
    found = [Region(one.id, one.lines, kind="table", cell=one.cell) for one in table.page.regions]
    again = Replace(tuple(found)).done(confirmed(table, table.page.lines[0].id), no_outline).file
    new = {region.cell.table for region in again.page.regions if region.cell} - kept
    assert len(new) == 1 and all(region.lines for region in again.page.regions)
    cells = [region.cell for region in again.page.regions]
    assert len([cell for cell in cells if cell.table in new]) == len(found) and len(cells) == len(found) + 1


@pytest.fixture(params=("page", "alto"))
def edited(request, tmp_path):
    """A folder that is edited, with the file of its page."""
    path = foreign(put_page(tmp_path / "scans", "a", request.param))
    with Workspace.open(tmp_path / "scans") as workspace:
        [page] = workspace.pages()
        yield workspace, page["id"], path


def revision(workspace, page, line):
    return workspace.opened(page).line(line).revision


def edit(workspace, page, line, who="", **values):
    workspace.edit_line(page, line, revision(workspace, page, line), LineEdit(**values), who)


STEPS = {
    "text": lambda folder, page: edit(folder, page, "l1", text="mine"),
    "review": lambda folder, page: edit(folder, page, "l2", status=Review.CONFIRMED),
    "place": lambda folder, page: edit(folder, page, "l0", baseline=((30, 90), (600, 92))),
    "cut": lambda folder, page: folder.act(page, Cut(((200, 0), (200, 9999)))),
    "join": lambda folder, page: folder.act(page, Join(("l1", "l2"))),
    "delete": lambda folder, page: folder.act(page, Delete(("l0", "l3"))),
    "draw": lambda folder, page: folder.act(page, Draw(((40, 330), (300, 330)))),
    "move": lambda folder, page: folder.act(page, Move(("l3",), None)),
    "region": lambda folder, page: folder.act(page, SetRegion(("l1",), kind="margin")),
    "table": lambda folder, page: folder.act(page, Table(columns=(((200, 0), (200, 9999)),))),
    "find": lambda folder, page: folder.act(
        page, Replace((Region("r", (TextLine("new", None, ((40, 330), (300, 330))),)),))
    ),
    "rows": lambda folder, page: folder.act(page, TwoPages(((250, 0), (250, 340)))),
}


@pytest.mark.parametrize("step", STEPS)
def test_undone_is_the_file_of_before_and_redone_that_of_after(edited, step):
    workspace, page, path = edited
    before = path.read_bytes()
    STEPS[step](workspace, page)
    after = path.read_bytes()
    assert after != before
    workspace.undo(page)
    assert path.read_bytes() == before
    workspace.redo(page)
    assert path.read_bytes() == after
    workspace.undo(page)
    assert path.read_bytes() == before


def test_any_steps_are_undone_one_by_one_also_after_a_restart(edited):
    workspace, page, path = edited
    chosen = random.Random(4).sample(["text", "review", "place", "cut", "draw", "region"], 6)
    states = [path.read_bytes()]
    for step in chosen:
        STEPS[step](workspace, page)
        states.append(path.read_bytes())
    workspace.close()
    with Workspace.open(path.parent) as again:
        for state in states[-2::-1]:
            again.undo(page)
            assert path.read_bytes() == state
        with pytest.raises(DataError, match="nothing to undo"):
            again.undo(page)
        for state in states[1:]:
            again.redo(page)
            assert path.read_bytes() == state
        with pytest.raises(DataError, match="nothing to redo"):
            again.redo(page)


def test_a_text_that_was_typed_back_is_not_undone_again(edited):
    workspace, page, path = edited
    before = path.read_bytes()
    was = workspace.opened(page).line("l1").text
    for text in ("one", "two", "three", "two", "one"):
        edit(workspace, page, "l1", text=text)
    workspace.undo(page)
    assert path.read_bytes() == before
    edit(workspace, page, "l1", text="one")
    edit(workspace, page, "l1", text=was, status=Review.CONFIRMED)
    workspace.undo(page)
    assert workspace.opened(page).line("l1").text == "one"


def test_persons_undo_their_own_steps_and_those_of_others_by_number(edited):
    workspace, page, _ = edited
    edit(workspace, page, "l0", "anna", text="of anna")
    edit(workspace, page, "l1", "bert", text="of bert")
    workspace.undo(page, "anna")
    assert [line.text for line in workspace.opened(page).lines][:2] != ["of anna", "of bert"]
    assert workspace.opened(page).line("l1").text == "of bert" and workspace.opened(page).line("l0").text != "of anna"
    newest = next(step for step in workspace.steps(page) if step.who == "bert")
    workspace.undo(page, "anna", newest.number)
    assert workspace.opened(page).line("l1").text != "of bert"
    assert [(step.who, step.undone) for step in workspace.steps(page) if step.of is None] == [
        ("bert", True),
        ("anna", True),
    ]
    with pytest.raises(DataError, match="undone before"):
        workspace.undo(page, "bert", newest.number)


def test_another_order_is_undone_and_later_words_stay(edited):
    workspace, page, path = edited
    workspace.act(page, Move(("l3",), None), who="anna")
    edit(workspace, page, "l2", "bert", text="of bert")
    workspace.undo(page, "anna")
    assert ids(PageFile.parse(path.read_bytes(), "a")) == ["l0", "l1", "l2", "l3"]
    assert workspace.opened(page).line("l2").text == "of bert"


def test_a_new_line_has_not_the_history_of_one_that_is_gone(edited):
    workspace, page, _ = edited
    for who in ("anna", "bert"):
        [new] = workspace.act(page, Draw(((40, 330), (300, 330))), who=who).lines
        assert [change.who for change in workspace.history(page, new)] == [who]
        edit(workspace, page, new, who, text=f"of {who}")
        workspace.act(page, Delete((new,)), who=who)


def test_what_somebody_changed_since_is_not_undone(edited):
    workspace, page, path = edited
    undo, redo = workspace.undo, workspace.redo

    def is_refused(reverse, who):
        content = path.read_bytes()
        with pytest.raises(Stale, match="since"):
            reverse(page, who)
        assert path.read_bytes() == content

    [new] = workspace.act(page, Draw(((40, 330), (300, 330))), who="anna").lines
    edit(workspace, page, new, "bert", text="b")
    is_refused(undo, "anna")
    workspace.act(page, Join(("l0", "l1")), who="anna")
    edit(workspace, page, "l0", "bert", text="b")
    is_refused(undo, "anna")
    for who in ("bert", "anna"):
        edit(workspace, page, "l2", who, text=who)
    undo(page, "anna")
    undo(page, "bert")
    is_refused(redo, "anna")
    for text in "ab":
        edit(workspace, page, "l3", "anna", text=text)
    edit(workspace, page, "l3", "bert", status=Review.CONFIRMED)
    is_refused(undo, "anna")
    undo(page, "bert")
    edit(workspace, page, "l3", "anna", text="c")
    is_refused(redo, "bert")
    workspace.act(page, Move(("l3",), None), who="carl")
    undo(page, "carl")
    edit(workspace, page, "l2", "bert", text="b")
    redo(page, "carl")
    undo(page, "carl")
    assert workspace.opened(page).line("l2").text == "b"


@pytest.mark.parametrize("journal", ["lacks", "never had"])
def test_a_text_that_the_history_does_not_know_is_not_undone(edited, journal):
    """Another program has written it, or the disk was full."""
    workspace, page, path = edited
    edit(workspace, page, "l2", "anna", text="first")
    if journal == "lacks":
        workspace.journal.database.execute("PRAGMA query_only = ON")
        edit(workspace, page, "l2", "anna", text="second")
        assert workspace.journal.error
    else:
        path.write_bytes(path.read_bytes().replace(b"first", b"second"))
    with pytest.raises(Stale, match="changed since"):
        workspace.undo(page, "anna")
    assert workspace.opened(page).line("l2").text == "second"


def test_readings_of_a_model_do_not_stand_in_the_way(edited):
    workspace, page, path = edited
    before = path.read_bytes()
    workspace.act(page, Cut(((200, 0), (200, 9999))))

    def read(opened):
        lines = [replace(line, transcription=Transcription("read", 0.5)) for line in opened.file.page.lines]
        notes = tuple(Change(line.id, "read", "", "read", "read") for line in lines)
        return Changed(opened.file.with_lines(lines), (), notes)

    workspace.change(page, read, {}, model="m")
    workspace.undo(page)
    assert path.read_bytes() == before


def test_own_changes_are_never_those_of_another_program(edited):
    workspace, page, _ = edited
    for step in ("text", "place", "cut", "move", "region"):
        STEPS[step](workspace, page)
    for _ in range(3):
        workspace.undo(page)
    workspace.redo(page)
    edit(workspace, page, "l0", text="at the end")
    lines = [line.id for line in workspace.opened(page).lines]
    assert all(change.action != "outside" for line in lines for change in workspace.history(page, line))


def test_lines_of_other_programs_keep_what_these_wrote(tmp_path):
    path = foreign(put_page(tmp_path / "scans", "a"))
    path.write_bytes(
        path.read_bytes()
        .replace(b'id="l1" custom="', b'id="l1" odd="1" custom="structure {type:heading;} ')
        .replace(b"<TextRegion ", b'<TextRegion comments="ours" ')
    )
    with Workspace.open(tmp_path / "scans") as workspace:
        [page] = (row["id"] for row in workspace.pages())
        workspace.act(page, Cut(((200, 0), (200, 9999))))
        workspace.act(page, TwoPages(((200, 0), (200, 340))))
        workspace.act(page, Table(columns=(((200, 0), (200, 340)),)))
        workspace.act(page, Move(("l1",), None))
    data = path.read_bytes()
    assert b'id="l1" odd="1"' in data and b"structure {type:heading;}" in data


def test_a_journal_of_version_0_2_is_kept(tmp_path):
    put_page(tmp_path / "scans", "a")
    with Workspace.open(tmp_path / "scans") as workspace:
        [page] = (row["id"] for row in workspace.pages())
        edit(workspace, page, "l0", text="mine")
        workspace.journal.database.executescript("DROP TABLE step")
    with Workspace.open(tmp_path / "scans") as workspace:
        assert workspace.history(page, "l0")[0].new == "mine" and workspace.steps(page) == []
        edit(workspace, page, "l0", text="yours")
        workspace.undo(page)
        assert workspace.opened(page).line("l0").text == "mine"


BOMB = zlib.compress(b"\1" * (100 << 20))


@pytest.mark.parametrize("content", [b"", b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01", BOMB, zlib.compress(b"a\1b")])
def test_a_damaged_difference_changes_nothing(tmp_path, content):
    path = put_page(tmp_path / "scans", "a")
    with Workspace.open(tmp_path / "scans") as workspace:
        [page] = (row["id"] for row in workspace.pages())
        edit(workspace, page, "l0", text="mine")
        workspace.journal.database.execute("UPDATE step SET difference = ?", (content,))
        before = path.read_bytes()
        with pytest.raises(DataError, match="damaged"):
            workspace.undo(page)
        assert path.read_bytes() == before


def test_regions_of_lines_that_were_drawn_hold_them(file):
    box = ((0, 0), (400, 0), (400, 300), (0, 300))
    changed = SetRegion(("l1",), kind="margin", polygon=box).done(file, no_outline).file
    assert changed.page.regions[1].polygon == box
