"""Take the screenshot of `drethtr edit` for README.md, with the sample letter; needs Chromium and Playwright."""

import shutil
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from drethtr import Recognizer
from drethtr.cli.serve import address, listener, serving
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.server.app import make_app

ROOT = Path(__file__).parents[1]
SCAN = ROOT / "samples" / "page" / "letter.jpg"
PICTURE = ROOT / "docs" / "images" / "edit.webp"
SIZE = ViewportSize(width=1260, height=740)
QUALITY = 80


def screenshot(site: str, path: Path) -> None:
    """Open the letter, go to a doubtful word, and take a screenshot."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE)
        tab.goto(site)
        tab.get_by_role("link", name=SCAN.name).click()
        tab.locator(".line").nth(13).wait_for(timeout=300_000)
        confirm(tab, 2)
        tab.keyboard.press("F2")
        tab.locator(".choices .word").first.wait_for()
        tab.mouse.move(0, 0)
        tab.locator(".said:empty").wait_for(state="attached")
        Image.open(BytesIO(tab.screenshot())).convert("RGB").save(path, quality=QUALITY)
        browser.close()


def confirm(tab: Page, lines: int) -> None:
    """Confirm the first lines, and wait until they are saved."""
    for _ in range(lines):
        tab.keyboard.press("Control+Enter")
    tab.get_by_text(f"{lines} of 14 confirmed").wait_for()


def main() -> None:
    """Serve a folder with the letter, and take the screenshot."""
    with TemporaryDirectory() as parent:
        folder = Path(parent, "letters")
        folder.mkdir()
        shutil.copy(SCAN, folder)
        recognizer, segmentation = Recognizer.load(), segmentation_named("auto")
        with (
            listener("127.0.0.1", 0) as door,
            Workspace.open(folder) as workspace,
            Session(workspace, recognizer, segmentation) as session,
        ):
            session.reader.read_pages()
            server = serving(make_app(recognizer, segmentation.finder, session=session), 1)
            thread = Thread(target=server.run, args=([door],))
            thread.start()
            screenshot(address(door), PICTURE)
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
