"""Take the screenshots of `drethtr edit` for the documentation, of made pages; needs Chromium and Playwright."""

import shutil
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright
from served import CHROMIUM, served

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from edited_folders import put_opening

ROOT = Path(__file__).parents[1]
SCAN = ROOT / "samples" / "page" / "letter.jpg"
IMAGES = ROOT / "docs" / "images"
QUALITY = 45
NAME = """localStorage.setItem("drethtr.setting.name", '"Ada"')"""


def letter(tab: Page) -> None:
    """The letter with two confirmed lines and the caret in a doubtful word."""
    tab.get_by_role("link", name=SCAN.name).click()
    tab.locator(".line").nth(13).wait_for()
    for _ in range(2):
        tab.keyboard.press("Control+Enter")
    tab.get_by_text("2 of 14 confirmed").wait_for()
    tab.keyboard.press("F2")
    tab.locator(".choices .word").first.wait_for()
    tab.mouse.move(0, 0)


def opening(tab: Page) -> None:
    """The layout of an opening, cut at its fold."""
    tab.get_by_role("link", name="opening.png").click()
    tab.locator(".text:focus").wait_for()
    tab.keyboard.press("Alt+l")
    tab.get_by_role("button", name="Two pages").click()
    tab.locator(".badge").nth(21).wait_for()
    tab.locator(".row .earlier").first.wait_for(state="detached")
    tab.locator(".row").nth(4).click()
    tab.mouse.move(0, 0)
    tab.get_by_text("Click lines or draw around them").wait_for()


SHOTS: dict[str, tuple[Callable[[Page], None], ViewportSize]] = {
    "edit.webp": (letter, ViewportSize(width=1260, height=740)),
    "edit_layout.webp": (opening, ViewportSize(width=1260, height=700)),
}


def main() -> None:
    """Serve a folder with the two pages, and take a screenshot of each."""
    with TemporaryDirectory() as parent, sync_playwright() as driver:
        folder = Path(parent, "letters")
        put_opening(folder)
        shutil.copy(SCAN, folder)
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with served(folder) as (site, _):
            for name, (show, size) in SHOTS.items():
                tab = browser.new_page(viewport=size)
                tab.add_init_script(NAME)
                tab.goto(site)
                show(tab)
                Image.open(BytesIO(tab.screenshot())).convert("RGB").save(IMAGES / name, quality=QUALITY, method=6)
        browser.close()


if __name__ == "__main__":
    main()
