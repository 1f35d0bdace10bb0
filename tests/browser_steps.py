"""Steps through `drethtr edit`, for tests in a browser."""

import json
from contextlib import contextmanager
from threading import Thread
from urllib.request import urlopen

from drethtr import Recognizer
from drethtr.cli.serve import address, listener, serving
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.server.app import HERE, make_app


@contextmanager
def served(folder, model, access=HERE, lines="projection"):
    """Serve a folder for editing."""
    recognizer, lines = Recognizer.load(model), segmentation_named(lines)
    with (
        listener("127.0.0.1", 0) as door,
        Workspace.open(folder) as workspace,
        Session(workspace, recognizer, lines, model) as session,
    ):
        server = serving(make_app(recognizer, lines, session=session, access=access), 1)
        thread = Thread(target=server.run, args=([door],))
        thread.start()
        try:
            yield address(door)
        finally:
            server.should_exit = True
            thread.join()


def address_of(site, name):
    """The address of a page, so that a browser need not show the overview first."""
    with urlopen(f"{site}/api/pages") as answer:
        return next(f"{site}/p/{row['id']}" for row in json.load(answer) if row["name"] == name)


def enter(tab, name):
    """Open a page from the overview."""
    tab.get_by_role("link", name=name).click()
    return arrived(tab)


def arrived(tab):
    """Wait until a page is there, with the caret in its first line."""
    tab.locator(".line").first.wait_for()
    tab.locator(".text:focus").wait_for()
    return tab


def texts(tab):
    """The texts of the displayed lines."""
    return tab.locator(".line .text").all_inner_texts()


def text_of(tab, number):
    """The text of a line, counted from 1."""
    return tab.locator(".line .text").nth(number - 1)


def wait_until_saved(tab):
    """Wait until the page reports that everything is saved."""
    tab.locator(".saved[data-state=saved]").wait_for()
