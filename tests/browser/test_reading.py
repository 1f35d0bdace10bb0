"""Pages are read when a person asks for it."""

from browser_steps import enter, served, text_of, texts
from edited_folders import scan
from made_pages import TEXTS
from page_examples import document_of, register_page
from PIL import Image

from drethtr import Recognizer
from drethtr.documents.formats import FORMATS
from drethtr.editing import Workspace
from drethtr.editing.journal import FOLDER
from drethtr.editing.reader import AGAIN
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import load_model, save_record


def test_pages_that_were_not_read_can_be(folder, tiny_path, open_tab):
    for name in ("c.png", "d.png"):
        scan(2).image.save(folder / name)
    with Workspace.open(folder) as workspace:
        (folder / FOLDER / AGAIN).write_text(next(iter(workspace.folder_pages)))
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_text("2 pages not read, 1 page to be read again").wait_for()
        tab.get_by_role("link", name="c.png").click()
        tab.get_by_role("button", name="Read this page").click()
        tab.locator(".line").first.wait_for()
        tab.get_by_role("link", name="All pages").click()
        tab.get_by_text("1 page not read").wait_for()
        tab.get_by_role("button", name="Read", exact=True).click()
        tab.locator(".card[data-status=unread]").wait_for(state="detached")
        tab.locator(".reading").wait_for(state="detached")
        assert len(list(folder.glob("*.page.xml"))) == 4


def test_a_page_whose_layout_is_doubtful_leads_to_it_until_it_is_confirmed(folder, tiny_path, open_tab):
    page = register_page()
    Image.new("L", (page.width, page.height), 230).save(folder / page.image)
    (folder / "register.page.xml").write_bytes(FORMATS["page"].write(document_of(page)))
    with served(folder, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("button", name="Layout doubtful 1").click()
        enter(tab, page.image)
        tab.get_by_role("note").get_by_role("link", name="Layout").click()
        tab.locator(".badge").first.wait_for()
        tab.keyboard.press("Alt+l")
        tab.get_by_role("button", name="Confirm page").click()
        tab.get_by_role("note").wait_for(state="detached")
        tab.get_by_role("link", name="All pages").click()
        tab.get_by_role("button", name="Layout doubtful 0").wait_for()


def test_a_page_in_an_unknown_hand_says_so_once(folder, tiny_path, open_tab, tmp_path, monkeypatch):
    """Of the two pages, every word of the second is doubtful."""
    monkeypatch.setattr("drethtr.recognition.confidence.error_rate.MIN_LINES", 4)
    rate = ErrorRate(Recognizer.load(tiny_path).strategy, factor=1.0, spread=0.1, noise=2.0, sets=10, inherited=True)
    record, model = CalibrationRecord(error_rates=(rate,)), tmp_path / "doubting.safetensors"
    save_record(tiny_path, record, model, of=load_model(tiny_path))
    with served(folder, model) as site:
        tab = open_tab(site)
        tab.get_by_text("Unknown hand").wait_for()
        cards = tab.locator(".card")
        assert ["Unknown hand" in text for text in cards.all_inner_texts()] == [False, True]
        assert "of characters, estimated" in cards.first.inner_text()
        enter(tab, "b.png")
        assert "confirm about 60 lines of it, then choose Learn" in tab.get_by_role("note").inner_text()
        tab.get_by_role("link", name="All pages").click()
        enter(tab, "a.png")
        assert not tab.get_by_role("note").count()


def test_a_job_that_fails_or_cannot_be_stopped_says_why(tab):
    shown = {"done": 0, "total": 2, "seconds_left": None, "message": "", "result": None}
    reading = {**shown, "id": "2", "kind": "read", "state": "running", "error": None}
    failed = {**shown, "id": "1", "kind": "index", "state": "failed", "error": "the disk is full"}

    def tell(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "jobs": [reading, failed]})

    tab.route("**/api/status", tell)
    tab.reload()
    tab.get_by_text("The index is not up to date: the disk is full").wait_for()
    tab.get_by_role("button", name="Stop").click()
    tab.get_by_text("There is no such job").wait_for()


def test_a_key_that_led_to_a_page_without_lines_moves_nothing_on_later_pages(folder, tiny_path, open_tab):
    scan(2).image.save(folder / "c.png")
    with served(folder, tiny_path) as site:
        page = enter(open_tab(site), "b.png")
        text_of(page, 4).click()
        page.keyboard.press("End")
        page.keyboard.press("F2")
        page.keyboard.press("F2")
        page.get_by_text("This page has not been read yet").wait_for()
        page.get_by_role("link", name="All pages").click()
        enter(page, "b.png")
        page.keyboard.type("Oh ")
        assert texts(page)[0] == f"Oh {TEXTS[0]}"
