"""Everybody can use the page: axe finds no serious violation, and the keyboard reaches everything."""

from importlib.resources import files

import pytest
from browser_steps import enter, served, texts, wait_until_saved
from edited_folders import LINES
from made_pages import TEXTS

from drethtr.server.guard import Access

AXE = pytest.importorskip("axe_playwright_python").__name__
SCREENS = {
    "overview": lambda tab: tab.locator(".card").first.wait_for(),
    "page": lambda tab: enter(tab, "b.png"),
    "layout": lambda tab: layout(enter(tab, "b.png")),
    "layout of a line": lambda tab: layout(enter(tab, "b.png")).locator(".row").nth(1).click(),
    "steps": lambda tab: layout(enter(tab, "b.png")).get_by_role("button", name="History").click(),
    "keys of the layout": lambda tab: (
        layout(enter(tab, "b.png")).get_by_role("button", name="Keys", exact=True).click()
    ),
    "characters": lambda tab: enter(tab, "b.png").keyboard.press("Alt+c"),
    "comparing": lambda tab: enter(tab, "b.png").keyboard.press("F4"),
    "compared": lambda tab: compared(enter(tab, "b.png")),
    "keys": lambda tab: tab.get_by_role("button", name="Keys").click(),
    "list": lambda tab: tab.get_by_role("button", name="List").click(),
    "alternatives": lambda tab: alternatives(enter(tab, "b.png")),
    "tags": lambda tab: enter(tab, "b.png").keyboard.press("Alt+g"),
    "name": lambda tab: tab.get_by_title("Your name").click(),
    "export": lambda tab: tab.get_by_role("button", name="Export").click(),
    "history": lambda tab: enter(tab, "b.png").get_by_role("button", name="History").click(),
    "learn": lambda tab: tab.get_by_role("button", name="Learn").click(),
    "selected": lambda tab: tab.get_by_label("Select a.png").click(),
    "hits": lambda tab: hits(tab),
    "found": lambda tab: hits(tab).click(),
    "unreadable": lambda tab: tab.get_by_role("link", name="broken.png").click(),
}


def hits(tab):
    tab.get_by_role("searchbox").fill(TEXTS[0][:8])
    tab.locator(".hits a").first.wait_for()
    return tab.locator(".hits a").first


EVERYTHING = "{}"
CONTRAST = '{runOnly: ["color-contrast"]}'


