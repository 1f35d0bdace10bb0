"""Everybody can use the page: axe finds no serious violation, and the keyboard reaches everything."""

from importlib.resources import files

import pytest
from browser_steps import enter
from made_pages import TEXTS

AXE = pytest.importorskip("axe_playwright_python").__name__
SCREENS = {
    "overview": lambda tab: tab.locator(".card").first.wait_for(),
    "page": lambda tab: enter(tab, "b.png"),
    "lines": lambda tab: enter(tab, "b.png").keyboard.press("Alt+l"),
    "characters": lambda tab: enter(tab, "b.png").keyboard.press("Alt+c"),
    "comparing": lambda tab: enter(tab, "b.png").keyboard.press("F4"),
    "compared": lambda tab: compared(enter(tab, "b.png")),
    "keys": lambda tab: tab.get_by_role("button", name="Keys").click(),
    "export": lambda tab: tab.get_by_role("button", name="Export").click(),
    "learn": lambda tab: tab.get_by_role("button", name="Learn").click(),
}


def compared(tab):
    tab.keyboard.press("F4")
    tab.locator("dialog textarea").fill(" ".join(TEXTS[:3]).replace("Sir", "Madam"))
    tab.locator("dialog").get_by_role("button", name="Compare", exact=True).click()
    tab.locator(".compared").wait_for()


@pytest.mark.parametrize(
    ("scheme", "screens"), [("light", list(SCREENS)), ("dark", ["overview", "page", "comparing", "compared"])]
)
def test_axe_finds_no_serious_violation(open_tab, site, scheme, screens):
    tab = open_tab(site)
    tab.emulate_media(color_scheme=scheme)
    for name in screens:
        tab.goto(site)
        SCREENS[name](tab)
        tab.evaluate(files(AXE).joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run().then(({violations}) => violations)")
        serious = [
            (one["id"], [node["html"][:160] for node in one["nodes"]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert not serious, name


def test_at_200_percent_nothing_is_wider_than_the_window(open_tab, site):
    tab = open_tab(site)
    for width in (650, 360):
        tab.set_viewport_size({"width": width, "height": 425})
        tab.goto(site)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        enter(tab, "a.png")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_keyboard_alone_reaches_a_line_from_the_overview(tab):
    tab.locator(".card").first.wait_for()
    for _ in range(20):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement?.pathname?.startsWith('/p/')"):
            break
    tab.keyboard.press("Enter")
    tab.locator(".text:focus").wait_for()
