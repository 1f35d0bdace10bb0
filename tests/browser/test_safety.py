"""Nothing that was typed is lost: two tabs, a server that dies, a file that another program changes."""

import subprocess
import sys

from browser_steps import enter, served, text_of, texts, wait_until_saved
from made_pages import TEXTS
from waiting import until

from drethtr.base import files
from drethtr.base.version import __version__
from drethtr.documents.read import read_page
from drethtr.editing import journal, session


def first_line(folder):
    return read_page(folder / "a.page.xml").lines[0].transcription.text


def test_two_tabs_in_conflict_show_both_texts(page, open_tab, folder):
    page.route("**/api/pages/*", lambda route: route.abort())  # this tab does not hear of the other one
    other = open_tab(page.url)
    other.locator(".text:focus").wait_for()
    other.keyboard.press("Home")
    other.keyboard.type("Other ")
    other.keyboard.press("Enter")
    wait_until_saved(other)
    page.bring_to_front()
    page.keyboard.press("Home")
    page.keyboard.type("Mine ")
    page.keyboard.press("Enter")
    conflict = page.locator(".conflict")
    conflict.wait_for()
    assert conflict.locator(".side").all_inner_texts() == [f"Mine {TEXTS[0]}", f"Other {TEXTS[0]}"]
    assert first_line(folder) == f"Other {TEXTS[0]}"
    page.get_by_role("button", name="Keep mine").click()
    wait_until_saved(page)
    assert first_line(folder) == f"Mine {TEXTS[0]}"


def test_a_file_changed_outside_is_shown(page, folder):
    path = folder / "a.page.xml"
    path.write_bytes(path.read_bytes().replace(TEXTS[1].encode(), b"From elsewhere"))
    page.locator(".text", has_text="From elsewhere").wait_for()
    assert texts(page)[0] == TEXTS[0]


def test_the_bar_says_why_nothing_is_saved(page, folder):
    (folder / "a.page.xml").chmod(0o444)
    page.keyboard.type("Kept ")
    page.keyboard.press("Enter")
    page.locator(".saved", has_text="Not saved").filter(
        has_text="a.page.xml: cannot be written: it is write-"
    ).wait_for()
    (folder / "a.page.xml").chmod(0o644)
    wait_until_saved(page)
    assert page.locator(".saved").inner_text() == "Saved" and first_line(folder).startswith("Kept ")


def test_a_long_message_stays_long_enough_to_be_read(page, folder):
    (folder / "a.page.xml").chmod(0o444)
    page.clock.install()
    page.keyboard.press("Alt+l")
    page.locator(".row[aria-selected=true]").wait_for()
    page.keyboard.press("Delete")
    told = page.locator(".notice-bar", has_text="a.page.xml: cannot be written")
    told.wait_for()
    page.clock.run_for(9_000)
    assert told.is_visible()
    page.clock.run_for(10_000)
    told.wait_for(state="detached")


def test_the_bar_says_why_there_is_no_history(folder, tiny_path, open_tab, monkeypatch):
    def read_only(path, opened=journal.opened):
        database = opened(path)
        database.execute("PRAGMA query_only = ON")
        return database

    monkeypatch.setattr(journal, "opened", read_only)
    with served(folder, tiny_path) as site:
        page = enter(open_tab(site), "a.png")
        page.keyboard.type("Kept ")
        page.keyboard.press("Enter")
        page.get_by_text("Saved, but the history cannot be written: attempt to write a readonly database").wait_for()
        assert first_line(folder).startswith("Kept ")


def test_the_bar_says_that_the_disk_has_not_confirmed_a_save(folder, tiny_path, open_tab, monkeypatch):
    def flush_files(path, flush=files.flush):
        if path.is_dir():
            raise OSError(5, "Input/output error")
        flush(path)

    with served(folder, tiny_path) as site:
        page = enter(open_tab(site), "a.png")
        monkeypatch.setattr(files, "flush", flush_files)
        page.keyboard.type("Kept ")
        page.keyboard.press("Enter")
        page.get_by_text("Saved; a.png was written, but the disk does not confirm it: Input/output error").wait_for()
        assert first_line(folder).startswith("Kept ")


def test_a_tab_of_an_earlier_version_asks_to_be_reloaded(page, monkeypatch):
    monkeypatch.setattr(session, "__version__", "9.9")
    page.keyboard.press("Home")
    page.keyboard.type("Kept ")
    page.keyboard.press("Enter")
    told = page.get_by_text(f"The server now runs drethtr 9.9, this tab {__version__}: reload the tab once")
    told.wait_for()
    wait_until_saved(page)
    page.reload()
    text_of(page, 1).filter(has_text="Kept ").wait_for()
    assert not told.count()


