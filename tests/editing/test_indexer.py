"""A folder is made searchable in the background, and stays so."""

from threading import Event

import pytest
from edited_folders import put_page, scan

from drethtr import Recognizer
from drethtr.editing import Session, Workspace
from drethtr.editing.jobs import State
from drethtr.editing.search import index_of
from drethtr.layout.projection import Projection
from drethtr.search.index import open_index


@pytest.fixture
def opened(tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a")
    scan(2).image.save(tmp_path / "scans" / "b.png")
    recognizer = Recognizer.load(tiny_path, decoder="ctc")
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, recognizer, lambda original: Projection()) as session,
    ):
        yield session


def test_pages_that_are_not_read_are_in_the_index_as_well(opened):
    done = Event()
    job = opened.indexer.start()
    forget = opened.workspace.listen(lambda event: done.set() if job.state.ended else None)
    assert job.state.ended or done.wait(600)
    forget()
    assert job.state is State.DONE, job.error
    assert not opened.indexer.outdated
    with open_index(index_of(opened.workspace)) as index:
        assert index.store.size()[0] == 2
