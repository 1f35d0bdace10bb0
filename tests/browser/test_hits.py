"""Searching a folder that has an index: lines whose text misses the word, and what a person says of them."""

import pytest
from browser_steps import address_of, enter, served, texts
from edited_folders import put_index, put_page, scan
from made_pages import TEXTS

from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.model.file import SHIPPED
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import open_builder
from drethtr.search.index import open_index

WORD = max(TEXTS[1].split(), key=len)


@pytest.fixture
def indexed(tmp_path, tiny_path):
    """A folder with an index that knows a word better than the text of its line."""
    folder = tmp_path / "scans"
    path = put_page(folder, "a", confidence=None)
    put_index(folder, path, tiny_path, lines="projection")
    path.write_text(path.read_text(encoding="utf-8").replace(WORD, "misread"), encoding="utf-8")
    return folder


def test_a_possible_line_is_rejected_and_confirmed_by_key(indexed, tiny_path, open_tab):
    with served(indexed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(WORD)
        hit = tab.locator(".hits a", has_text="misread")
        hit.focus()
        tab.keyboard.press("n")
        tab.locator(".hits [data-rejected]", has_text="rejected").wait_for()
        assert tab.locator(".hits .ink").evaluate("image => image.decode().then(() => image.naturalWidth > 100)")
        hit.focus()
        tab.keyboard.press("y")
        tab.locator(".hits li:not([data-rejected])", has_text="certain").wait_for()
        hit.click()
        tab.locator(".text:focus", has_text="misread").wait_for()
        assert tab.evaluate("getSelection().toString()") in TEXTS[1].replace(WORD, "misread").split()
    with open_index(indexed / "letters.drethtr.sqlite") as index:
        [verdict] = index.store.verdicts()
    assert (verdict.query, verdict.stands) == (WORD, True)


def test_a_late_verdict_brings_no_hits_of_earlier_words_back(indexed, tiny_path, open_tab):
    with served(indexed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(WORD)
        tab.locator(".hits a", has_text="misread").focus()
        late = []
        tab.route("**/judge", lambda route: late.append(route))
        with tab.expect_request("**/judge"):
            tab.keyboard.press("n")
        tab.get_by_role("searchbox").fill("misread")
        tab.locator(".hits mark", has_text="misread").wait_for()
        with tab.expect_response("**/api/search?**") as again:
            late[0].continue_()
        assert "q=misread" in again.value.url


def test_a_search_for_which_nobody_waits_is_given_up(tab):
    tab.route("**/api/search?*", lambda route: None)  # never answered
    words = tab.get_by_role("searchbox")
    with tab.expect_request(lambda request: "q=d&" in request.url):
        words.fill("d")
    with tab.expect_event("requestfailed", lambda request: "q=d&" in request.url):
        words.fill("de")


def test_a_search_finds_misread_words_as_soon_as_the_folder_is_searchable(tmp_path, open_tab):
    path = put_page(tmp_path / "scans", "a", confidence=0.9)
    path.write_text(path.read_text(encoding="utf-8").replace(WORD, "misread"), encoding="utf-8")
    with served(tmp_path / "scans", SHIPPED) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(WORD)
        tab.get_by_text("No line contains these words").wait_for()
        tab.get_by_role("button", name="Make searchable").click()
        tab.locator(".hits a", has_text="misread").wait_for()


def test_the_words_of_a_search_are_tinted_on_the_scan_and_followed_by_key(indexed, tiny_path, open_tab):
    selected = "getSelection().focusNode.parentElement.closest('.line').dataset.line + ' ' + getSelection()"
    with served(indexed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill("the")
        tab.locator(".hits a", has_text=TEXTS[2]).click()
        tab.get_by_text("Found the: line 2 of 3").wait_for()
        boxes = tab.locator("rect.found").evaluate_all("all => all.map(one => one.getBBox().y)")
        lines = tab.locator("polygon.outline").evaluate_all("all => all.map(one => one.getBBox().y)")
        assert boxes == lines[1:4]
        assert tab.evaluate("[...CSS.highlights.get('found')].map(String)") == ["the"] * 3
        assert tab.evaluate(selected) == "l2 the"
        tab.keyboard.press("F8")
        assert tab.evaluate(selected) == "l3 the"
        tab.keyboard.press("F8")
        tab.get_by_text("No more places.").wait_for()
        tab.keyboard.press("Shift+F8")
        assert tab.evaluate(selected) == "l2 the"
        tab.get_by_role("button", name="End").click()
        tab.locator("rect.found").first.wait_for(state="detached")
        assert not tab.evaluate("CSS.highlights.get('found').size")


def test_places_found_before_a_page_changed_are_not_waited_for(site, open_tab):
    tab = open_tab(f"{address_of(site, 'a.png')}?find=the")
    tab.get_by_text("Found the: 3 lines").wait_for()
    late = []
    tab.route("**/api/search?**", lambda route: late.append(route) if not late else route.continue_())
    tab.locator(".text").first.fill("the")
    tab.keyboard.press("Enter")
    with tab.expect_event("requestfailed", lambda request: request == late[0].request):
        tab.keyboard.type("the ")
        tab.keyboard.press("Enter")
    tab.get_by_text("line 3 of 4").wait_for()


def test_from_the_last_place_of_a_page_the_key_goes_to_the_next_page_that_has_the_words(tmp_path, tiny_path, open_tab):
    first, last = TEXTS[1], TEXTS[3]
    for name in "abc":
        path = put_page(tmp_path / "scans", name)
        if name == "b":
            path.write_text(path.read_text(encoding="utf-8").replace("the", "a"), encoding="utf-8")
    with served(tmp_path / "scans", tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill("the")
        tab.locator(".hits a", has_text=last).first.click()
        tab.get_by_text("Found the: line 3 of 3, page 1 of 2").wait_for()
        tab.keyboard.press("F8")
        tab.get_by_text("Found the: line 1 of 3, page 2 of 2").wait_for()
        assert tab.title().startswith("c.png") and tab.locator(".text:focus").inner_text() == first
        tab.keyboard.press("Shift+F8")
        tab.get_by_text("Found the: line 3 of 3, page 1 of 2").wait_for()
        assert tab.title().startswith("a.png") and tab.locator(".text:focus").inner_text() == last
        assert tab.evaluate("String(getSelection())") == "the"
        tab.keyboard.press("Shift+F8")
        tab.keyboard.press("Shift+F8")
        tab.keyboard.press("Shift+F8")
        tab.get_by_text("No earlier places.").wait_for()


def test_certain_and_possible_lines_are_in_the_order_of_pages(indexed, tiny_path, open_tab):
    put_page(indexed, "b", confidence=None)
    with served(indexed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(WORD)
        tab.locator(".hits li").nth(1).wait_for()
        assert tab.locator(".hits .name").all_inner_texts() == ["certain, a.png", "b.png"]
        tab.locator(".hits a", has_text="misread").click()
        tab.get_by_text("page 1 of 2").wait_for()
        tab.keyboard.press("F8")
        tab.get_by_text("page 2 of 2").wait_for()
        assert tab.title().startswith("b.png")


def test_words_that_were_misread_are_tinted_where_the_index_finds_them(indexed, tiny_path, open_tab):
    with served(indexed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(WORD)
        tab.locator(".hits a", has_text="misread").click()
        box = tab.locator("rect.found").evaluate("one => [one.getBBox().x, one.getBBox().x + one.getBBox().width]")
        place = tab.locator(".place").evaluate("one => [one.getBBox().x, one.getBBox().x + one.getBBox().width]")
        assert max(box[0], place[0]) < min(box[1], place[1])


def test_a_page_that_only_the_index_has_read_opens_with_its_lines(tmp_path, tiny_path, open_tab):
    folder = tmp_path / "scans"
    folder.mkdir()
    scan().image.save(folder / "a.png")
    recognizer = Recognizer.load(tiny_path, posteriors=True)
    with open_builder(folder / "letters.drethtr.sqlite", recognizer, segmentation_named("projection")) as builder:
        page = builder.read(*open_originals(folder / "a.png"))
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_text("1 page not read").wait_for()
        assert texts(enter(tab, "a.png")) == [line.text for line in page.lines]
    assert (folder / "a.page.xml").is_file()


def test_a_text_from_right_to_left_ends_at_the_left(folder, tiny_path, open_tab):
    word = "\u05e9\u05dc\u05d5\u05dd"
    page = folder / "a.page.xml"
    page.write_text(page.read_text(encoding="utf-8").replace(TEXTS[1], f"{word}!"), encoding="utf-8")
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("searchbox").fill(word)
        start, end = tab.locator(".hits .text").evaluate("""text => [...text.childNodes].slice(-2).map((node) => {
            const range = new Range();
            range.selectNode(node);
            return range.getBoundingClientRect().left;
        })""")
    assert end < start


def test_a_search_that_failed_is_forgotten_with_the_next_one(site, tab):
    tab.goto(site)
    tab.route("**/api/search?**", lambda route: route.fulfill(status=500, json={"error": "the disk is gone"}))
    box = tab.get_by_role("searchbox")
    box.fill("nothing")
    tab.get_by_role("alert").get_by_text("the disk is gone").wait_for()
    tab.unroute("**/api/search?**")
    box.fill(WORD)
    tab.locator(".hits a").first.wait_for()
    assert tab.get_by_role("alert").count() == 0