def test_undo_takes_back_nothing_older_than_a_text_that_cannot_be_saved(page, folder):
    page.keyboard.press("Home")
    page.keyboard.type("First ")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.route("**/lines/*", lambda route: route.abort())
    page.keyboard.press("Home")
    page.keyboard.type("Second ")
    page.locator(".saved[data-state=unsaved]").wait_for()
    for place in (".badge", ".text:focus"):
        page.keyboard.press("Alt+l")
        page.locator(place).first.wait_for()
        page.get_by_role("button", name="Export").focus()
        page.keyboard.press("Control+z")
        told = "Undo and redo wait until your text is saved. The server does not respond"
        page.locator(".said, .notice-bar", has_text=told).wait_for()
    assert first_line(folder).startswith("First ") and text_of(page, 2).inner_text().startswith("Second ")
    page.unroute("**/lines/*")
    page.keyboard.press("Control+z")
    page.get_by_text("Undone.").wait_for()
    assert first_line(folder).startswith("First ") and text_of(page, 2).inner_text() == TEXTS[1]


def start(folder, model, port):
    """Start the command; the token is the same each time, so that open tabs go on."""
    command = [sys.executable, "-m", "drethtr", "edit", str(folder), "--no-browser", "--lines", "projection"]
    process = subprocess.Popen([*command, "--port", port, "--model", str(model)], stderr=subprocess.PIPE, text=True)
    said = next(row for row in process.stderr if " is open at " in row)
    return process, said.split(" is open at ")[1].split()[0]


def test_a_server_killed_in_mid_edit_and_started_again_gets_the_text(folder, tiny_path, open_tab):
    process, site = start(folder, tiny_path, "0")
    try:
        page = enter(open_tab(site), "a.png")
        process.kill()
        process.communicate()
        page.keyboard.press("Home")
        page.keyboard.type("Kept ")
        page.keyboard.press("Enter")
        page.get_by_text("your changes are kept in this browser").wait_for()
        assert first_line(folder) == TEXTS[0]
        process, _ = start(folder, tiny_path, site.partition("/?")[0].rpartition(":")[2])
        wait_until_saved(page)
        assert first_line(folder) == f"Kept {TEXTS[0]}" and texts(page)[0] == f"Kept {TEXTS[0]}"
    finally:
        process.kill()
        process.communicate()


def test_text_of_a_closed_tab_is_saved_when_its_page_is_opened_again(folder, tiny_path, open_tab):
    with served(folder, tiny_path) as site:
        page = enter(open_tab(site), "a.png")
        address = page.url
        page.context.set_offline(True)
        page.keyboard.press("Home")
        page.keyboard.type("Late ")
        page.close()
        assert first_line(folder) == TEXTS[0]
        again = open_tab("about:blank")
        again.context.set_offline(False)
        again.goto(address)
        text_of(again, 1).filter(has_text="Late ").wait_for()
        wait_until_saved(again)
        assert first_line(folder) == f"Late {TEXTS[0]}"


def test_what_was_typed_just_before_a_tab_is_left_is_saved(page, folder):
    page.keyboard.press("Home")
    page.keyboard.type("Last ")
    page.goto("about:blank")
    until(lambda: first_line(folder) == f"Last {TEXTS[0]}")


def test_text_stays_while_the_scan_is_broken_and_is_saved_when_it_is_back(page, folder):
    scan = (folder / "a.png").read_bytes()
    (folder / "a.png").write_bytes(b"broken")
    page.keyboard.press("Home")
    page.keyboard.type("Kept ")
    page.keyboard.press("Enter")
    told = page.locator(".saved", has_text="Not saved, kept in this browser. a.png: not an image")
    told.wait_for()
    page.reload()
    told.wait_for()
    (folder / "a.png").write_bytes(scan)
    page.reload()
    wait_until_saved(page)
    assert first_line(folder) == texts(page)[0] == f"Kept {TEXTS[0]}"


def test_a_folder_that_was_renamed_is_told_and_gets_the_text_when_it_is_back(page, folder):
    folder.rename(folder.with_name("elsewhere"))
    page.get_by_text("the folder was moved, renamed or deleted").wait_for()
    page.keyboard.press("Home")
    page.keyboard.type("Kept ")
    page.keyboard.press("Enter")
    page.locator(".saved", has_text="Not saved, kept in this browser").wait_for()
    page.get_by_role("link", name="All pages").click()
    page.get_by_text("put it back, or start drethtr edit where it is now").wait_for()
    page.go_back()
    folder.with_name("elsewhere").rename(folder)
    page.reload()
    wait_until_saved(page)
    assert first_line(folder) == f"Kept {TEXTS[0]}"


def test_a_scan_that_was_moved_is_told_and_its_page_goes_on_when_it_is_back(page, folder):
    scan = folder / "a.png"
    scan.rename(folder.parent / "a.png")
    page.locator(".written .flag", has_text="its scan may have been moved or renamed").wait_for()
    page.keyboard.press("Home")
    page.keyboard.type("Kept ")
    page.keyboard.press("Enter")
    page.locator(".saved", has_text="its scan may have been moved or renamed").wait_for()
    (folder.parent / "a.png").rename(scan)
    wait_until_saved(page)
    page.locator(".written .flag").wait_for(state="detached")
    assert first_line(folder) == texts(page)[0] == f"Kept {TEXTS[0]}"


def test_from_a_page_that_is_not_there_a_link_leads_to_all_pages(tab):
    tab.goto(f"{tab.url}p/gone")
    tab.get_by_role("link", name="All pages", exact=True).click()
    tab.get_by_role("link", name="a.png").wait_for()
