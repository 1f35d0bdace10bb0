"""Pages of a folder in any format that `drethtr transcribe` writes."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.formats import FORMATS, Format
from drethtr.editing.leaves import Leaf
from drethtr.editing.workspace import Workspace
from drethtr.images.page import PageSource

ZIP = "application/zip"


class Exported(NamedTuple):
    """A file to be saved by the browser."""

    name: str
    media: str
    content: bytes


def export(workspace: Workspace, pages: Sequence[str], format_name: str, model: str) -> Exported:
    """Some pages as one file: a document if the format holds several pages, else an archive, unless it is one page.

    A page that is exported in the format of its own file is that file, byte by byte.

    Raises:
        ConfigError: if there is no such format.
        Missing: if there is no such page.
        DataError: if a page has not been read, or its file or scan cannot be used.
    """
    format = named("format", format_name, FORMATS)
    leaves = [leaf for page in pages if workspace.truths.of(leaf := workspace.leaf(page)) is not None]
    if not leaves:
        raise DataError("nothing has been read yet, so there is nothing to export")
    if len(leaves) == 1:
        return Exported(
            f"{stem_of(leaves[0])}{format.ending}", format.media, written(workspace, leaves, format_name, model)
        )
    if format.together:
        content = written(workspace, leaves, format_name, model)
        return Exported(f"{workspace.folder.name}{format.ending}", format.media, content)
    archive = BytesIO()
    with ZipFile(archive, "w", ZIP_DEFLATED) as file:
        for leaf in leaves:
            file.writestr(f"{leaf_path(leaf)}{format.ending}", written(workspace, [leaf], format_name, model))
    return Exported(f"{workspace.folder.name}.{format_name}.zip", ZIP, archive.getvalue())


def written(workspace: Workspace, leaves: Sequence[Leaf], format_name: str, model: str) -> bytes:
    """Pages in a format."""
    truths = [workspace.truths.existing(leaf) for leaf in leaves]
    if len(leaves) == 1 and format_name == truths[0].file.dialect.format:
        return truths[0].file.data
    format: Format = FORMATS[format_name]
    sheets = (
        Sheet(truth.file.page, scan_of(leaf), leaf.source.number if leaf.source is not None else None)
        for leaf, truth in zip(leaves, truths, strict=True)
    )
    return format.write(Document(tuple(sheets), Provenance.now(model)))


def scan_of(leaf: Leaf) -> Scan:
    """The scan of a page for writers; formats that show it fail without one."""
    source = leaf.source
    if source is None:
        return Scan(PageSource(leaf.truth).image)
    alone = source.pages == 1 and source.path.suffix.lower() != ".pdf"
    return Scan(source.image, source.path if alone else None)


def leaf_path(leaf: Leaf) -> str:
    """The name of a page in an archive: its folders, and its own name without the ending."""
    name = leaf.name.replace(" page ", "_")
    return (
        name
        if leaf.source is None
        else f"{name[: len(name) - len(leaf.source.path.suffix)]}"
        if leaf.source.pages == 1
        else name
    )


def stem_of(leaf: Leaf) -> str:
    """The name of a page without folders."""
    return leaf_path(leaf).rpartition("/")[2]
