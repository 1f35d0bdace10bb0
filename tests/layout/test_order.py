import numpy as np
import pytest
from made_pages import blocks_of

from drethtr.layout.finder import Cell, FoundLine, Kind, Layout, Order, Role
from drethtr.layout.order import arranged
from drethtr.layout.turn import turn_line

WIDTH, HEIGHT = 1000, 1400


def line(left, right, row, height=30):
    corners = ((left, row - 0.7 * height), (right, row - 0.7 * height), (right, row + 0.3 * height))
    corners = (*corners, (left, row + 0.3 * height))
    return FoundLine.at(((left, row), (right, row)), corners)


def column(left, right, rows):
    return [line(left, right, row) for row in rows]


ROWS = range(200, 600, 40)

PAGES = {
    "one column": [column(100, 900, ROWS)],
    "two columns": [column(80, 470, ROWS), column(530, 900, ROWS)],
    "columns of other heights": [column(80, 470, range(200, 900, 40)), column(530, 900, range(215, 600, 45))],
    "a heading": [[line(100, 900, 100)], column(80, 470, ROWS), column(530, 900, ROWS)],
    "a heading between": [
        column(80, 470, ROWS), column(530, 900, ROWS), [line(100, 900, 640)],
        column(80, 470, range(700, 900, 40)), column(530, 900, range(700, 900, 40)),
    ],
    "three columns": [column(60, 330, ROWS), column(370, 640, ROWS), column(680, 950, ROWS)],
    "a note on the left": [column(300, 900, ROWS), column(60, 250, (320, 360))],
    "a heading over a note": [[line(60, 900, 120), *column(300, 900, range(200, 800, 40))], column(60, 250, ROWS[3:6])],
    "a note on the right": [column(100, 700, ROWS), column(760, 930, (240, 280, 320))],
    "a closer note beside two lines": [column(300, 900, range(120, 800, 80)), column(60, 250, (290, 330, 370))],
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_order(name, quarters):
    """Whichever way the page lies: the baselines tell how it is read."""
    lines = [line for block in PAGES[name] for line in block]
    shuffled = np.random.default_rng(0).permutation(len(lines))
    page = [turn_line(lines[number], quarters, WIDTH, HEIGHT) for number in shuffled]
    found = blocks_of(page)
    sizes = [len(block) for block in PAGES[name]]
    assert [int(shuffled[number]) for block in found for number in block] == list(range(len(lines)))
    assert [len(block) for block in found] == sizes


def test_date_on_the_right_comes_before_the_address_on_the_left():
    """Nothing stands beside them, so the white between is no gutter."""
    lines = [line(600, 900, 100), line(100, 400, 200), line(500, 900, 300), *column(100, 900, ROWS[4:])]
    assert blocks_of(lines) == [list(range(len(lines)))]


@pytest.mark.parametrize("columns", [2, 3, 5, 8, 10])
def test_ragged_tables_are_read_column_by_column(columns):
    """The white between some of the ragged ends and the next column is wider than that between columns."""
    ends, step = np.random.default_rng(columns), 950 // columns
    cells = [
        [line(step * place, step * place + step * ends.uniform(0.3, 0.85), row) for row in range(100, 1300, 30)]
        for place in range(columns)
    ]
    lines = [cell for column in cells for cell in column]
    shuffled = ends.permutation(len(lines))
    found = blocks_of([lines[number] for number in shuffled])
    assert [int(shuffled[number]) for block in found for number in block] == list(range(len(lines)))
    assert [len(block) for block in found] == [40] * columns


@pytest.mark.parametrize("seed", range(10))
def test_ragged_notes_on_the_left_follow_the_column(seed):
    ends = np.random.default_rng(seed)
    main = column(300, 900, range(100, 1300, 20))
    notes = [line(60, ends.uniform(120, 260), row) for row in range(200, 1200, 125)]
    found = blocks_of([*main, *notes])
    assert [number for block in found for number in block] == list(range(len(main) + len(notes)))
    assert [len(block) for block in found] == [len(main), len(notes)]


def test_pieces_of_one_row_are_read_from_left_to_right():
    lines = [line(500, 700, 198), line(100, 400, 203), line(100, 700, 260)]
    assert blocks_of(lines) == [[1, 0, 2]]


@pytest.mark.parametrize(("lower", "same"), [(11, True), (13, False)])
def test_a_row_is_two_fifths_of_the_lower_line(lower, same):
    """The lower line is 30 pixels high, so that pieces up to 12 pixels apart are in one row."""
    lines = [line(500, 700, 200), line(100, 400, 200 + lower, height=50), line(100, 700, 300)]
    assert blocks_of(lines) == [[1, 0, 2] if same else [0, 1, 2]]


def test_a_line_at_the_height_of_a_heading_is_read_before_it_and_once():
    """A heading that begins in the left column, at the height of a line beside its start."""
    left, right = column(80, 470, ROWS), column(530, 900, ROWS)
    heading = line(460, 900, ROWS[4])
    blocks = left[:5], right[:4], [heading], left[5:], right[5:]
    lines = [line for block in blocks for line in block]
    found = blocks_of(lines)
    assert [number for block in found for number in block] == list(range(len(lines)))
    assert list(map(len, found)) == list(map(len, blocks))


@pytest.mark.parametrize(("width", "note"), [(170, True), (190, False)])
def test_notes_are_narrower_than_45_percent_of_the_lines_beside_them(width, note):
    """A wider side is a column and, on the left, read first."""
    main, side = column(300, 700, ROWS), column(60, 60 + width, ROWS[2:6])
    found = [number for block in blocks_of([*main, *side]) for number in block]
    assert found == ([*range(14)] if note else [*range(10, 14), *range(10)])


@pytest.mark.parametrize(("crossing", "columns"), [(2, True), (4, False)])
def test_an_eighth_of_the_lines_may_cross_a_gutter(crossing, columns):
    """Of 22 lines 2 may; where 4 of 24 do, lines are read row by row."""
    headings = column(100, 900, range(640, 640 + 40 * crossing, 40))
    found = blocks_of([*column(80, 470, ROWS), *column(530, 900, ROWS), *headings])
    assert (len(found) > 1) is columns


def test_writing_that_runs_up_the_page_comes_last():
    upright = column(300, 900, ROWS)
    upward = [turn_line(line(200, 500, row), 1, HEIGHT, WIDTH) for row in (40, 90)]
    assert blocks_of([*upward, *upright]) == [list(range(2, 2 + len(ROWS))), [0, 1]]


def test_slanting_columns():
    """At ten degrees the first line of the right column lies higher than the left one's second."""
    angle = np.radians(10)
    turn = np.array(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))))
    lines = [FoundLine(x.baseline @ turn, x.polygon @ turn) for x in (*column(80, 470, ROWS), *column(530, 900, ROWS))]
    assert [number for block in blocks_of(lines) for number in block] == list(range(len(lines)))


