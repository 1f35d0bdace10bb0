"""A small archive with its index, for tests of search."""

from functools import partial

import pytest
from archives import build_index, make_archive

from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import open_index


@pytest.fixture
def archive(tmp_path):
    """A folder of two transcribed pages."""
    return make_archive(tmp_path / "archive")


@pytest.fixture
def recognizer(tiny_path):
    return Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)


@pytest.fixture
def build(archive, recognizer, tmp_path):
    """Index the archive; returns the number of pages read."""
    return partial(build_index, archive, recognizer, tmp_path / "a.sqlite")


@pytest.fixture
def index(build, tmp_path):
    """The open index of the archive."""
    build()
    with open_index(tmp_path / "a.sqlite", threads=2) as opened:
        yield opened
