"""A real browser on a real folder: Chromium with Playwright; without them, these tests are skipped."""

import shutil

import pytest
from browser_steps import address_of, arrived, served
from edited_folders import put_page

PROGRAMS = "chromium-headless-shell", "chromium", "chromium-browser"
"""The first needs two thirds of the processor time of the others."""

CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Flags for running as root without a network."""


@pytest.fixture(scope="module")
def browser():
    """Chromium for one module, since its event loop keeps others from starting."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_tab(browser):
    """Open URLs in new tabs; script errors and violations of the content security policy fail the test."""
    faults, contexts = [], []

    def new_context():
        # Only the headless shell needs to be told that a page may fill the clipboard.
        contexts.append(browser.new_context(viewport={"width": 1300, "height": 850}, permissions=["clipboard-write"]))
        return contexts[-1]

    context = new_context()

    def open_tab(url, apart=False, script=""):
        """Tabs `apart` share no cookies and no storage with others; a script runs before those of the page."""
        tab = (new_context() if apart else context).new_page()
        if script:
            tab.add_init_script(script)
        tab.set_default_timeout(60_000)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda said: "Content Security Policy" in said.text and faults.append(said.text))
        tab.goto(url)
        return tab

    yield open_tab
    for each in contexts:
        each.close()
    assert not faults


@pytest.fixture
def folder(tmp_path):
    """A folder of two pages that were read; every word of the second is doubtful."""
    put_page(tmp_path / "scans", "a", confidence=0.9)
    put_page(tmp_path / "scans", "b", confidence=0.3)
    return tmp_path / "scans"


@pytest.fixture
def site(folder, tiny_path):
    with served(folder, tiny_path) as site:
        yield site


@pytest.fixture
def tab(site, open_tab):
    """A tab with the overview."""
    return open_tab(site)


@pytest.fixture
def page(site, open_tab):
    """A tab with the first page, and the caret in its first line."""
    return arrived(open_tab(address_of(site, "a.png")))
