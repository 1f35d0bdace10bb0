"""`drethtr edit` and `demo`: read and correct a folder of scans in the browser, and fine-tune on it."""

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from secrets import token_urlsafe
from shutil import copyfile
from signal import SIGTERM, default_int_handler, signal
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.cli.options import ReadingOptions, with_reading_options
from drethtr.cli.serve import AllowedHosts, address, listener, serving
from drethtr.editing import Session, Workspace
from drethtr.editing.learner import adopted_in
from drethtr.pages.segmentation import segmentation_named
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.app import make_app
from drethtr.server.guard import Rules, is_loopback

Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]

PATIENCE = 3
"""Seconds to wait for open requests at the end: a browser that listens for events never disconnects."""


@with_reading_options()
def edit(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Folder of scans, including subfolders; default: a sample letter to try."
        ),
    ] = None,
    port: Port = 8010,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on: 127.0.0.1 for this machine only; 0.0.0.0 for anyone with the token.",
        ),
    ] = "127.0.0.1",
    allow_host: AllowedHosts = None,
    no_browser: NoBrowser = False,
    *,
    reading: ReadingOptions,
    lines: Annotated[
        str, typer.Option(metavar="NAME", help="Line segmentation of pages, as in drethtr transcribe.")
    ] = "auto",
) -> None:
    """Correct transcriptions in your browser; they are saved as PAGE XML (or ALTO) beside the scans."""

    def load(path: Path | None) -> Recognizer:
        return replace(reading, model=path).load()

    segmentation = segmentation_named(lines)
    with listener(host, port) as door, chosen_folder(folder) as place, Workspace.open(place) as workspace:
        count_pages(workspace)
        token = None if is_loopback(host) else token_urlsafe(24)
        chosen = reading.model or adopted_in(workspace.folder)
        recognizer = load(chosen)
        with Session(workspace, recognizer, segmentation.finder, chosen, load, reading.device) as session:
            rules = Rules.of(host, frozenset(allow_host or ()), token)
            app = make_app(recognizer, segmentation.finder, session=session, rules=rules)
            where = address(door) + ("" if token is None else f"/?token={token}")
            typer.echo(f"{folder or 'A sample letter'} is open at {where} (stop with Ctrl-C)", err=True)
            session.reader.read_pages()
            if not no_browser:
                Timer(0.5, webbrowser.open, [where]).start()
            signal(SIGTERM, default_int_handler)  # the server raises it again at its end, as it does Ctrl-C
            with suppress(KeyboardInterrupt):
                serving(app, PATIENCE).run([door])


def demo(port: Port = 8010, no_browser: NoBrowser = False) -> None:
    """Try the editor with a sample letter, like drethtr edit without a folder."""
    edit(port=port, no_browser=no_browser)


def count_pages(workspace: Workspace) -> None:
    """Summarize the files of all pages that changed since the last time, which takes a while for large folders."""
    for _ in tqdm(
        workspace.page_summaries(), total=len(workspace.folder_pages), unit="page", leave=False, disable=None
    ):
        pass


@contextmanager
def chosen_folder(folder: Path | None) -> Iterator[Path]:
    """The folder to work in; by default a temporary one with a sample letter."""
    if folder is not None:
        yield folder
        return
    letter = files("drethtr.editing") / "demo" / "letter.jpg"
    with TemporaryDirectory(prefix="drethtr-") as made, as_file(letter) as source:
        copyfile(source, Path(made) / source.name)
        yield Path(made)
