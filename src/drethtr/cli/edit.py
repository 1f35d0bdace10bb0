"""`drethtr edit` and `demo`: read and correct a folder of scans in the browser, and fine-tune on it."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from secrets import token_urlsafe
from signal import SIGTERM, default_int_handler, signal
from stat import S_ISREG
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Annotated
from urllib.parse import urlencode

import typer

from drethtr.base.errors import DataError
from drethtr.base.files import write_own
from drethtr.cli.options import ImagesFolder, Lines, OutlinesName, ReadingOptions, with_reading_options
from drethtr.cli.progress import say
from drethtr.cli.screen import echo
from drethtr.cli.serve import AllowedHosts, address, listener, serving
from drethtr.editing import Session, Workspace
from drethtr.editing.journal import ADDRESS, FOLDER
from drethtr.editing.learner import LEARN, adopted_in
from drethtr.pages.catalog import Catalog
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import image_folder, passed_over
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.app import make_app
from drethtr.server.guard import Access, is_loopback
from drethtr.server.ticket import Ticket

Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]
NoToken = Annotated[
    bool,
    typer.Option("--no-token", help="Require no token: only for use behind a proxy that authenticates users."),
]

MIN_TOKEN = 32
"""Characters of a token: 24 random bytes."""

PATIENCE = 3
"""Seconds to wait for open requests at the end."""


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
    no_token: NoToken = False,
    *,
    reading: ReadingOptions,
    lines: Lines = "auto",
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
) -> None:
    """Correct transcriptions in your browser; they are saved as PAGE XML (or ALTO) beside the scans."""

    def load(path: Path | None) -> Recognizer:
        return replace(reading, model=path).load()

    segmentation = segmentation_named(lines, outlines=outlines)
    opened = partial(Workspace.open, outlines=segmentation.outlines, images=image_folder(images))
    with listener(host, port) as door, chosen_folder(folder) as place, opened(place) as workspace:
        for words in passed_over([page.xml_path for page in workspace.folder_pages.values()], Catalog()):
            say(words)
        token = None if no_token else token_of_user() if is_loopback(host) else token_urlsafe(24)
        chosen = reading.model or adopted_in(workspace.folder)
        recognizer = load(chosen)
        with Session(workspace, recognizer, segmentation, chosen, load, reading.device) as session:
            ticket = None if token is None or no_browser else Ticket()
            access = Access.of(host, frozenset(allow_host or ()), token, ticket)
            app = make_app(recognizer, segmentation, session=session, access=access)
            with suppress(DataError):  # a full disk
                write_own(workspace.folder / FOLDER / ADDRESS, address(door))
            page = None if folder else next(iter(workspace.folder_pages))
            where = address(door) + beginning(page, token=token)
            # Everybody on this machine can read the command line of a browser: it shows no token.
            shown = where if ticket is None else address(door) + beginning(page, ticket=ticket.secret)
            signal(SIGTERM, default_int_handler)  # the server raises it again at its end, as it does Ctrl-C
            with suppress(KeyboardInterrupt):
                echo(f"{folder or 'A sample letter'} is open at {where} (stop with Ctrl-C)", err=True)
                session.begin()
                if not no_browser:
                    Timer(0.5, webbrowser.open, [shown]).start()
                serving(app, PATIENCE).run([door])
            kept = "everything is saved" if folder else "the sample letter and your changes to it are deleted"
            unfinished = ", but the model had not finished learning" if session.jobs.running(LEARN) else ""
            echo(f"Stopped; {kept}{unfinished}.", err=True)


def demo(port: Port = 8010, no_browser: NoBrowser = False) -> None:
    """Try the editor with a sample letter, like drethtr edit without a folder."""
    edit(port=port, no_browser=no_browser)


def beginning(page: str | None, **secret: str | None) -> str:
    """The path that a browser opens, with a token or ticket: all pages, or the page of the sample letter with hints."""
    asked = urlencode(({"hints": 1} if page else {}) | {name: value for name, value in secret.items() if value})
    path = "" if page is None else f"/p/{page}"
    return f"{path or '/'}?{asked}" if asked else path


def token_of_user() -> str:
    """The token of this user, from a private file. Loopback needs one too, as all users of the machine can reach it.

    It is the same each time, so that open tabs still work after the program is restarted. For a network it is new each
    time, so that nobody keeps access.
    """
    file = Path(typer.get_app_dir("drethtr")) / "token"
    if (kept := token_in(file)) is not None:
        return kept
    token = token_urlsafe(24)
    with suppress(OSError):  # such as a home that cannot be written
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent) as private:  # so that the file is never there without its token
            new = Path(private) / file.name
            new.write_text(token, encoding="ascii")
            new.chmod(0o600)
            new.replace(file)
    return token


def token_in(file: Path) -> str | None:
    """The token in a file that nobody else can have read or written; None if there is none."""
    try:
        found = file.lstat()
        is_private = sys.platform == "win32" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        token = file.read_text(encoding="ascii") if S_ISREG(found.st_mode) and is_private else ""
    except (OSError, UnicodeDecodeError):
        return None
    return token if len(token) >= MIN_TOKEN else None


@contextmanager
def chosen_folder(folder: Path | None) -> Iterator[Path]:
    """The folder to work in; by default a temporary one with a sample letter."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="drethtr-", ignore_cleanup_errors=True) as made:
        folder = Path(made) / "A sample letter"
        folder.mkdir()
        for file in (files("drethtr.editing") / "demo").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        yield folder
