"""The documentation site builds, and every link on it has a target.

Zensical itself checks links between pages and to headings, but neither pictures nor the navigation.
"""

import os
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("zensical")

ROOT = Path(__file__).parents[1]


class Links(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.loaded, self.places = [], [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.targets.append(found["href"])
        elif tag in ("img", "script", "iframe", "source", "link"):
            self.loaded += [found[name] for name in ("src", "href") if found.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "docs/make_site.py", folder]
    environment = {**os.environ, "PYTHONSAFEPATH": ""}  # which a command that ran in this process has set
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site):
    return {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}


def target_of(page, link):
    """The target file of a link on a page."""
    place = page.parent / unquote(urlsplit(link).path) if urlsplit(link).path else page
    return (place / "index.html" if place.is_dir() else place).resolve()


def test_links_lead_somewhere(pages):
    places = {page.resolve(): links.places for page, links in pages.items()}
    for page, links in pages.items():
        for link in links.targets + links.loaded:
            if not urlsplit(link).scheme:
                target, fragment = target_of(page, link), urlsplit(link).fragment
                assert target.is_file(), (page, link)
                assert not fragment or fragment in places[target], (page, link)


def test_nothing_is_loaded_from_elsewhere(pages):
    for page, links in pages.items():
        assert not [link for link in links.loaded if urlsplit(link).scheme not in ("", "data")], page


def test_the_navigation_has_every_page():
    def listed(nav):
        for entry in nav:
            for value in entry.values():
                yield from listed(value) if isinstance(value, list) else [value]

    config = tomllib.loads((ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8"))
    written = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert written <= set(listed(config["project"]["nav"]))


def test_reference_is_made_from_the_code(site):
    commands = (site / "docs" / "reference" / "commands" / "index.html").read_text(encoding="utf-8")
    python = (site / "docs" / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    http = (site / "docs" / "reference" / "http" / "index.html").read_text(encoding="utf-8")
    limits = (site / "docs" / "reference" / "limits" / "index.html").read_text(encoding="utf-8")
    assert "pixels of an image" in limits and "89,000,000" in limits
    assert "drethtr model predict-cer" in commands and "--alternatives" in commands
    assert "read_each" in python and "read_opened" not in python
    assert "nowhere" in python and " at 0x" not in python
    assert "<li><code>threads</code>: Threads to search with" in python
    assert "/openapi.json" in http and "/search" in http
    assert "The upload timed out." in http
