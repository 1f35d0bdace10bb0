"""Pages of a folder in any format that `drethtr transcribe` writes."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from drethtr.base.config import from_dict, named
from drethtr.base.encoding import json_in
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import is_there, write_own
from drethtr.documents.beside import stem_of_page
from drethtr.documents.document import About, Document, Provenance, Scan, Sheet
from drethtr.documents.formats import FORMATS, ZIP, Format
from drethtr.documents.page import Page
from drethtr.documents.read import first_bytes
from drethtr.editing.folder_pages import FolderPage
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.images.page import PageSource

EDITION = "drethtr.edition.json"
"""The file in a folder with its data as an edition."""

MAX_EDITION = 400_000
"""Its maximum bytes: six texts of the length that requests may have, of characters that JSON escapes."""

SHOWN = 4000
"""Characters of a preview."""

AS_TEXT = {"docx": "md", "word": "prose", "print": "prose"}
"""Formats that a preview shows as another one."""

BEGINS = {"tei": "<text>", "md": "\n\n", "prose": "\n\n"}
"""The string after which the text of a page begins, in formats that first name their program."""


class Exported(NamedTuple):
    """A file to be saved by the browser."""

    name: str
    media: str
    content: bytes


def export(workspace: Workspace, page_ids: Sequence[str], format_name: str, model: str) -> Exported:
    """Some pages as one file: a document if the format holds several pages, else an archive, unless it is one page.

    A page that is exported in the format of its own file is that file, byte by byte. Pages that have not been read, or
    whose files are damaged, are left out, as the preview says.

    Raises:
        ConfigError: if there is no such format.
        Missing: if there is no such page.
        DataError: if no page is left, a scan cannot be used, or what the folder says of itself is damaged.
    """
    format = named("format", format_name, FORMATS)
    chosen, reason = list[FolderPage](), DataError("nothing has been read yet, so there is nothing to export")
    for page in map(workspace.folder_page, page_ids):
        try:
            if workspace.page_files.open(page) is not None:
                chosen.append(page)
        except DataError as error:
            reason = error
    if not chosen:
        raise reason
    if len(chosen) == 1 or format.together:
        stem = archive_path(chosen[0]).rpartition("/")[2] if len(chosen) == 1 else workspace.folder.name
        content = write_pages(workspace, chosen, format_name, model, together=len(chosen) > 1)
        return Exported(f"{stem}{format.ending}", format.media, content)
    files = ((archive_path(page), write_pages(workspace, [page], format_name, model)) for page in chosen)
    return Exported(f"{workspace.folder.name}.{format_name}.zip", ZIP, format.archive(files))


def write_pages(
    workspace: Workspace, pages: Sequence[FolderPage], format_name: str, model: str, *, together: bool = False
) -> bytes:
    """Write pages in a format; one in the format of its file is that file.

    Args:
        together: Whether they are in one document with others, in which images are named with their folders.
    """
    open_pages = [workspace.page_files.open_existing(page) for page in pages]
    if len(pages) == 1 and format_name == open_pages[0].file.dialect.format:
        return open_pages[0].file.data
    format: Format = FORMATS[format_name]
    sheets = (
        Sheet(
            in_folders(page, opened.file.page) if together else opened.file.page,
            scan_of(page),
            None if page.source is None else page.source.number,
            people=workspace.journal.people(page.id),
        )
        for page, opened in zip(pages, open_pages, strict=True)
    )
    return format.write(Document(tuple(sheets), Provenance.now(model), about=about_of(workspace)))


def in_folders(folder_page: FolderPage, page: Page) -> Page:
    """A page whose image is named as seen from the folder: each box of an archive may have an image `0001.jpg`."""
    return replace(page, image=str(PurePosixPath(folder_page.name).parent / page.image)) if page.image else page


class Preview(NamedTuple):
    """What an export will hold.

    text       the beginning of the first page that has lines, in the format; None if it is no text
    page       the id of that page, None if there is none
    lines      the number of lines, `confirmed` how many of them are
    left_out   the names of pages that are left out, with the reason
    """

    text: str | None
    page: str | None
    lines: int
    confirmed: int
    left_out: list[tuple[str, str]]


def preview(workspace: Workspace, page_ids: Sequence[str], format_name: str, model: str) -> Preview:
    """What an export of some pages will hold.

    Raises:
        ConfigError: if there is no such format.
        Missing: if there is no such page.
        DataError: if a scan cannot be used, or what the folder says of itself is damaged.
    """
    format = named("format", format_name, FORMATS)
    chosen, left_out, confirmed = list[tuple[FolderPage, int]](), list[tuple[str, str]](), 0
    for page in map(workspace.folder_page, page_ids):
        try:
            opened = workspace.page_files.open(page)
        except DataError as error:
            left_out.append((page.name, workspace.without_private_paths(error)))
            continue
        if opened is None:
            left_out.append((page.name, workspace.error_of(page.id, page.error) or "not read yet"))
            continue
        chosen.append((page, len(opened.file.page.lines)))
        confirmed += sum(opened.status(line) is Status.CONFIRMED for line in opened.file.page.lines)
    text, (first, _) = None, max(chosen, key=lambda one: one[1] > 0, default=(None, 0))
    if first is not None and (format.printed or format_name in AS_TEXT):
        shown = AS_TEXT.get(format_name, format_name)
        together = format.together and len(chosen) > 1
        content = write_pages(workspace, [first], shown, model, together=together)
        text = content.decode("utf-8", "replace").lstrip("\ufeff")
        text = text[max(0, text.find(BEGINS.get(shown, ""))) :].lstrip()[:SHOWN]
    return Preview(text, None if first is None else first.id, sum(lines for _, lines in chosen), confirmed, left_out)


def about_of(workspace: Workspace) -> About:
    """The folder's data as an edition; empty if none were entered.

    Raises:
        DataError: if its file cannot be read, or is damaged.
    """
    path = workspace.folder / EDITION
    if not is_there(path):
        return About()
    try:
        return from_dict(About, json_in(first_bytes(path, MAX_EDITION)))
    except (ValueError, RecursionError, ConfigError) as error:
        raise DataError(f"damaged: {error}; correct it, or remove it and type its texts again", path) from error


def keep_about(workspace: Workspace, about: About) -> None:
    """Store the folder's data as an edition.

    Raises:
        DataError: if it cannot be written, or its file is damaged or a link.
    """
    about_of(workspace)  # refuse to replace a damaged file, as it holds what people typed
    write_own(workspace.folder / EDITION, json.dumps(asdict(about), ensure_ascii=False, indent=1))


def scan_of(page: FolderPage) -> Scan:
    """The scan of a page for writers; formats that show it fail without one."""
    source = page.source
    if source is None:
        return Scan(PageSource(page.xml_path).image)
    alone = source.pages == 1 and source.path.suffix.lower() != ".pdf"
    return Scan(source.image, source.path if alone else None)


def archive_path(page: FolderPage) -> str:
    """The name of a page in an archive, as `drethtr transcribe` gives it: its folders and stem, and its number."""
    source = page.source
    if source is None:
        return page.name
    stem = page.name if source.pages == 1 else page.name.removesuffix(f" page {source.number}")
    stem = stem[: len(stem) - len(source.path.suffix)]
    return stem_of_page(stem, source)
