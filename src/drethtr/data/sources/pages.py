"""Samples from PAGE XML or ALTO: the lines of a page that have a text, cut from its image."""

from dataclasses import replace
from pathlib import Path

from drethtr.data.importers.importer import LeftOut
from drethtr.data.importers.pages import is_page, lines_of, page_name
from drethtr.data.sample import Sample
from drethtr.errors import DataError
from drethtr.text.normalize import Spelling, nfc


def read_page_lines(path: Path, spelling: Spelling = nfc) -> list[Sample]:
    """One sample per line with text, in reading order; the set is the folder's name.

    Raises:
        DataError: if the file is no page, its image is missing, or a line with text cannot be cut from it.
    """
    samples = []
    for found in lines_of(path, empty=False):
        if isinstance(found, LeftOut):
            raise DataError(f"{found.key}: {found.reason}")
        collection, page = path.resolve().parent.name, page_name(path, path)
        samples.append(replace(found, text=spelling(found.text), set=collection, page=page))
    return samples


def page_files(folder: Path) -> list[Path]:
    """The PAGE and ALTO files of a folder, sorted."""
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() == ".xml" and is_page(path)]
