"""A small transcribed archive, so that the hits of a search are known."""

import sqlite3
from contextlib import closing

from made_pages import TEXTS, blank, write
from page_examples import document_of

from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.page_xml.writer import write_page_xml
from drethtr.documents.points import Box
from drethtr.documents.transcription import Transcription
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.search.build import open_builder


def put_scan(folder, name, texts):
    """Write a scan with a PAGE file, whose lines have texts without confidences."""
    page = write(blank(700, 400), texts)
    page.image.save(folder / f"{name}.png")
    lines = tuple(
        TextLine(
            f"l{number}",
            Box(*line.box).polygon(),
            ((line.box[0], line.box[3]), (line.box[2], line.box[3])),
            Transcription(line.text),
        )
        for number, line in enumerate(page.lines, start=1)
    )
    described = Page(f"{name}.png", 700, 400, (Region("r1", lines),))
    (folder / f"{name}.xml").write_bytes(write_page_xml(document_of(described)))


def make_archive(folder):
    """Write two pages; on the second, a word is hyphenated at the end of a line."""
    folder.mkdir()
    put_scan(folder, "one", TEXTS[:4])
    put_scan(folder, "two", ["The trea-", "sure is hidden", *TEXTS[4:6]])
    return folder


def build_index(archive, recognizer, path, **options):
    """Index an archive; returns the number of pages read."""
    with open_builder(path, recognizer, segmentation_named("auto"), **options) as builder:
        builder.remove_deleted()
        files = sorted(archive.glob("*.xml"))
        waiting = list(builder.waiting([original for file in files for original in open_originals(file)]))
        for original in waiting:
            builder.read(original)
    return len(waiting)


def contents(path):
    """All rows of an index, except timestamps."""
    with closing(sqlite3.connect(path)) as database:
        pages = database.execute("SELECT id, scan, number, digest, confidences, posteriors FROM pages").fetchall()
        return pages, database.execute("SELECT * FROM lines").fetchall()
