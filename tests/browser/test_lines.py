"""Lines are split, joined, ordered, added, deleted, and their baselines moved."""

import re

from browser_steps import enter, text_of, texts, wait_until_saved
from made_pages import TEXTS

from drethtr.documents.read import read_page


def shape(page):
    """Show the tools for lines; the caret stays in the text."""
    page.keyboard.press("Alt+l")
    page.locator("[aria-label=Lines] button:focus").wait_for()
    page.keyboard.press("Escape")


def correct(page, text):
    """Make a line a person's, so that it is not read again."""
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.keyboard.press("Shift+Enter")


def test_a_line_is_split_at_the_cursor_and_joined_again(page):
    correct(page, "north south")
    shape(page)
    page.keyboard.press("Home")
    for _ in "north ":
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Split").click()
    page.locator(".line").nth(4).wait_for()
    assert texts(page)[:3] == ["north", "south", TEXTS[1]]
    text_of(page, 1).click()
    page.get_by_role("button", name="Join with next").click()
    page.locator(".line").nth(4).wait_for(state="detached")
    assert texts(page)[:2] == ["north south", TEXTS[1]]


def test_the_tools_stay_in_view(page):
    page.set_viewport_size({"width": 1300, "height": 400})
    shape(page)
    tools, first = page.get_by_role("toolbar", name="Lines"), page.locator(".line").first
    before = tools.bounding_box()
    page.locator(".line").last.evaluate("line => line.scrollIntoView()")
    assert first.bounding_box()["y"] < 0 and tools.bounding_box() == before


def test_numbers_of_lines_that_begin_at_the_edge_are_on_the_scan(tab, folder):
    path = folder / "a.page.xml"
    path.write_text(re.sub('(<Baseline points=")[0-9]+', r"\g<1>0", path.read_text()))
    page = enter(tab, "a.png")
    shape(page)
    numbers, scan = page.locator(".scan .order").all(), page.locator(".scan img").bounding_box()
    assert len(numbers) == 4 and all(number.bounding_box()["x"] >= scan["x"] for number in numbers)


def wait_until_entered(page, number):
    """Wait until a line, counted from 1, is the active one and has the caret."""
    page.locator(f".line:nth-child({number})[aria-current=true] .text:focus").wait_for()


def test_the_caret_is_in_the_line_that_was_added_or_restored(page):
    correct(page, "first")
    shape(page)
    page.get_by_role("button", name="Add below").click()
    page.locator(".line").nth(4).wait_for()
    wait_until_entered(page, 2)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator(".line").nth(4).wait_for(state="detached")
    assert texts(page) == ["first", *TEXTS[1:4]]
    text_of(page, 1).click()
    wait_until_entered(page, 1)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator(".line").nth(3).wait_for(state="detached")
    assert texts(page) == list(TEXTS[1:4])
    text_of(page, 3).click()
    page.get_by_role("button", name="Undo delete").click()
    page.locator(".line").nth(3).wait_for()
    wait_until_entered(page, 1)
    page.keyboard.type("the ")
    assert texts(page)[0] == "the first"


def test_order_and_undone_deletion(page):
    correct(page, "first")
    shape(page)
    page.get_by_role("button", name="Move down").click()
    page.get_by_text("The line moved down.").wait_for()
    assert texts(page)[:2] == [TEXTS[1], "first"]
    page.get_by_role("button", name="Delete").click()
    page.locator(".line").nth(3).wait_for(state="detached")
    assert "first" not in texts(page)
    page.get_by_role("button", name="Undo delete").click()
    page.locator(".line .text", has_text="first").wait_for()
    assert texts(page)[:2] == [TEXTS[1], "first"]


def test_deleted_lines_come_back_after_the_tools_were_closed(page, folder):
    correct(page, "first")
    shape(page)
    delete = page.get_by_role("button", name="Delete", exact=True)
    page.keyboard.type("the ")  # not saved yet
    delete.click()
    page.locator(".line").nth(3).wait_for(state="detached")
    delete.click()
    page.locator(".line").nth(2).wait_for(state="detached")
    assert texts(page) == list(TEXTS[2:4])
    page.get_by_role("button", name="Lines", exact=True).click()
    page.get_by_role("button", name="Undo delete").wait_for(state="detached")
    page.get_by_role("button", name="Lines", exact=True).click()
    for number in (2, 3):
        page.get_by_role("button", name="Undo delete").click()
        page.locator(".line").nth(number).wait_for()
    page.locator(".line .text", has_text="the first").wait_for()
    assert texts(page)[0] == "the first" and texts(page)[2:] == list(TEXTS[2:4])
    assert page.get_by_role("button", name="Undo delete").count() == 0
    assert read_page(folder / "a.page.xml").lines[0].text == "the first"


def test_a_point_of_a_baseline_is_dragged_and_moved_by_keys(page, folder):
    correct(page, "moved")
    shape(page)
    before = read_page(folder / "a.page.xml").lines[0].baseline
    box = page.locator(".handle").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 12, steps=4)
    page.mouse.up()
    page.get_by_text("The line image was updated.").wait_for()
    dragged = read_page(folder / "a.page.xml").lines[0].baseline
    assert dragged[0][0] > before[0][0] and dragged[-1] == before[-1]
    page.locator(".handle").first.focus()
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("ArrowRight")
    assert read_page(folder / "a.page.xml").lines[0].baseline[0][0] == dragged[0][0] + 2
    assert texts(page)[0] == "moved"


def test_a_line_is_drawn(page):
    shape(page)
    page.get_by_role("button", name="Draw").click()
    frame = page.locator(".frame").bounding_box()
    for share in (0.2, 0.7):
        page.mouse.click(frame["x"] + share * frame["width"], frame["y"] + frame["height"] - 60)
    page.keyboard.press("Enter")
    page.locator(".line").nth(4).wait_for()
