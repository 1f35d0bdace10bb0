"""Pages and lines as browsers get them."""

import pytest
from edited_folders import put_page, scan
from PIL import Image

from drethtr.editing import Workspace
from drethtr.editing.changes import LineEdit
from drethtr.server.editor.content import page_content


@pytest.fixture
def workspace(tmp_path):
    put_page(tmp_path / "scans", "a")
    with Workspace.open(tmp_path / "scans") as workspace:
        yield workspace


def only_page(workspace):
    [page] = workspace.folder_pages
    return page_content(workspace, page)


def test_a_strip_has_another_address_once_its_scan_is_replaced(workspace):
    before = only_page(workspace)["lines"][0]["strip"]
    assert only_page(workspace)["lines"][0]["strip"] == before
    scan(ink=90).image.save(workspace.folder / "a.png")
    assert only_page(workspace)["lines"][0]["strip"] != before


def test_a_line_that_waits_for_its_reading_shows_what_it_said(workspace):
    [page] = workspace.folder_pages
    was = workspace.opened(page).line("l0")
    workspace.edit_line(page, "l0", was.revision, LineEdit(baseline=((30, 90), (600, 92))))
    line = only_page(workspace)["lines"][0]
    assert (line["text"], line["status"], line["earlier"]) == ("", "unread", was.text)


def test_a_page_that_cannot_be_read_says_why(workspace):
    """A damaged scan is not called XML that is not well-formed."""
    (workspace.folder / "a.page.xml").write_bytes(b"<PcGts")
    assert "not well-formed" in only_page(workspace)["error"]
    Image.new("L", (50, 50), 255).save(workspace.folder / "a.png")
    (workspace.folder / "b.pdf").write_bytes(b"%PDF-1.4 damaged")
    workspace.folder_pages = workspace.pages_now()
    *_, page = workspace.folder_pages
    assert page_content(workspace, page)["error"] == "cannot be read; the PDF is damaged"


def test_a_page_of_a_folder_that_is_gone_says_so(workspace):
    (workspace.folder / "a.page.xml").unlink()
    workspace.folder.rename(workspace.folder.with_name("elsewhere"))
    assert "moved, renamed or deleted" in only_page(workspace)["error"]
