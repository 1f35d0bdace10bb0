"""An index of the results of a batch: the same hits as an index that was made while reading, kept up with the batch."""

import pytest
from bulk_runs import Here, write_shard

from drethtr.base.errors import DataError
from drethtr.bulk.indexing import index_batch
from drethtr.bulk.inputs import Columns
from drethtr.bulk.job import open_job
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import open_index


@pytest.fixture
def batch(tiny_path, tmp_path):
    """Read shards of lines in parts of five; returns the folder of the results."""

    def run(rows, posteriors=True, force=False):
        recognizer = Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=posteriors)
        shard = write_shard(tmp_path / "lines.parquet", range(rows), {3: {"bytes": b"no image", "path": None}})
        job = open_job([shard], str(tmp_path / "out"), recognizer, Columns(), rows_per_part=5, force=force)
        list(job.run(Here(), lambda: recognizer))
        return str(tmp_path / "out")

    return run


def test_rows_are_found_with_their_number_and_box(batch, tmp_path):
    folder = batch(12)
    assert index_batch(folder, tmp_path / "a.sqlite") == (11, 0)
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.size == (3, 11)
        hits = [hit for query in ("a*", "b*", "c*", "?*e") for hit in index.search(query)]
        assert hits and {hit.page.name for hit in hits} == {"lines.parquet"}
        assert {hit.line for hit in hits} <= {f"row {n}" for n in range(12) if n != 3}
        assert all(hit.box.right > hit.box.left and hit.box.bottom > 20 for hit in hits)


def test_only_new_parts_are_added_and_old_ones_go(batch, tmp_path):
    folder = batch(12)
    index_batch(folder, tmp_path / "a.sqlite")
    assert index_batch(folder, tmp_path / "a.sqlite") == (0, 3)
    batch(6, force=True)
    assert index_batch(folder, tmp_path / "a.sqlite").rows < 6
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.size == (2, 5)


def test_results_without_posteriors_are_refused(batch, tmp_path):
    folder = batch(4, posteriors=False)
    with pytest.raises(DataError, match="has no posteriors to search; read with drethtr batch --posteriors"):
        index_batch(folder, tmp_path / "a.sqlite")
    assert not (tmp_path / "a.sqlite").exists()
