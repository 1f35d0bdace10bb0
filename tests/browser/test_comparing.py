"""A page is compared with somebody else's text, and what a person wants of it is taken."""

import pytest
from browser_steps import enter, text_of, texts, wait_until_saved
from made_pages import TEXTS

from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review

THEIRS = [TEXTS[0].replace("Sir", "Madam"), TEXTS[1], TEXTS[2].replace("thank you", "thank"), f"{TEXTS[3]} again"]


def compare(page, text, keys=("F4",)):
    for key in keys:
        page.keyboard.press(key)
    page.locator("dialog textarea").fill(text)
    page.locator("dialog").get_by_role("button", name="Compare", exact=True).click()
    page.locator(".compared").wait_for()
    page.locator(".text:focus").wait_for()


def said(page):
    return page.locator(".said").inner_text()


def counted(page, words):
    page.locator(".compared", has_text=words).wait_for()


def files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.xml")}


def test_one_key_takes_theirs_or_keeps_ours_and_goes_on(page, folder):
    before = files(folder)
    compare(page, " ".join(THEIRS))
    counted(page, "3 differences in 3 lines")
    assert page.evaluate("getSelection().toString()") == "Sir," and said(page).startswith(
        "Ours “Sir,”, theirs “Madam,”"
    )
    assert files(folder) == before
    page.keyboard.press("Alt+t")
    assert texts(page)[0] == THEIRS[0] and page.evaluate("getSelection().toString()") == "you"
    page.keyboard.press("Alt+o")
    assert texts(page)[2] == TEXTS[2] and said(page).startswith("Ours nothing, theirs “again”")
    page.keyboard.press("Alt+t")
    assert texts(page)[3] == THEIRS[3] and said(page) == "No more differences on this page."
    counted(page, "no difference left")
    wait_until_saved(page)
    [first, second, third, fourth] = read_page(folder / "a.page.xml").lines
    assert (first.text, first.transcription.review) == (THEIRS[0], Review.CORRECTED)
    assert second.transcription.review is None and third.text == TEXTS[2] and fourth.text == THEIRS[3]


def test_differences_of_a_convention_are_ignored(page):
    page.keyboard.press("F4")
    page.locator("dialog").get_by_label("punctuation").check()
    compare(page, " ".join(THEIRS).replace("Madam,", "Sir"), keys=())
    counted(page, "2 differences in 2 lines, punctuation ignored")
    assert page.evaluate("getSelection().toString()") == "you"


def test_what_was_taken_is_undone_and_is_in_the_history(page):
    compare(page, " ".join(THEIRS))
    page.keyboard.press("Alt+Shift+t")
    assert texts(page)[0] == THEIRS[0]
    wait_until_saved(page)
    page.locator(".line .text").first.click()
    page.get_by_role("button", name="History").click()
    page.locator("dialog", has_text=TEXTS[0]).wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.locator(".line .text").first.click()
    page.keyboard.press("Control+z")
    assert texts(page)[0] == TEXTS[0]
    counted(page, "3 differences")


def test_a_taken_line_that_was_changed_elsewhere_is_a_conflict(page, site, open_tab):
    other = enter(open_tab(site), "a.png")
    compare(page, " ".join(THEIRS))
    page.route("**/api/pages/*", lambda route: route.abort())  # this window does not hear of the other one
    other.keyboard.press("End")
    other.keyboard.type(" elsewhere")
    other.keyboard.press("Enter")
    wait_until_saved(other)
    page.keyboard.press("Alt+t")
    page.get_by_text("This line was changed elsewhere").wait_for()


def test_the_text_goes_on_from_page_to_page_until_it_is_ended_whatever_is_answered_later(page):
    compare(page, " ".join(THEIRS))
    late, asked = [], []
    page.route("**/compare?**", lambda route: route.continue_() if late else late.append(route))
    with page.expect_request("**/compare?**"):
        page.keyboard.press("Alt+PageDown")
    page.locator(".text:focus").wait_for()
    page.keyboard.press("Alt+PageUp")
    counted(page, "3 differences in 3 lines")
    page.get_by_role("button", name="End", exact=True).click()
    page.locator(".compared").wait_for(state="detached")
    with page.expect_response("**/compare?**"):
        late[0].continue_()
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("Alt+PageDown")
    page.get_by_text("b.png").first.wait_for()
    page.locator(".text:focus").wait_for()
    assert not page.locator(".compared").count() and not any("compare" in url for url in asked)


@pytest.mark.parametrize(("name", "content"), [("theirs.md", "# {}"), ("theirs.json", '["{}"]')])
def test_a_file_is_compared_and_what_is_on_no_line_is_told(page, tmp_path, name, content):
    path = tmp_path / name
    lines = [TEXTS[0], TEXTS[1], TEXTS[3], "A postscript that is on no line of this page, whoever wrote it there."]
    path.write_text(content.format(" ".join(lines)))
    page.get_by_role("button", name="Compare").click()
    page.locator("dialog input[type=file]").set_input_files(path)
    page.locator("dialog").get_by_role("button", name="Compare", exact=True).click()
    counted(page, "1 line not in the text")
    page.get_by_text("1 part of the text not on any line of this page").click()
    page.get_by_text("A postscript").wait_for()
    page.locator(".theirs", has_text="Not in the text").wait_for()


def test_a_text_of_another_page_is_refused(page):
    page.keyboard.press("F4")
    page.locator("dialog textarea").fill("Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 4)
    page.locator("dialog").get_by_role("button", name="Compare", exact=True).click()
    page.locator("dialog [role=alert]", has_text="is not the text of a.png").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert not page.locator(".compared").count()


def test_alternatives_do_not_cover_what_the_other_text_says(tab):
    page = enter(tab, "b.png")
    compare(page, " ".join(THEIRS))
    page.keyboard.press("F4")
    page.wait_for_timeout(500)
    assert page.locator(".other-words").count() == 0
    page.keyboard.press("Alt+ArrowDown")
    page.locator(".other-words").wait_for()


def test_the_bar_of_a_line_with_all_its_buttons_fits_a_small_screen(page):
    page.set_viewport_size({"width": 1366, "height": 768})
    compare(page, " ".join(THEIRS))
    page.keyboard.press("Control+Enter")
    text_of(page, 1).click()
    bar = page.locator(".line-bar", has_text="Undo confirmation")
    assert bar.get_by_role("button").count() == 7
    assert bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth")
