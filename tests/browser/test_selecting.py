"""The overview as a work list: pages are found, filtered, selected, confirmed; others are seen where they are."""

from browser_steps import address_of, arrived, enter, served
from edited_folders import put_page, scan
from made_pages import TEXTS


def test_shift_selects_all_pages_up_to_another_one(folder, tiny_path, open_tab):
    for stem in ("c", "d"):
        put_page(folder, stem)
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_label("Select b.png").click()
        tab.get_by_label("Select d.png").click(modifiers=["Shift"])
        tab.get_by_text("3 pages selected").wait_for()
        tab.get_by_label("Select c.png").click()
        tab.get_by_text("2 pages selected").wait_for()
        tab.get_by_role("group", name="Selected pages").get_by_role("button", name="Export").click()
        tab.get_by_label("2 selected pages").wait_for()


def names(tab):
    return tab.locator(".card .name").all_inner_texts()


def test_pages_are_filtered_found_by_name_and_confirmed_together(folder, tiny_path, open_tab):
    scan(2).image.save(folder / "unread.png")
    (folder / "broken.png").write_bytes(b"no image")
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.locator(".card").nth(3).wait_for()
        tab.locator(".picture.none").wait_for()
        tab.get_by_role("button", name="To correct 2").click()
        assert names(tab) == ["a.png", "b.png"]
        tab.get_by_label("Sort by").select_option("wrong words")
        assert names(tab) == ["b.png", "a.png"]
        tab.get_by_label("Select b.png").click()
        tab.get_by_role("button", name="Confirm all lines").click()
        tab.get_by_role("button", name="Done 1").click()
        tab.locator(".card[data-status=confirmed]", has_text="4 of 4 lines confirmed").wait_for()
        tab.get_by_role("button", name="All 4").click()
        tab.get_by_label("Find pages and texts").fill("unr")
        assert names(tab) == ["unread.png"]
        tab.get_by_label("Find pages and texts").fill(TEXTS[0])
        tab.locator(".hits li").nth(1).wait_for()
        assert names(tab) == []


def test_pages_are_confirmed_although_another_one_is_damaged(folder, tab):
    for name in ("a.png", "b.png"):
        tab.get_by_label(f"Select {name}").click()
    (folder / "a.page.xml").write_bytes(b"<PcGts")
    tab.get_by_role("button", name="Confirm all lines").click()
    tab.get_by_role("alert").get_by_text("4 lines confirmed. 1 page could not be: a.page.xml: ").wait_for()
    tab.get_by_role("button", name="Done 1").wait_for()


def test_a_selected_page_that_is_gone_does_not_keep_the_others_from_being_confirmed(folder, tab):
    for name in ("a.png", "b.png"):
        tab.get_by_label(f"Select {name}").click()
    for file in folder.glob("a.*"):
        file.unlink()
    tab.get_by_text("1 page selected").wait_for()
    tab.get_by_role("button", name="Confirm all lines").click()
    tab.get_by_role("button", name="Done 1").wait_for()


def test_of_many_pages_only_those_near_the_window_are_there(tmp_path, tiny_path, open_tab):
    put_page(tmp_path / "many" / "letters", "p1000")
    for number in range(1001, 1200):
        (tmp_path / "many" / "letters" / f"p{number}.png").hardlink_to(tmp_path / "many" / "letters" / "p1000.png")
    with served(tmp_path / "many", tiny_path) as site:
        tab = open_tab(site)
        tab.locator(".card").first.wait_for()
        assert names(tab)[0] == "p1000.png" and tab.locator(".card").count() < 60
        tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        tab.locator(".name", has_text="p1199.png").wait_for()
        tab.get_by_label("Select letters/p1199.png").click()
        assert tab.get_by_text("1 page selected").bounding_box()["y"] >= 0
        tab.get_by_role("link", name="p1199.png").click()
        tab.get_by_role("link", name="All pages").click()
        tab.locator(".card a:focus", has_text="p1199.png").wait_for()


def test_everybody_sees_where_the_others_are_and_the_history_has_their_names(site, open_tab):
    tab = open_tab(site)
    tab.get_by_title("Your name").click()
    tab.get_by_role("textbox", name="Your name").fill("Ada Lovelace")
    tab.keyboard.press("Enter")
    enter(tab, "a.png")
    tab.keyboard.type("Oh ")
    tab.get_by_text("Saved", exact=True).wait_for()
    other = open_tab(site, apart=True)
    other.locator(".card .dot", has_text="AL").wait_for()
    enter(other, "a.png")
    other.locator(".line .dot", has_text="AL").wait_for()
    other.get_by_role("button", name="History").click()
    other.get_by_text("Ada Lovelace changed the text").wait_for()
    own = enter(open_tab(site), "a.png")
    own.locator(".bar .dot", has_text="Somebody is here").wait_for()
    assert own.locator(".bar .dot").count() == 1


def test_on_a_phone_a_page_shows_the_end_of_its_name(tmp_path, tiny_path, open_tab):
    name = "letters of the parish of St. Mary in the fields, 1891-1905, 0017"
    put_page(tmp_path / "scans", name)
    with served(tmp_path / "scans", tiny_path) as site:
        tab = open_tab(site)
        tab.set_viewport_size({"width": 390, "height": 844})
        tab.get_by_role("link", name=name).click()
        tab.locator(".where span").nth(1).wait_for()
        start, end = tab.locator(".where span").all()
        assert start.inner_text() + end.inner_text() == f"{name}.png"
        box, whole = end.bounding_box(), tab.locator(".where").bounding_box()
        assert box["x"] + box["width"] <= whole["x"] + whole["width"] + 1


def test_an_address_that_was_cut_off_within_a_character_opens_its_page(site, open_tab):
    arrived(open_tab(f"{address_of(site, 'a.png')}#%E"))
