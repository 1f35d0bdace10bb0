"""Learning from confirmed lines, as the page shows it."""

import pytest
from browser_steps import served
from edited_folders import put_page

from drethtr.documents.transcription import Review
from drethtr.editing import Workspace
from drethtr.editing.changes import LineEdit

PAGES = 7


@pytest.fixture
def confirmed(tmp_path):
    folder = tmp_path / "many"
    for number in range(PAGES):
        put_page(folder, f"p{number}", ink=10 * number)
    with Workspace.open(folder) as workspace:
        for row in workspace.pages():
            for line in workspace.opened(row["id"]).lines:
                workspace.edit_line(row["id"], line.id, line.revision, LineEdit(status=Review.CONFIRMED))
    return folder


def test_what_is_missing_is_said(tab):
    tab.get_by_role("button", name="Learn").click()
    tab.get_by_text("Not yet: learning needs 25 confirmed lines; confirm 25 more.").wait_for()


def test_a_missing_package_is_said_before_the_first_line_is_confirmed(tab, monkeypatch):
    monkeypatch.setattr("drethtr.editing.learner.NEEDED", ("no_such_package",))
    tab.reload()
    tab.get_by_role("button", name="Learn").click()
    tab.get_by_text("pip install 'drethtr[train]'").wait_for()


def test_the_gain_is_shown_before_the_model_is_used(confirmed, tiny_path, open_tab):
    with served(confirmed, tiny_path, samples=32) as site:
        tab = open_tab(site)
        tab.get_by_role("button", name="Learn").click()
        tab.get_by_role("button", name="Learn from 28 confirmed lines").click()
        tab.get_by_role("progressbar", name="Progress of learning").wait_for()
        tab.locator(".gain, dialog [role=alert]").wait_for(timeout=300_000)
        assert not tab.locator("dialog [role=alert]").all_inner_texts()
        assert not list(confirmed.glob("*.safetensors"))
        tab.get_by_role("button", name="Adopt").click()
        tab.get_by_text("pass it to any command as --model").wait_for()
        assert len(list(confirmed.glob("*.safetensors"))) == 1
