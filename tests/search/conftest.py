"""A small archive with its index, for tests of searching."""

import pytest
from made_pages import TEXTS, blank, write

from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.page import Box, Page, Region, TextLine, Transcription
from drethtr.documents.writers.page_xml import write_page_xml
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import open_builder
from drethtr.search.index import open_index


def put_scan(folder, name, texts, *, by_a_person=True):
    """A scan with a PAGE file beside it, whose lines have texts; with confidences unless a person wrote them."""
    page = write(blank(700, 400), texts)
    page.image.save(folder / f"{name}.png")
    lines = tuple(
        TextLine(
            f"l{number}",
            Box(*line.box).polygon(),
            ((line.box[0], line.box[3]), (line.box[2], line.box[3])),
            Transcription(line.text, None if by_a_person else 0.5),
        )
        for number, line in enumerate(page.lines, start=1)
    )
    described = Page(f"{name}.png", 700, 400, (Region("r1", lines),))
    document = Document((Sheet(described, Scan(lambda: page.image)),), Provenance.now("test"))
    (folder / f"{name}.xml").write_bytes(write_page_xml(document))
    return page


@pytest.fixture
def archive(tmp_path):
    """A folder of two pages that a person has transcribed."""
    folder = tmp_path / "archive"
    folder.mkdir()
    put_scan(folder, "one", TEXTS[:4])
    put_scan(folder, "two", ["The trea-", "sure is hidden", *TEXTS[4:6]])
    return folder


@pytest.fixture
def recognizer(tiny_path):
    return Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)


@pytest.fixture
def build(archive, recognizer, tmp_path):
    """Index the archive; returns how many pages were read."""

    def run(**options):
        with open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("auto"), **options) as builder:
            builder.remove_deleted()
            waiting = list(builder.waiting([o for path in sorted(archive.glob("*.xml")) for o in open_originals(path)]))
            for original in waiting:
                builder.read(original)
        return len(waiting)

    return run


@pytest.fixture
def index(build, tmp_path):
    """The index of the archive, open."""
    build()
    with open_index(tmp_path / "a.sqlite", threads=2) as opened:
        yield opened
