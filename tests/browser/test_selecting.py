"""Pages are selected for export."""

from browser_steps import served
from edited_folders import put_page


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
        tab.get_by_role("button", name="Export").click()
        tab.get_by_label("2 selected pages").wait_for()