def serious(tab, rules=EVERYTHING):
    """What axe finds on a screen."""
    tab.evaluate(files(AXE).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = tab.evaluate(f"axe.run({rules}).then(({{violations}}) => violations)")
    return [
        (one["id"], [node["html"][:160] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def layout(tab):
    tab.keyboard.press("Alt+l")
    tab.locator(".badge").first.wait_for()
    return tab


def alternatives(tab):
    tab.keyboard.press("F2")
    tab.locator(".choices .word").first.wait_for()


def compared(tab):
    tab.keyboard.press("F4")
    tab.locator("dialog textarea").fill(" ".join(TEXTS[:3]).replace("Sir", "Madam"))
    tab.locator("dialog").get_by_role("button", name="Compare", exact=True).click()
    tab.locator(".compared").wait_for()


def test_axe_finds_no_serious_violation(open_tab, folder, site):
    """In the dark, only colors differ."""
    (folder / "broken.png").write_bytes(b"broken")
    tab = open_tab(site)
    for name, show in SCREENS.items():
        tab.emulate_media(color_scheme="light")
        tab.goto(site)
        show(tab)
        assert not serious(tab), name
        tab.emulate_media(color_scheme="dark")
        assert not serious(tab, CONTRAST), f"{name} in the dark"


def test_axe_finds_no_serious_violation_where_a_token_is_asked_for(folder, tiny_path, open_tab):
    with served(folder, tiny_path, access=Access(token="a-secret")) as site:
        tab = open_tab(site)
        tab.get_by_role("heading", name="This folder is locked").wait_for()
        assert not serious(tab)
        tab.get_by_label("Key").fill("a-secret")
        tab.keyboard.press("Enter")
        tab.get_by_role("button", name="Share").click()
        tab.get_by_text("work on this computer only").wait_for()
        tab.get_by_role("button", name="Copy").first.click()
        tab.get_by_role("button", name="Copied").wait_for()
        assert not serious(tab)


def test_at_200_percent_nothing_is_wider_than_the_window(open_tab, site, folder):
    tab, fits = open_tab(site), "document.documentElement.scrollWidth <= innerWidth"
    for width in (650, 360):
        tab.set_viewport_size({"width": width, "height": 425})
        tab.goto(site)
        assert tab.evaluate(fits)
        enter(tab, "a.png")
        home = tab.locator(".home")
        height = home.evaluate("each => each.offsetHeight")
        assert home.evaluate("each => (each.textContent += ' of a box'.repeat(9), each.offsetHeight)") == height
        assert tab.evaluate(fits)
        layout(tab)
        assert tab.evaluate(fits)
    page = folder / "a.page.xml"
    page.write_text(page.read_text(encoding="utf-8").replace(TEXTS[1], "withoutspaces" * 9), encoding="utf-8")
    tab.goto(site)
    tab.get_by_role("searchbox").fill("withoutspaces")
    tab.locator(".hits a").wait_for()
    assert tab.evaluate(fits)


SMALL = """() => [...document.querySelectorAll("button, a[href], input, select, summary, .row")].filter((one) => {
    const isTick = one.matches("[type=radio], [type=checkbox]");
    const { width, height } = (isTick ? one.closest("label") : one).getBoundingClientRect();
    return one.checkVisibility() && width && height && Math.min(width, height) < 23.9;
}).map((one) => one.outerHTML)"""
"""Controls of less than 24 pixels."""


def test_on_a_phone_every_control_is_large_enough_for_a_finger(open_tab, site):
    tab = open_tab(site)
    tab.set_viewport_size({"width": 390, "height": 844})
    for name in ("overview", "list", "page", "layout of a line", "tags", "export", "compared", "hits"):
        tab.goto(site)
        SCREENS[name](tab)
        assert not tab.evaluate(SMALL), name


def test_what_is_chosen_stands_out_where_the_browser_replaces_all_colors(page):
    def style(selector, name):
        return page.locator(selector).first.evaluate("(one, name) => getComputedStyle(one)[name]", name)

    page.emulate_media(forced_colors="active")
    assert style(".text:focus", "outlineStyle") == "solid"
    assert style(".line[aria-current]", "borderLeftColor") != style(".line:not([aria-current])", "borderLeftColor")
    layout(page)
    for kind in (".row[aria-selected={}]", ".toolbox [aria-pressed={}]"):
        assert style(kind.format("true"), "backgroundColor") != style(kind.format("false"), "backgroundColor")


def test_the_keyboard_alone_reaches_a_line_from_the_overview(tab):
    tab.locator(".card").first.wait_for()
    for _ in range(20):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement?.pathname?.startsWith('/p/')"):
            break
    tab.keyboard.press("Enter")
    tab.locator(".text:focus").wait_for()


def test_after_a_dialog_the_caret_is_where_it_was(page):
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("F4")
    page.locator("dialog textarea:focus").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.type("!")
    assert texts(page)[0] == f"{TEXTS[0][:-1]}!{TEXTS[0][-1]}"


def test_special_characters_by_keys(page):
    page.keyboard.type("ſß ")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.keyboard.press("Alt+c")
    page.locator(".palette button:focus", has_text="ſ").wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(".text:focus").wait_for()
    assert texts(page)[1] == f"ß{TEXTS[1]}"


def test_lines_are_selected_deleted_and_put_back_by_keys(page):
    layout(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('row')"):
            break
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Delete")
    page.locator(".row").nth(LINES - 2).wait_for(state="detached")
    page.keyboard.press("Control+z")
    page.locator(".row").nth(LINES - 1).wait_for()


def test_back_from_a_page_the_keyboard_is_at_its_card(page):
    page.get_by_role("link", name="All pages").click()
    page.locator(".card a:focus", has_text="a.png").wait_for()


def test_back_from_a_hit_the_search_is_still_there(tab):
    tab.get_by_label("Find pages and texts").fill(TEXTS[0][:8])
    tab.locator(".hits a").first.click()
    tab.locator(".text:focus").wait_for()
    tab.go_back()
    tab.locator(".hits a").first.wait_for()
