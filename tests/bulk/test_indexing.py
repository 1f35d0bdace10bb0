"""An index of the results of a batch: the same hits as an index that was made while reading, kept up with the batch."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_runs import Here, write_shard

from drethtr.base.errors import DataError
from drethtr.bulk.indexing import index_batch
from drethtr.bulk.inputs import Columns
from drethtr.bulk.job import open_job
from drethtr.bulk.output import JOB
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import open_index
from drethtr.search.packed import PackedLines


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
    assert index_batch(folder, tmp_path / "a.sqlite") == 11
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.size == (3, 11)
        hits = [hit for query in ("a*", "b*", "c*", "?*e") for hit in index.search(query)]
        assert hits and {hit.page.name for hit in hits} == {"lines.parquet"}
        assert {hit.line for hit in hits} <= {f"row {n}" for n in range(12) if n != 3}
        assert all(hit.box.right > hit.box.left and hit.box.bottom > 20 for hit in hits)


def test_only_new_parts_are_added_and_old_ones_go(batch, tmp_path):
    folder = batch(12)
    index_batch(folder, tmp_path / "a.sqlite")
    assert index_batch(folder, tmp_path / "a.sqlite") == 0
    batch(6, force=True)
    assert index_batch(folder, tmp_path / "a.sqlite") < 6
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.size == (2, 5)


def test_verdicts_on_rows_are_kept(batch, tmp_path):
    index_batch(batch(12), tmp_path / "a.sqlite")
    with open_index(tmp_path / "a.sqlite") as index:
        first, *_ = index.search("a*")
        index.judge(first, stands=False)
        assert [hit.line for hit in index.search("a*", rejected=True) if not hit.probability] == [first.line]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[1]", "has no settings of a job"),
        ('{"posteriors": true}', "has no setting 'model' of a job"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_settings_of_strangers_are_refused(tmp_path, settings, message):
    (tmp_path / JOB).write_text(settings)
    with pytest.raises(DataError, match=f"{JOB}: {message}"):
        index_batch(str(tmp_path), tmp_path / "a.sqlite")


def changed(name, values):
    return lambda rows: rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), [values])


def grown(rows):
    """A hundred megabytes in a few kilobytes."""
    return changed("posteriors", [bytes(1 << 20)] * 100)(rows.take(pa.array([0] * 100)))


def test_parts_of_strangers_are_refused(batch, tmp_path):
    folder, part = batch(2), tmp_path / "out" / "part-000000.parquet"
    rows, nothing = pq.read_table(part), "has rows that lack columns of drethtr batch"
    for change, message in (
        (grown, "bytes that become more than"),
        (lambda rows: rows.drop_columns(["posteriors"]), "is not a part of a batch with posteriors"),
        (lambda rows: rows.set_column(1, "row", [["one"] * len(rows)]), "is not a part of a batch with posteriors"),
        (changed("row", [None, 1]), nothing),
        (changed("row", [0, 2**63 - 1]), nothing),
        (changed("posteriors", [b"", None]), nothing),
        (changed("posteriors", [b"", b"x"]), "posteriors are damaged"),
        (changed("posteriors", [PackedLines.of([]).content] * 2), "posteriors are damaged"),
        (changed("confidence", [0.5, 1.5]), r"part-000000\.parquet: has confidences that are not probabilities"),
        (changed("confidence", [0.5, float("nan")]), "has confidences that are not probabilities"),
    ):
        pq.write_table(change(rows), part)
        with pytest.raises(DataError, match=message):
            index_batch(folder, tmp_path / "a.sqlite")


def test_results_without_posteriors_are_refused(batch, tmp_path):
    folder = batch(4, posteriors=False)
    with pytest.raises(DataError, match="has no posteriors to search; read with drethtr batch --posteriors"):
        index_batch(folder, tmp_path / "a.sqlite")
    assert not (tmp_path / "a.sqlite").exists()
