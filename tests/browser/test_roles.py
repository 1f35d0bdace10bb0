"""What those who may only read are offered."""

import pytest
from browser_steps import enter, served, texts
from made_pages import TEXTS

from drethtr.server.guard import Access, Role

TOKEN = "a-secret"


@pytest.fixture
def tab(folder, tiny_path, open_tab):
    with served(folder, tiny_path, access=Access(token=TOKEN)) as site:
        yield open_tab(f"{site}/?token={Role.READ.token(TOKEN)}")


def test_a_reader_changes_nothing_and_is_offered_nothing_that_would(tab):
    tab.get_by_text("Read only").wait_for()
    assert tab.locator(".bar button").all_inner_texts() == ["Export", "Keys", "◐"]
    enter(tab, "b.png")
    offered = tab.locator(".texts button, .texts a").all_inner_texts()
    assert [one.split()[-1] for one in offered] == ["F2", "Proofread", "Compare", "History"]
    for key in ("x", "Control+Enter", "Alt+c", "Alt+g", "Alt+l"):
        tab.keyboard.press(key)
    assert texts(tab) == list(TEXTS[:4]) and "/layout" not in tab.url
    assert not tab.locator(".palette, .tags, .layout").count()
    tab.goto(f"{tab.url.partition('#')[0]}/layout")
    tab.locator(".line .text").first.wait_for()
    tab.get_by_role("button", name="History").click()
    tab.locator("dialog").wait_for()
    assert not tab.get_by_role("button", name="Restore").count()


def test_an_open_tab_whose_key_does_not_fit_any_more_says_so(tab):
    tab.get_by_text("Read only").wait_for()
    tab.context.clear_cookies()
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # connects anew
    tab.get_by_text("This server requires a token").wait_for()
