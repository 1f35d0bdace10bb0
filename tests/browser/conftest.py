"""A real browser on a real folder: Chromium, driven by Playwright; without them these tests are skipped."""

import shutil

import pytest
from browser_steps import enter, served
from edited_folders import put_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""As root and without a network."""


@pytest.fixture(scope="module")
def browser():
    """Chromium; it ends with the module, as it keeps an event loop running in which no other can be started."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_tab(browser):
    """Open addresses in new tabs; a script that fails, or a style or script that is refused, fails the test."""
    faults = []
    context = browser.new_context(viewport={"width": 1300, "height": 850})

    def open_tab(url):
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda said: "Content Security Policy" in said.text and faults.append(said.text))
        tab.goto(url)
        return tab

    yield open_tab
    context.close()
    assert not faults


@pytest.fixture
def folder(tmp_path):
    """Two pages that were read; every word of the second is doubtful."""
    put_page(tmp_path / "scans", "a", confidence=0.9)
    put_page(tmp_path / "scans", "b", confidence=0.3)
    return tmp_path / "scans"


@pytest.fixture
def site(folder, tiny_path):
    with served(folder, tiny_path) as site:
        yield site


@pytest.fixture
def tab(site, open_tab):
    """The overview."""
    return open_tab(site)


@pytest.fixture
def page(tab):
    """The first page, with the caret in its first line."""
    return enter(tab, "a.png")
