"""The first minute: the sample letter with its hints."""

import shutil

import pytest

from drethtr.cli.edit import chosen_folder
from drethtr.documents.read import read_page


@pytest.fixture
def folder(tmp_path):
    with chosen_folder(None) as letter:
        return shutil.copytree(letter, tmp_path / letter.name)


def test_the_hints_stay_from_the_text_to_the_layout_until_the_line_is_moved_and_they_are_closed(site, folder, open_tab):
    tab = open_tab(site)
    page = tab.get_by_role("link", name="letter.jpg").get_attribute("href")
    assert tab.locator(".hints").count() == 0
    tab.goto(f"{site}{page}?hints=1")
    tab.locator(".hints li").nth(3).wait_for()
    tab.keyboard.press("Alt+l")
    rows = tab.locator(".row")
    rows.nth(13).wait_for()
    assert tab.locator(".hints li").count() == 4
    rows.nth(2).drag_to(rows.nth(13), target_position={"x": 80, "y": 28})
    tab.get_by_text("The lines were moved.").first.wait_for()
    heights = [line.baseline[0][1] for line in read_page(folder / "letter.page.xml").lines]
    assert heights == sorted(heights)
    tab.get_by_role("button", name="Close").click()
    tab.reload()
    rows.nth(13).wait_for()
    assert tab.locator(".hints").count() == 0