def test_two_thousand_lines():
    lines = [line(left, left + 180, row, 6) for left in range(0, 1000, 200) for row in range(0, 4000, 10)]
    assert blocks_of(lines) == [list(range(start, start + 400)) for start in range(0, 2000, 400)]


def test_nothing():
    assert blocks_of([]) == []


def ruled(columns, rules, order=Order.AUTO):
    """A page of these lines, shuffled, with upright rules; and what is found, by the lines as they were given."""
    lines = [line for column in columns for line in column]
    shuffled = np.random.default_rng(0).permutation(len(lines))
    ends = tuple(np.array(((column, 50), (column, 1300)), float) for column in rules)
    layout = arranged(Layout(tuple(lines[number] for number in shuffled), rules=ends, order=order))
    return layout, [[int(shuffled[number]) for number in region.lines] for region in layout.regions]


CELLS = [column(80, 200, ROWS), column(250, 600, ROWS), column(650, 900, ROWS)]
RULES = (225, 625)


def test_a_ruled_table_is_read_row_by_row():
    layout, blocks = ruled([[line(80, 900, 20)], *CELLS, [line(80, 900, 1360)]], RULES)
    rows = len(ROWS)
    table = [1 + rows * place + row for row in range(rows) for place in range(3)]
    assert blocks == [[0], table, [3 * rows + 1]]
    assert [region.kind for region in layout.regions] == [Kind.TEXT, Kind.TABLE, Kind.TEXT]
    cells = layout.regions[1].cells
    assert len(cells) == 3 * rows and [(cell.row, cell.column) for cell in cells[:4]] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
    ]
    assert [number for cell in cells for number in cell.lines] == list(layout.regions[1].lines)


def test_or_column_by_column():
    _, [block] = ruled(CELLS, RULES, Order.COLUMNS)
    assert block == list(range(3 * len(ROWS)))


@pytest.mark.parametrize("shift", [-15, 15])
def test_cells_a_little_above_or_below_their_row_are_in_it(shift):
    _, [block] = ruled([CELLS[0], column(250, 600, [row + shift for row in ROWS]), CELLS[2]], RULES)
    rows = len(ROWS)
    assert block == [rows * place + row for row in range(rows) for place in range(3)]


