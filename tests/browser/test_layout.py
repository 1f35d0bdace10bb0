"""The layout of a page is repaired with few actions, and every one of them can be undone."""

from threading import Event

import pytest
from browser_steps import address_of, served, texts, wait_until_saved
from edited_folders import put_layout, put_opening, put_register

from drethtr import Recognizer
from drethtr.documents.page import rows_of_table
from drethtr.documents.read import read_page


class Layout:
    """The layout screen of a page, driven by a person whose actions are counted: keys, clicks and strokes."""

    def __init__(self, tab):
        self.tab = tab
        self.actions = 0
        tab.locator(".badge").first.wait_for()
        self.scan = tab.locator(".turned img")
        self.width = self.scan.evaluate("image => image.naturalWidth") or 1

    def at(self, x, y):
        """The point of the window over a point of the scan."""
        self.scan.evaluate("image => image.decode()")
        box, width = self.scan.bounding_box(), self.scan.evaluate("image => image.naturalWidth")
        return box["x"] + x * box["width"] / width, box["y"] + y * box["width"] / width

    def changing(self, work):
        """Do something that changes the page, and wait until it has."""
        with self.tab.expect_response(lambda answer: answer.request.method in ("POST", "PUT")) as answer:
            work()
        assert answer.value.ok, answer.value.text()
        self.tab.locator(".notice-bar:not([data-busy])").wait_for()

    def press(self, key):
        self.actions += 1
        self.tab.keyboard.press(key)

    def click(self, name):
        self.actions += 1
        self.changing(lambda: self.tab.get_by_role("button", name=name, exact=True).click())

    def stroke(self, *points):
        self.actions += 1
        mouse = self.tab.mouse
        mouse.move(*self.at(*points[0]))
        mouse.down()
        for point in points[1:]:
            mouse.move(*self.at(*point), steps=6)
        mouse.up()

    def rows(self):
        return [row.split("\n")[-1] for row in self.tab.locator(".row").all_inner_texts()]


@pytest.fixture
def open_layout(open_tab, site, folder):
    """Open the layout of a page."""

    def open_layout(name="a.png"):
        return Layout(open_tab(f"{address_of(site, name)}/layout"))

    return open_layout


def lines_of(path):
    return read_page(path).lines


def test_an_opening_that_alternates_is_repaired_in_five_actions(tmp_path, tiny_path, open_tab):
    """Eleven rows, five of which run across the fold: it took 5 splits and 74 clicks on "Move"."""
    path = put_opening(tmp_path / "scans")
    with served(tmp_path / "scans", tiny_path) as site:
        layout = first_layout(open_tab, site)
        layout.click("Two pages")
    assert layout.actions <= 5
    regions = read_page(path).regions
    assert [len(region.lines) for region in regions] == [11, 11]
    for region, (left, right) in zip(regions, [(60, 705), (695, 1340)], strict=True):
        rows = [line.baseline[0][1] for line in region.lines]
        assert rows == sorted(rows) and all(left <= line.box.left < line.box.right <= right for line in region.lines)


def first_layout(open_tab, site):
    """The layout of the first page; the step from its text is an action, too."""
    tab = open_tab(site)
    tab.locator("a[href^='/p/']").first.click()
    tab.locator(".line").first.wait_for()
    tab.keyboard.press("Alt+l")
    layout = Layout(tab)
    layout.actions += 1
    return layout


def test_a_stroke_that_the_browser_takes_over_changes_nothing(open_layout):
    layout = open_layout()
    asked = []
    layout.tab.on("request", lambda request: asked.append(request.url))
    layout.press("c")
    layout.tab.mouse.move(*layout.at(250, 40))
    layout.tab.mouse.down()
    layout.tab.mouse.move(*layout.at(250, 332), steps=6)
    assert layout.tab.locator(".strokes .stroke").count() == 1
    layout.scan.dispatch_event("pointercancel", {"pointerId": 1, "bubbles": True})
    layout.tab.mouse.up()
    layout.tab.locator(".strokes .stroke").wait_for(state="detached")
    layout.changing(lambda: layout.stroke((250, 40), (250, 332)))
    assert sum(url.endswith("/layout") for url in asked) == 1


