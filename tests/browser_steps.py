"""Steps through `drethtr edit`, for tests in a browser."""

from contextlib import contextmanager
from threading import Thread

from drethtr import Recognizer
from drethtr.cli.serve import address, listener, serving
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.server.app import HERE, make_app


@contextmanager
def served(folder, model, samples=None, access=HERE, lines="projection"):
    """Serve a folder for editing; `samples` is the length of training."""
    recognizer, lines = Recognizer.load(model), segmentation_named(lines)
    with (
        listener("127.0.0.1", 0) as door,
        Workspace.open(folder) as workspace,
        Session(workspace, recognizer, lines, model) as session,
    ):
        if samples:
            session.learner.samples = samples
        server = serving(make_app(recognizer, lines, session=session, access=access), 1)
        thread = Thread(target=server.run, args=([door],))
        thread.start()
        try:
            yield address(door)
        finally:
            server.should_exit = True
            thread.join()


def enter(tab, name):
    """Open a page from the overview."""
    tab.get_by_role("link", name=name).click()
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
