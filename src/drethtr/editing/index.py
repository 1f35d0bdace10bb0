"""The index of the folder, and how pages that are read for their files get there without being read again."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from drethtr.base.errors import DataError
from drethtr.documents.page import Page
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.workspace import Workspace
from drethtr.images.straighten import Strip
from drethtr.pages.catalog import Catalog
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import Original, open_originals
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import Builder, open_builder

INDEX = "*.drethtr.sqlite"
"""Pattern of the file names of indexes; the first one is used."""

NAME = "archive.drethtr.sqlite"
"""The index that is built, where the folder has none."""


def index_of(workspace: Workspace) -> Path | None:
    """The index of the folder, if there is one."""
    return min(workspace.folder.glob(INDEX), default=None)


def with_posteriors(recognizer: Recognizer) -> Recognizer:
    """A recognizer that reads the same, and keeps what the index needs.

    Raises:
        ConfigError: if its model has no CTC head.
    """
    shared = {**recognizer.shared, "threads": recognizer.threads}
    return Recognizer(recognizer.model, recognizer.strategy, posteriors=True, **shared)


def for_index(workspace: Workspace, recognizer: Recognizer) -> Recognizer:
    """A recognizer that reads the same; with posteriors, if the folder has an index and the model gives them."""
    possible = recognizer.network.dimensions.steps_per_token is not None
    return with_posteriors(recognizer) if possible and index_of(workspace) is not None else recognizer


def open_for_writing(workspace: Workspace, recognizer: Recognizer) -> Builder:
    """The index of the folder, which is created if there is none, to add what a recognizer with posteriors reads.

    Raises:
        DataError: if it is damaged, of another version or model, or being written by another process.
    """
    path = index_of(workspace) or workspace.folder / NAME
    return open_builder(path, recognizer, segmentation_named("auto"))


ReadLine: TypeAlias = tuple[str, Strip, Reading]
"""A line as `transcribe` tells a witness of it."""


def original_of(page: FolderPage, images: Path | None) -> tuple[Original, ...]:
    """A page of the folder as the index knows it: its file, else its scan; nothing if neither is there."""
    if page.xml_path.exists() and (page.source is None or page.xml_path != page.source.path):
        return open_originals(page.xml_path, Catalog(images=images))
    return () if page.source is None else (Original(page.source),)


def add(workspace: Workspace, page: FolderPage, read: Page, recognizer: Recognizer, lines: Sequence[ReadLine]) -> None:
    """Add a page that was read, and now has its file, to the index of the folder.

    Nothing is added if the index has other settings or is being written by another process; whoever updates it later
    reads the page again.
    """
    with suppress(DataError), open_for_writing(workspace, recognizer) as builder:
        for original in original_of(page, workspace.images):
            for line in lines:
                builder.witness(*line)
            builder.put(original.opened(), read)