@pytest.mark.parametrize("screen", ["", "/layout"])
def test_the_scan_stays_under_two_fingers(screen, site, open_tab):
    tab = open_tab(f"{address_of(site, 'a.png')}{screen}")
    for _ in range(5):
        tab.get_by_label("Zoom in").click()
    box, scan = tab.locator(".frame").bounding_box(), tab.locator(".turned img")
    left, right, y = box["x"] + 200, box["x"] + 400, box["y"] + 200
    fingers = tab.context.new_cdp_session(tab)

    def touch(kind, *columns):
        points = [{"x": x, "y": y, "id": number} for number, x in enumerate(columns)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = scan.bounding_box()["x"]
    touch("touchStart", left)
    touch("touchStart", left, right)
    touch("touchMove", left - 5, right)
    assert abs(scan.bounding_box()["x"] - before) < 100  # the zoom of the pinch, not a jump from finger to finger
    touch("touchEnd")


def test_a_register_of_140_fragments_becomes_rows_in_twelve_actions(tmp_path, tiny_path, open_tab):
    path = put_register(tmp_path / "scans")
    with served(tmp_path / "scans", tiny_path) as site:
        layout = first_layout(open_tab, site)
        layout.press("t")
        for column in range(6):
            layout.stroke((225 + 190 * column, 20), (225 + 190 * column, 1100))
        layout.changing(lambda: layout.press("Enter"))
        layout.tab.locator(".line-rows header b").click()
        assert layout.tab.locator(".row[aria-selected=true]").count() == 140
    assert layout.actions <= 12
    page = read_page(path)
    table = rows_of_table(page.regions)
    assert len(table) == 20 and all(len(row) == 7 for row in table.values())
    corners = [(line.baseline[0][1], line.box.left) for line in page.lines]
    assert corners == sorted(corners) and len(corners) == 140


def test_fragments_are_read_row_by_row_and_that_is_undone(tmp_path, tiny_path, open_tab):
    path = put_register(tmp_path / "scans")
    before = path.read_bytes()
    with served(tmp_path / "scans", tiny_path) as site:
        layout = first_layout(open_tab, site)
        layout.click("Row by row")
        corners = [(line.baseline[0][1], line.box.left) for line in lines_of(path)]
        assert corners == sorted(corners)
        layout.changing(lambda: layout.press("Control+z"))
        assert path.read_bytes() == before


@pytest.fixture
def may_read(monkeypatch):
    """While it is cleared, no line is read."""
    may_read, read_lines = Event(), Recognizer.read_lines
    may_read.set()
    monkeypatch.setattr(Recognizer, "read_lines", lambda self, lines: may_read.wait(60) and read_lines(self, lines))
    yield may_read
    may_read.set()


def test_a_stroke_cuts_lines_and_the_old_text_stays_until_they_are_read(may_read, open_layout, folder):
    layout = open_layout()
    whole = layout.rows()[0]
    may_read.clear()
    layout.press("c")
    layout.changing(lambda: layout.stroke((250, 40), (250, 332)))
    assert len(lines_of(folder / "a.page.xml")) == 8
    assert " ".join(layout.rows()[:2]) == whole
    assert layout.tab.locator(".row .earlier").count() == 8
    may_read.set()
    layout.tab.locator(".row .earlier").first.wait_for(state="detached")
    assert layout.tab.locator(".row").count() == 8
    layout.tab.reload()
    Layout(layout.tab)
    layout.changing(lambda: layout.tab.keyboard.press("Control+z"))
    assert layout.rows()[0] == whole
    layout.changing(lambda: layout.tab.keyboard.press("Control+Shift+z"))
    assert len(layout.rows()) == 8


def test_lines_are_drawn_joined_deleted_and_restored(open_layout, folder):
    layout = open_layout()
    layout.press("d")
    layout.changing(lambda: layout.stroke((80, 325), (300, 324), (500, 326)))
    assert len(lines_of(folder / "a.page.xml")) == 5
    layout.press("v")
    first, second = (row.bounding_box() for row in layout.tab.locator(".row").all()[:2])
    layout.tab.mouse.click(first["x"] + 90, first["y"] + 8)
    layout.tab.keyboard.down("Shift")
    layout.tab.mouse.click(second["x"] + 90, second["y"] + 8)
    layout.tab.keyboard.up("Shift")
    layout.changing(lambda: layout.press("j"))
    assert len(lines_of(folder / "a.page.xml")) == 4
    layout.changing(lambda: layout.press("Delete"))
    assert [line.id for line in lines_of(folder / "a.page.xml")][:2] == ["l2", "l3"]
    for count in (4, 5, 4):
        layout.changing(lambda: layout.press("Control+z"))
        assert len(lines_of(folder / "a.page.xml")) == count


def test_several_rows_are_dragged_at_once_and_moved_by_keys(open_layout, folder):
    layout = open_layout()
    rows = layout.tab.locator(".row")
    rows.nth(0).click()
    rows.nth(1).click(modifiers=["Shift"])
    start, end = rows.nth(1).bounding_box(), rows.nth(3).bounding_box()
    mouse = layout.tab.mouse

    def drag():
        mouse.move(start["x"] + 80, start["y"] + 10)
        mouse.down()
        mouse.move(start["x"] + 80, start["y"] + 30, steps=3)
        mouse.move(end["x"] + 80, end["y"] + end["height"] - 4, steps=5)
        mouse.up()

    layout.changing(drag)
    path = folder / "a.page.xml"
    assert [line.id for line in lines_of(path)] == ["l2", "l3", "l0", "l1"]
    rows.nth(3).click()
    layout.changing(lambda: layout.press("Alt+ArrowUp"))
    assert [line.id for line in lines_of(path)] == ["l2", "l3", "l1", "l0"]


def test_a_row_that_is_moved_to_another_region_keeps_the_keyboard(tmp_path, tiny_path, open_tab):
    path = put_layout(tmp_path, "a", (700, 300), [(50, 600, y) for y in (80, 130, 200, 260)], regions=2)
    with served(tmp_path, tiny_path) as site:
        layout = Layout(open_tab(f"{address_of(site, 'a.png')}/layout"))
        layout.tab.locator(".row").first.focus()
        for _ in range(3):
            layout.changing(lambda: layout.press("Alt+ArrowDown"))
    assert [line.id for line in lines_of(path)] == ["l1", "l2", "l3", "l0"]


def test_a_path_orders_lines_and_a_box_makes_a_region(open_layout, folder):
    layout = open_layout()
    path = folder / "a.page.xml"
    layout.press("o")
    layout.changing(lambda: layout.stroke((120, 305), (120, 75)))
    assert [line.id for line in lines_of(path)] == ["l3", "l2", "l1", "l0"]
    layout.press("Escape")
    layout.press("Escape")
    layout.press("r")
    layout.changing(lambda: layout.stroke((10, 130), (690, 270)))
    kind = layout.tab.get_by_label("Type of region 2")
    layout.changing(lambda: kind.select_option("margin"))
    assert layout.tab.locator(".row[aria-selected=true]").count() == 2
    regions = read_page(path).regions
    assert [(region.kind, [line.id for line in region.lines]) for region in regions] == [
        ("", ["l3", "l0"]),
        ("margin", ["l2", "l1"]),
    ]
    layout.changing(lambda: layout.tab.get_by_role("button", name="Remove region 2").click())
    assert len(read_page(path).regions) == 1


def test_the_selected_line_alone_has_handles_which_are_dragged_and_moved_by_keys(open_layout, folder):
    layout = open_layout()
    assert layout.tab.locator(".handle").count() == 0
    layout.tab.mouse.click(*layout.at(200, 80))
    handles = layout.tab.locator(".handle")
    assert handles.count() == 3
    before = lines_of(folder / "a.page.xml")[0].baseline
    placed = []
    layout.tab.on("request", lambda asked: placed.append(asked) if asked.method == "PUT" else None)
    layout.tab.mouse.click(*layout.at(*before[0]))
    layout.changing(lambda: layout.stroke(before[0], (before[0][0] + 20, before[0][1] + 6)))
    dragged = lines_of(folder / "a.page.xml")[0].baseline
    assert dragged[0][0] > before[0][0] and dragged[-1] == before[-1] and len(placed) == 1
    handles.first.focus()
    layout.changing(lambda: layout.press("ArrowRight"))
    assert lines_of(folder / "a.page.xml")[0].baseline[0][0] == dragged[0][0] + 2
    numbers = iter((1, 2))
    with layout.tab.expect_response(
        lambda answer: answer.request.method == "PUT" and next(numbers) == 2
    ) as second:  # before there is an answer to the first
        layout.press("ArrowRight")
        layout.press("ArrowRight")
    assert second.value.ok
    layout.tab.locator(".notice-bar:not([data-busy])").wait_for()
    layout.press("p")
    assert handles.count() >= 4
    top = lines_of(folder / "a.page.xml")[0].polygon
    handles.first.focus()
    layout.changing(lambda: layout.press("ArrowUp"))
    assert lines_of(folder / "a.page.xml")[0].polygon != top


def test_strokes_by_keys_alone(open_layout, folder):
    layout = open_layout()
    layout.tab.locator(".frame").focus()
    layout.press("c")
    for key in (*["ArrowUp"] * 30, "Space", *["ArrowDown"] * 30, "Space"):
        layout.tab.keyboard.press(f"Shift+{key}" if "Arrow" in key else key)
    layout.changing(lambda: layout.press("Enter"))
    assert len(lines_of(folder / "a.page.xml")) > 4


def test_another_window_sees_the_change_and_undoes_it(open_layout, open_tab, folder):
    layout = open_layout()
    other = Layout(open_tab(layout.tab.url))
    layout.press("c")
    layout.changing(lambda: layout.stroke((250, 40), (250, 332)))
    other.tab.locator(".row").nth(7).wait_for()
    other.tab.get_by_role("button", name="History").click()
    step = other.tab.locator(".history li").first
    assert "cut 8 lines" in step.inner_text()
    other.changing(lambda: step.get_by_role("button", name="Undo").click())
    layout.tab.locator(".row").nth(7).wait_for(state="detached")
    assert len(lines_of(folder / "a.page.xml")) == 4


def test_texts_are_undone_after_a_reload(page, folder):
    page.keyboard.press("Control+a")
    page.keyboard.type("mine")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    was = texts(page)
    page.reload()
    page.locator(".text:focus").wait_for()
    page.keyboard.press("Control+z")
    page.get_by_text("Undone.").wait_for()
    assert texts(page)[0] != "mine" and texts(page)[1:] == was[1:]
    page.keyboard.press("Control+Shift+z")
    page.get_by_text("Done again.").wait_for()
    assert texts(page)[0] == "mine"


def test_undo_pressed_twice_takes_back_one_step_after_the_other(page):
    was = texts(page)
    for word in ("one", "two"):
        page.keyboard.press("Control+a")
        page.keyboard.type(word)
        page.keyboard.press("Enter")
        wait_until_saved(page)
    page.reload()
    page.locator(".text:focus").wait_for()
    asked = []
    page.route("**/undo", lambda route: asked.append(route))
    with page.expect_request("**/undo"):
        page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    [first] = asked
    with page.expect_request("**/undo"):
        first.continue_()
    page.locator(".text", has_text=was[1]).wait_for()
    asked[1].continue_()
    page.locator(".text", has_text=was[0]).wait_for()
    assert texts(page) == was


def test_from_the_text_to_the_layout_of_a_line_and_back(page):
    page.keyboard.press("ArrowDown")
    page.locator(".line:nth-child(2)[aria-current=true]").wait_for()
    page.keyboard.press("Alt+l")
    page.locator(".row[aria-selected=true]").wait_for()
    assert page.locator(".row[aria-selected=true] .number").inner_text() == "2"
    page.keyboard.press("Alt+l")
    page.locator(".line:nth-child(2)[aria-current=true] .text:focus").wait_for()


def test_a_page_is_turned_and_shown_upright(open_layout, folder):
    layout = open_layout("b.png")
    layout.click("Turn the page upside down")
    assert "matrix" in layout.tab.locator(".turned").evaluate("sheet => sheet.style.transform")
    layout.press("Alt+l")
    layout.tab.locator(".line .text").first.wait_for()
    assert "matrix" in layout.tab.locator(".turned").evaluate("sheet => sheet.style.transform")
    layout.press("Alt+l")
    layout.tab.locator(".row").first.wait_for()
    layout.changing(lambda: layout.press("Control+z"))
    assert layout.tab.locator(".turned").evaluate("sheet => sheet.style.transform") == "none"


def test_a_page_that_has_no_lines_across_is_not_said_to_be_turned(folder, tiny_path, open_tab):
    with served(folder, tiny_path, lines="auto") as site:
        layout = first_layout(open_tab, site)
        layout.click("Turn the page to the left")
        layout.tab.locator(".notice-bar", has_text="No lines run in that direction").wait_for()


def test_a_tool_says_what_it_does_also_after_another_message(open_layout):
    layout = open_layout()
    layout.click("Row by row")
    layout.tab.locator(".notice-bar", has_text="row by row").wait_for()
    layout.press("c")
    layout.tab.locator(".notice-bar", has_text="One stroke cuts every line").wait_for()


def test_the_numbers_of_lines_at_the_edge_of_the_scan_are_not_cut_off(tmp_path, tiny_path, open_tab):
    put_layout(tmp_path / "scans", "edge", (1400, 700), [(0, 1390, 60 + 50 * row) for row in range(12)])
    with served(tmp_path / "scans", tiny_path) as site:
        layout = first_layout(open_tab, site)
        frame = layout.tab.locator(".frame").bounding_box()
        starts = layout.tab.locator(".badge rect").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().x)"
        )
        assert len(starts) == 12 and min(starts) >= frame["x"]


def test_enter_opens_the_text_of_a_line(open_layout):
    tab = open_layout().tab
    tab.locator(".row").nth(2).focus()
    tab.keyboard.press("Enter")
    tab.locator(".line:nth-child(3)[aria-current=true] .text:focus").wait_for()


def test_enter_presses_a_button_with_the_table_tool_too(open_layout):
    layout = open_layout()
    layout.press("t")
    layout.tab.get_by_role("button", name="History").focus()
    layout.tab.keyboard.press("Enter")
    layout.tab.locator("dialog").wait_for()