def test_two_columns_with_a_rule_between_them_are_no_table():
    _, blocks = ruled([column(80, 470, ROWS), column(530, 900, ROWS)], (500,))
    assert blocks == [list(range(len(ROWS))), list(range(len(ROWS), 2 * len(ROWS)))]


def test_a_fold_parts_two_pages_even_if_lines_cross_it():
    pages = [column(80, 520, ROWS), column(530, 900, ROWS)]
    lines = tuple(line for page in pages for line in page)
    fold = np.array(((500, 0), (500, 1400)), float)
    assert blocks_of(Layout(lines, folds=(fold,))) == [list(range(len(ROWS))), list(range(len(ROWS), 2 * len(ROWS)))]


def test_the_amounts_of_an_account_are_read_with_their_entries():
    """Leaders part the amounts from the entries; some entries have none."""
    entries, amounts = column(80, 600, ROWS), column(800, 900, list(ROWS)[::2])
    [region] = arranged(Layout((*amounts, *entries))).regions
    assert region.kind == Kind.TABLE and region.lines[:3] == (5, 0, 6)
    assert Cell(0, 1, (0,)) in region.cells


def test_notes_are_marked():
    main, notes = column(300, 900, ROWS), column(60, 250, (320, 360))
    assert [region.kind for region in arranged(Layout((*main, *notes))).regions] == [Kind.TEXT, Kind.MARGIN]


def test_an_order_that_is_known_stays():
    lines = tuple(column(100, 900, ROWS))
    known = arranged(Layout(lines)).regions[0]._replace(lines=tuple(range(len(lines)))[::-1])
    assert arranged(Layout(lines, (known,))).regions == (known,)


def test_regions_follow_their_lines():
    layout, _ = ruled(CELLS, RULES)
    left = {number: line for number, line in enumerate(layout.lines) if number % 2}
    kept = layout.with_lines(left)
    [region] = kept.regions
    assert sorted(region.lines) == list(range(len(left)))
    was = [number for number in layout.regions[0].lines if number % 2]
    assert [kept.lines[number] for number in region.lines] == [layout.lines[number] for number in was]
    assert sorted(number for cell in region.cells for number in cell.lines) == sorted(region.lines)


def with_role(line, role):
    return line._replace(role=role)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_lines_with_roles_have_their_places(quarters):
    """An insertion follows the line below it, a note its paragraph; numbers come first, stamps last."""
    paragraphs = [[*column(300, 900, (200, 240)), line(300, 500, 280)], column(300, 900, (320, 360, 400))]
    number, stamp = with_role(line(850, 900, 100), Role.NUMBER), with_role(line(400, 600, 300), Role.STAMP)
    inserted = with_role(line(500, 600, 222, height=15), Role.INSERTION)
    note = [with_role(line(60, 250, row), Role.MARGIN) for row in (205, 245)]
    first, second = paragraphs
    wanted = [number, *first[:2], inserted, first[2], *note, *second, stamp]
    shuffled = np.random.default_rng(1).permutation(len(wanted))
    layout = arranged(Layout(tuple(turn_line(wanted[number], quarters, WIDTH, HEIGHT) for number in shuffled)))
    assert [int(shuffled[number]) for region in layout.regions for number in region.lines] == list(range(len(wanted)))
    assert [region.kind for region in layout.regions] == [Kind.NUMBER, Kind.TEXT, Kind.MARGIN, Kind.TEXT, Kind.STAMP]


def test_an_insertion_into_a_cell_is_in_the_cell():
    """Rules part three columns."""
    rows = range(200, 500, 50)
    cells = [line(left, left + 150, row) for row in rows for left in (50, 350, 650)]
    above = with_role(line(370, 450, 280, height=15), Role.INSERTION)
    rules = tuple(np.array(((x, 150.0), (x, 500.0))) for x in (275.0, 575.0))
    [table] = arranged(Layout((*cells, above), rules=rules)).regions
    [cell] = [cell for cell in table.cells if len(cells) in cell.lines]
    assert (cell.row, cell.column) == (2, 1) and cell.lines == (7, len(cells))


def test_a_page_of_insertions_alone_is_read():
    lines = tuple(with_role(line, Role.INSERTION) for line in column(100, 900, ROWS))
    assert blocks_of(Layout(lines)) == [list(range(len(lines)))]
