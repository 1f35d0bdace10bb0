"""Pages are read when a person asks for it."""

from browser_steps import served
from edited_folders import scan


def test_pages_that_were_not_read_can_be(folder, tiny_path, open_tab):
    for name in ("c.png", "d.png"):
        scan(2).image.save(folder / name)
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_text("2 pages not read").wait_for()
        tab.get_by_role("link", name="c.png").click()
        tab.get_by_role("button", name="Read this page").click()
        tab.locator(".line").first.wait_for()
        tab.get_by_role("link", name="All pages").click()
        tab.get_by_text("1 page not read").wait_for()
        tab.get_by_role("button", name="Read", exact=True).click()
        tab.locator(".card[data-status=unread]").wait_for(state="detached")
        assert len(list(folder.glob("*.page.xml"))) == 4
