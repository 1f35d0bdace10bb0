"""A small archive with its index, for tests of search."""

import shutil
from functools import partial

import pytest
from archives import build_index, make_archive

from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import open_index


@pytest.fixture(scope="session")
def indexed(built_file, tmp_path_factory):
    """A folder of two transcribed pages with its index, not to be changed: to read them takes a while."""
    folder = tmp_path_factory.mktemp("indexed")
    model = folder / "tiny.safetensors"
    model.write_bytes(built_file)
    recognizer = Recognizer.load(model, decoder="ctc", threads=1, posteriors=True)
    build_index(make_archive(folder / "archive"), recognizer, folder / "a.sqlite")
    return folder


@pytest.fixture
def archive(indexed, tmp_path):
    """A folder of two transcribed pages."""
    return shutil.copytree(indexed / "archive", tmp_path / "archive")


@pytest.fixture
def recognizer(tiny_path):
    return Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)


@pytest.fixture
def build(archive, recognizer, tmp_path):
    """Index the archive; returns the number of pages read."""
    return partial(build_index, archive, recognizer, tmp_path / "a.sqlite")


@pytest.fixture
def built(indexed, archive, tmp_path):
    """The index of the archive, as `build` makes it."""
    return shutil.copy2(indexed / "a.sqlite", tmp_path / "a.sqlite")


@pytest.fixture
def index(built):
    """The open index of the archive."""
    with open_index(built, threads=2) as opened:
        yield opened
