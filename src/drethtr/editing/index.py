"""The index of the folder; pages are read once, for the index and for their own files."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from drethtr.base.errors import DataError, DrethtrError
from drethtr.documents.page import Page
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.scans import source_of
from drethtr.editing.workspace import Workspace
from drethtr.images.straighten import Strip
from drethtr.pages.catalog import Catalog
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original, open_originals
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import Builder, kept_reading, open_builder

PATTERN = "*.drethtr.sqlite"
"""Pattern of the file names of indexes; the first one is used."""

NAME = "archive.drethtr.sqlite"
"""The index that is built, where the folder has none."""

LineRead: TypeAlias = tuple[str, Strip, Reading]
"""A line that was read: its id, its strip and its reading, as `transcribe` passes them to `on_line`."""


def index_of(workspace: Workspace) -> Path | None:
    """The index of the folder, if there is one."""
    return min(workspace.folder.glob(PATTERN), default=None)


class FolderIndex:
    """The index of a folder whose pages are read with a segmentation."""

    def __init__(self, workspace: Workspace, segmentation: Segmentation) -> None:
        self.workspace = workspace
        self.segmentation = segmentation
        self.found: Path | None = None

    @property
    def path(self) -> Path | None:
        """The file of the index, if there is one; once found, it is not searched for again."""
        if self.found is None or not self.found.exists():
            self.found = index_of(self.workspace)
        return self.found

    def with_posteriors(self, recognizer: Recognizer) -> Recognizer:
        """A recognizer that reads the same, and keeps what the index needs.

        Raises:
            ConfigError: if its model has no CTC head.
        """
        return Recognizer(
            recognizer.model,
            recognizer.strategy,
            network=recognizer.network,
            precision=recognizer.precision,
            threads=recognizer.threads,
            doubtful=recognizer.doubtful,
            posteriors=True,
        )

    def for_reading(self, recognizer: Recognizer) -> Recognizer:
        """A recognizer that reads the same; with posteriors, if the folder has an index and the model gives them."""
        possible = recognizer.network.dimensions.steps_per_token is not None
        return self.with_posteriors(recognizer) if possible and self.path is not None else recognizer

    def open(self, recognizer: Recognizer) -> Builder:
        """The index, which is created if there is none, to add what a recognizer reads; others may write between pages.

        Raises:
            DataError: if it is damaged, of another version or model, or being written by another process.
        """
        return open_builder(self.path or self.workspace.folder / NAME, recognizer, self.segmentation, alone=False)

    def renew(self, before: Recognizer, recognizer: Recognizer) -> None:
        """Empty an index made with one recognizer, for the readings of another one; verdicts of people stay.

        One with other settings stays as it is.
        """
        path = self.path
        if path is not None and recognizer.model.identity != before.model.identity:
            with suppress(DrethtrError):
                self.open(before).store.close()
                open_builder(path, self.with_posteriors(recognizer), self.segmentation, rebuild=True).store.close()

    def original_of(self, page: FolderPage) -> tuple[Original, ...]:
        """A page of the folder as the index opens it: its file, else its scan.

        Raises:
            DataError: if neither can be used.
        """
        if page.xml_path.exists():
            return open_originals(page.xml_path, Catalog(images=self.workspace.images))
        return (Original(source_of(page)),)

    def add(self, page: FolderPage, content: Page, recognizer: Recognizer, lines: Sequence[LineRead]) -> None:
        """Add a page that was read, and now has its file.

        Nothing is added if the index has other settings or is being written; whoever updates it reads the page again.
        """
        with suppress(DataError), self.open(recognizer) as builder:
            for original in self.original_of(page):
                for line in lines:
                    builder.on_line(*line)
                builder.put(original.opened(), content)

    def reading(self, page: FolderPage, recognizer: Recognizer) -> bytes | None:
        """The PAGE file of a page without one, as the index has read it with the same settings; None if it has not."""
        path = self.path
        if path is None or page.source is None or page.xml_path.exists():
            return None
        try:
            return kept_reading(path, Original(page.source), recognizer, self.segmentation)
        except DataError:
            return None  # of another model, or damaged, which a search reports
