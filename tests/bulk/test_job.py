"""One output row for one input row, whatever the input is like and however often the job is begun."""

import errno
import json
import os
import sys
from functools import partial
from itertools import count
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_runs import Here, line, quarantine, table, write_shard
from conftest import written
from PIL import Image

from drethtr import Recognizer, __version__
from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.bulk import inputs
from drethtr.bulk.inputs import Columns, ImageRows, ParquetRows, make_plan
from drethtr.bulk.job import open_job
from drethtr.bulk.output import JOB, Output
from drethtr.bulk.worker import PartReader
from drethtr.recognition.decoding.strategies import Greedy


@pytest.fixture
def read(tiny_path, tmp_path):
    """Read inputs into the folder `out`; the outcomes."""

    def run(*inputs, column="", carry=(), decoder=None, **options):
        load = partial(Recognizer.load, tiny_path, decoder=decoder)
        job = open_job(list(map(str, inputs)), str(tmp_path / "out"), load(), Columns(column, carry), **options)
        return list(job.run(Here(), load))

    return run


def test_every_row_is_read_as_by_itself(read, tiny_path, tmp_path, monkeypatch):
    """Over parts, row groups, batches and an empty file: the same as at once, in order, with its place."""
    monkeypatch.setitem(Recognizer.read_opened.__kwdefaults__, "together", 4)
    monkeypatch.setattr(inputs, "FETCHED", 3)
    first = write_shard(tmp_path / "a.parquet", range(23))
    write_shard(tmp_path / "b.parquet", [])
    last = write_shard(tmp_path / "c.parquet", range(23, 28))
    outcomes = read(tmp_path / "*.parquet", rows_per_part=10)
    assert [(outcome.rows, outcome.bad, outcome.failure) for outcome in outcomes] == [
        (10, 0, ""), (10, 0, ""), (3, 0, ""), (5, 0, ""),
    ]  # fmt: skip
    recognizer, found = Recognizer.load(tiny_path), table(tmp_path / "out")
    assert [(row["input"], row["row"]) for row in found] == [(first, n) for n in range(23)] + [
        (last, n) for n in range(5)
    ]
    for row, reading in zip(found, recognizer.read([line(number) for number in range(28)]), strict=True):
        assert (row["text"], row["error"], row["calibrated"]) == (reading.text, None, reading.calibrated)
        assert row["confidence"] == pytest.approx(reading.confidence, abs=1e-4)
        assert [(flag["kind"], flag["reason"]) for flag in row["flags"]] == [(f.kind, f.reason) for f in reading.flags]
        assert (row["model"], row["drethtr"]) == (recognizer.model.hash, __version__)
    assert len({row["text"] for row in found}) > 5, "all lines alike would prove nothing"


def test_a_part_reads_no_further_than_its_rows(tmp_path):
    """What follows in its row group may even be damaged."""
    path = tmp_path / "a.parquet"
    images = [b"%04d" % number * 500 for number in range(3000)]
    pages = {"data_page_size": 20_000, "write_batch_size": 8, "use_dictionary": False, "compression": "none"}
    pq.write_table(pa.table({"image": images}), path, row_group_size=3000, **pages)
    content = path.read_bytes()
    place = content.index(images[2900])
    path.write_bytes(content[:place] + bytes(150_000) + content[place + 150_000 :])
    parts = list(make_plan([str(path)], Columns()).cut(1000))
    assert [row.image for row in parts[1].rows.read()] == images[1000:2000]
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        list(parts[2].rows.read())


def test_row_groups_that_are_read_again_and_again_are_named(tmp_path):
    short, long, longer = (
        write_shard(tmp_path / f"{name}.parquet", range(23), group=group)
        for name, group in (("a", 20), ("b", 21), ("c", 23))
    )
    assert make_plan([short], Columns()).caution(2) == ""
    assert make_plan([long], Columns()).caution(2).startswith(f"{long}: a row group has 21 rows; every part of 2 rows")
    told = make_plan([short, long, longer], Columns()).caution(2)
    assert told.startswith(f"{longer}: a row group has 23 rows (other such files: 1); every part of 2 rows")


def test_encoded_images_are_not_kept_beside_their_pixels(tiny_model, tmp_path, monkeypatch):
    pq.write_table(pa.table({"image": [b"", line(1), line(2)]}), tmp_path / "a.parquet")
    [part] = make_plan([str(tmp_path / "a.parquet")], Columns()).cut(3)
    recognizer, asked = Recognizer(tiny_model), []
    monkeypatch.setattr(recognizer, "read_opened", lambda lines: asked.extend(lines) or [])
    PartReader(recognizer, Output(str(tmp_path), pa.schema([])), None).read(part)
    (_, empty), *others = asked
    assert isinstance(empty, DataError) and not any(opened.row.image for opened, _ in asked)
    assert all((found == recognizer.open_line(line(n))).all() for n, (_, found) in enumerate(others, start=1))


def test_bad_rows_are_there_with_their_reason(read, tmp_path):
    long = tmp_path / "long.pgm"
    Image.fromarray(np.tile(written("a page"), (10, 10))).save(tmp_path / "page.png")
    long.write_bytes(b"P5 5000 1 255\n" + b"\xff" * 5000)
    cells = {
        1: None,
        2: {"bytes": None, "path": None},
        3: {"bytes": b"", "path": None},
        4: {"bytes": line(4)[:60], "path": None},
        5: {"bytes": None, "path": "gone.png"},
        6: {"bytes": None, "path": "long.pgm"},
        7: {"bytes": None, "path": "page.png"},
    }
    path = write_shard(tmp_path / "a.parquet", range(8), cells)
    [outcome] = read(path)
    assert (outcome.rows, outcome.bad) == (8, 7)
    found = table(tmp_path / "out")
    reasons = {row["row"]: row["error"] for row in found if row["error"] is not None}
    assert list(reasons) == [1, 2, 3, 4, 5, 6, 7]
    assert all((found[n]["text"], found[n]["confidence"], found[n]["flags"]) == ("", None, []) for n in reasons)
    assert "no image" in reasons[1] and "no image" in reasons[2] and "gone.png does not exist" in reasons[5]
    assert "not an image" in reasons[3] and "damaged: copy it again" in reasons[4] and "too long" in reasons[6]
    assert "page.png is a page, not a line: use drethtr transcribe" in reasons[7]
    assert quarantine(tmp_path / "out") == [{"input": path, "row": n, "error": reasons[n]} for n in reasons]


@pytest.mark.parametrize("column", ["image", "scan"])
def test_paths_in_a_column_are_relative_to_the_file(read, tiny_path, tmp_path, column):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(line(1))
    (tmp_path / "2.png").write_bytes(line(2))
    paths = ["images/1.png", str(tmp_path / "2.png"), (tmp_path / "2.png").as_uri()]
    pq.write_table(pa.table({column: paths}), tmp_path / "a.parquet")
    read((tmp_path / "a.parquet").as_uri(), column="" if column == "image" else column)
    texts = [reading.text for reading in Recognizer.load(tiny_path).read([line(1), line(2), line(2)])]
    assert [row["text"] for row in table(tmp_path / "out")] == texts


def test_folders_of_images(read, tiny_path, tmp_path):
    """At any depth, in the order of their names; other files are passed over."""
    (tmp_path / "scans" / "b").mkdir(parents=True)
    names = [tmp_path / "scans" / name for name in ("a.png", "b/c.PNG", "d.png")]
    for number, name in enumerate(names):
        name.write_bytes(line(number) if number < 2 else b"")
        name.with_suffix(".txt").write_text("what it says")
    outcomes = read(tmp_path / "scans", rows_per_part=2)
    assert [(outcome.rows, outcome.bad) for outcome in outcomes] == [(2, 0), (1, 1)]
    found = table(tmp_path / "out")
    assert [(row["input"], row["row"]) for row in found] == [(str(name), 0) for name in names]
    assert [row["text"] for row in found[:2]] == [r.text for r in Recognizer.load(tiny_path).read([line(0), line(1)])]


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view", "string", "large_string", "string_view"])
def test_images_and_paths_of_every_type(read, tmp_path, kind):
    (tmp_path / "1.png").write_bytes(line(1))
    cell = line(1) if "binary" in kind else "1.png"
    pq.write_table(pa.table({"image": pa.array([cell], getattr(pa, kind)())}), tmp_path / "a.parquet")
    [outcome] = read(tmp_path / "a.parquet")
    assert (outcome.failure, outcome.bad) == ("", 0)


def test_images_and_tables_in_an_archive(read, tiny_path, tmp_path):
    table_of_names = write_shard(tmp_path / "a.parquet", [2], {2: {"bytes": None, "path": "lines/2.png"}})
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("lines/1.png", line(1))
        archive.writestr("lines/2.png", line(2))
        archive.write(table_of_names, "a.parquet")
    [images, rows] = read(f"zip://*/1.png::{tmp_path / 'a.zip'}", f"zip://a.parquet::{tmp_path / 'a.zip'}")
    assert (images.failure, images.bad, rows.failure, rows.bad) == ("", 0, "", 0)
    texts = [reading.text for reading in Recognizer.load(tiny_path).read([line(1), line(2)])]
    assert [row["text"] for row in table(tmp_path / "out")] == texts


def test_columns_are_carried_as_they_are(read, tmp_path):
    times = pa.array([1, None, 3], pa.timestamp("ns"))
    path = write_shard(tmp_path / "a.parquet", range(3), {1: None}, time=times)
    read(path, carry=("number", "time", "number"))
    carried = pq.read_table(tmp_path / "out").select(["number", "time"])
    assert carried.equals(pq.read_table(path, columns=["number", "time"]))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], None, [], [2, None]]),
        pa.array([[[1], None], None, [], [[]]]),
        pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int64())),
        pa.array([{"a": [1]}, {"a": None}, None, {"a": []}]),
        pa.array(["x", None, "y", "x"]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_carried_columns_may_be_of_any_type(read, tmp_path, monkeypatch, values):
    monkeypatch.setattr(inputs, "FETCHED", 3)
    path = write_shard(tmp_path / "a.parquet", range(4), {1: None}, values=values)
    [outcome] = read(path, carry=("values", "number"))
    assert (outcome.rows, outcome.failure) == (4, "")
    carried = pq.read_table(tmp_path / "out").select(["values", "number"])
    assert carried.schema.field("values").type == values.type
    assert carried.to_pylist() == pq.read_table(path, columns=["values", "number"]).to_pylist()


def test_a_column_may_have_no_nulls_in_some_of_the_files(read, tmp_path):
    write_shard(tmp_path / "a.parquet", range(2))
    schema = pa.schema([("image", pa.binary()), pa.field("number", pa.int64(), nullable=False)])
    pq.write_table(pa.table({"image": [line(2)], "number": [2]}, schema), tmp_path / "b.parquet")
    read(tmp_path, carry=("number",))
    assert pq.read_table(tmp_path / "out")["number"].to_pylist() == [0, 1, 2]


def test_a_path_that_is_none_spoils_only_its_row(read, tmp_path):
    """Too long, or in another encoding."""
    (tmp_path / "ok.png").write_bytes(line(1))
    names = [b"ok.png", b"x" * 300, b"caf\xe9.png"]
    ends = np.cumsum([0, *map(len, names)], dtype=np.int32)
    paths = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(ends), pa.py_buffer(b"".join(names))])
    pq.write_table(pa.table({"path": paths}), tmp_path / "a.parquet")
    [outcome] = read(tmp_path / "a.parquet")
    assert (outcome.rows, outcome.bad) == (3, 2)
    assert ["too long" in row["error"] for row in table(tmp_path / "out")[1:]] == [True, False]
    assert "a.parquet row 2: the path of the image is not UTF-8" in table(tmp_path / "out")[2]["error"]


def test_a_second_run_of_a_job_leaves_the_first_its_files(tiny_path, tmp_path):
    """What is unfinished goes when all parts are there; what a person calls so stays."""
    path, out = write_shard(tmp_path / "a.parquet", range(8)), tmp_path / "out"
    load = partial(Recognizer.load, tiny_path)
    job, again = (open_job([path], str(out), load(), Columns(), rows_per_part=4) for _ in range(2))
    running = job.run(Here(), load)
    next(running)
    unfinished, own = out / f".{'0f' * 16}.unfinished", out / "thesis.unfinished"
    unfinished.mkdir()
    for file in (unfinished / "file", own):
        file.write_bytes(b"half")
    open_job([path], str(out), load(), Columns(), rows_per_part=4)
    assert unfinished.exists()
    assert [outcome.failure for outcome in again.run(Here(), load)] == ["", ""]
    assert not unfinished.exists() and own.exists()
    assert [outcome.failure for outcome in running] == [""]


def test_a_list_of_bad_rows_goes_with_them(read, tmp_path):
    """A worker may be killed between the list and the part, and the images mended meanwhile."""
    path = write_shard(tmp_path / "a.parquet", range(2), {1: {"bytes": None, "path": "1.png"}})
    read(path)
    assert len(quarantine(tmp_path / "out")) == 1
    (tmp_path / "out" / "part-000000.parquet").unlink()
    (tmp_path / "1.png").write_bytes(line(1))
    [outcome] = read(path)
    assert outcome.bad == 0 and quarantine(tmp_path / "out") == []


def test_a_stopped_job_goes_on(read, tmp_path):
    """Parts that are there stay as they are, what a killed worker left goes, and at the end every row is there once."""
    path = write_shard(tmp_path / "a.parquet", range(20))
    read(path, rows_per_part=6)
    out = tmp_path / "out"
    whole, kept = table(out), (out / "part-000000.parquet").stat().st_ino
    (out / "part-000001.parquet").unlink()
    (out / f".{'0' * 32}.unfinished").mkdir()
    assert [outcome.number for outcome in read(path, rows_per_part=6)] == [1]
    assert table(out) == whole and (out / "part-000000.parquet").stat().st_ino == kept
    assert sorted(file.name for file in out.iterdir()) == ["_job.json", *(f"part-00000{n}.parquet" for n in range(4))]
    assert read(path, rows_per_part=6) == []


@pytest.mark.parametrize("left", [0, 2, 100, -1])
def test_a_part_that_was_cut_short_is_read_again(read, tmp_path, left):
    """As by a copy of the folder that was interrupted."""
    path = write_shard(tmp_path / "a.parquet", range(12))
    read(path, rows_per_part=6)
    part = tmp_path / "out" / "part-000001.parquet"
    whole = table(tmp_path / "out")
    part.write_bytes(part.read_bytes()[:left])
    assert [outcome.number for outcome in read(path, rows_per_part=6)] == [1]
    assert table(tmp_path / "out") == whole


def test_another_job_is_refused(read, tmp_path):
    path = write_shard(tmp_path / "a.parquet", range(3), number2=range(3))
    read(path)
    before = table(tmp_path / "out")
    for message, options in (
        ("another decoder", {"decoder": Greedy()}),
        ("other rows per part", {"rows_per_part": 2}),
        ("other carried columns", {"carry": ("number2",)}),
    ):
        with pytest.raises(
            ConfigError, match=f"contains results of {message}; choose another --output, or use --force"
        ):
            read(path, **options)
    write_shard(tmp_path / "a.parquet", range(4), number2=range(4))
    with pytest.raises(ConfigError, match="other inputs"):
        read(path)
    assert table(tmp_path / "out") == before
    read(path, rows_per_part=1, force=True)
    assert len(table(tmp_path / "out")) == 4
    (tmp_path / "out" / "_job.json").write_text('{"model"')
    with pytest.raises(DataError, match=r"_job.json: cannot be read"):
        read(path)
    (tmp_path / "out" / "_job.json").unlink()
    for force in (False, True):
        with pytest.raises(ConfigError, match="contains files that are not results"):
            read(path, force=force)
    assert len(table(tmp_path / "out")) == 4


def test_a_job_that_never_began_says_so(read, tiny_path, tmp_path):
    """As one whose workers were refused: `--force` discards nothing."""
    path, out = write_shard(tmp_path / "a.parquet", range(3)), str(tmp_path / "out")
    open_job([path], out, Recognizer.load(tiny_path), Columns(), rows_per_part=2)
    expected = "is for a job with other rows per part, which has no results so far; choose another --output, or use"
    with pytest.raises(ConfigError, match=expected):
        read(path, rows_per_part=1)
    assert len(read(path, rows_per_part=1, force=True)) == 3


@pytest.mark.parametrize("fails", [{0}, {1, 2}, {0, 1, 3}])
def test_a_store_that_is_busy_loses_a_part_not_the_job(read, tmp_path, monkeypatch, fails):
    write, tried = Output.write_part, count()

    def busy(output, name, rows):
        if next(tried) in fails:
            raise DataError("cannot be written: Slow down", name)
        write(output, name, rows)

    path = write_shard(tmp_path / "a.parquet", range(5))
    with monkeypatch.context() as patch:
        patch.setattr(Output, "write_part", busy)
        outcomes = read(path, rows_per_part=1)
    assert {outcome.number for outcome in outcomes if "Slow down" in outcome.failure} == fails
    assert {outcome.number for outcome in read(path, rows_per_part=1)} == fails


def test_a_store_that_stays_full_ends_the_job(read, tmp_path, monkeypatch):
    def full(output, name, rows):
        raise DataError("cannot be written: No space left on device", name)

    monkeypatch.setattr(Output, "write_part", full)
    path = write_shard(tmp_path / "a.parquet", range(9))
    with pytest.raises(DataError, match="part-000002: cannot be written: No space left"):
        read(path, rows_per_part=1)


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_lists_of_bad_rows_are_not_written_elsewhere(read, tmp_path):
    """Nor are those of another job removed there."""
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "part-000000.jsonl").write_text("rows")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_quarantine").symlink_to(tmp_path / "another")
    with pytest.raises(DataError, match="_quarantine: is a link; remove it"):
        read(write_shard(tmp_path / "a.parquet", range(3)), force=True)
    assert [file.read_text() for file in (tmp_path / "another").iterdir()] == ["rows"]


def test_force_removes_nothing_that_was_given(read, tmp_path):
    """Spark calls its files part-00000-... too: with --output on the inputs they were removed before they were read."""
    (tmp_path / "out").mkdir()
    path = write_shard(tmp_path / "out" / "part-00000-c4f2.parquet", range(3))
    with pytest.raises(ConfigError, match="contains inputs"):
        read(path, force=True)
    assert len(table(tmp_path / "out")) == 3


def test_results_may_lie_below_the_inputs(read, tmp_path):
    """The same command goes on, and does not read its own results."""
    (tmp_path / "a.png").write_bytes(line(1))
    assert [outcome.rows for outcome in read(tmp_path)] == [1]
    assert read(tmp_path) == [] and len(table(tmp_path / "out")) == 1


def test_results_may_be_meant_by_the_pattern_of_the_inputs(read, tmp_path):
    write_shard(tmp_path / "a.parquet", range(3))
    pattern = f"{tmp_path}/**/*.parquet"
    assert [outcome.rows for outcome in read(pattern)] == [3]
    assert read(pattern) == [] and len(table(tmp_path / "out")) == 3


def test_going_on_leaves_the_note_of_the_job_as_it_is(read, tmp_path):
    """A machine that is stopped while it writes it anew could lose it, and with it the folder."""
    path = write_shard(tmp_path / "a.parquet", range(3))
    read(path)
    before = (tmp_path / "out" / JOB).stat().st_mtime_ns
    read(path)
    assert (tmp_path / "out" / JOB).stat().st_mtime_ns == before


def test_a_job_writes_nothing_more_once_another_has_begun_in_its_folder(tiny_path, tmp_path):
    """Else one table would have the readings of both."""
    shard, folder = write_shard(tmp_path / "a.parquet", range(4)), str(tmp_path / "out")
    load, other = (partial(Recognizer.load, tiny_path, decoder=decoder) for decoder in (None, Greedy()))
    outcomes = open_job([shard], folder, load(), Columns(), rows_per_part=2).run(Here(), load)
    assert next(outcomes).rows == 2
    job = open_job([shard], folder, other(), Columns(), rows_per_part=2, force=True)
    with pytest.raises(ConfigError, match="is no longer for this job"):
        next(outcomes)
    assert len(job.missing()) == 2


def test_a_worker_with_another_model_is_refused(tiny_model, tmp_path):
    """Of several machines, one may have an old file under the same name."""
    job = open_job(
        [write_shard(tmp_path / "a.parquet", range(3))], str(tmp_path / "out"), Recognizer(tiny_model), Columns()
    )
    with pytest.raises(DrethtrError, match=r"a worker has model .* but the job uses"):
        list(job.run(Here(), Recognizer.load))


def test_an_image_that_cannot_be_opened_now_is_no_bad_row(read, tmp_path, monkeypatch):
    """The same command reads it when the disk is back."""
    (tmp_path / "a.png").write_bytes(line(1))

    def stale(path, mode="r", *rest, **options):
        if path.name == "a.png":
            raise OSError(errno.ESTALE, "Stale file handle")
        return opened(path, mode, *rest, **options)

    opened = Path.open
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", stale)
        [outcome] = read(tmp_path / "a.png")
    assert "a.png cannot be read now: Stale file handle" in outcome.failure
    assert [outcome.bad for outcome in read(tmp_path / "a.png")] == [0] and len(table(tmp_path / "out")) == 1


def test_a_file_that_was_changed_meanwhile_fails_alone(read, tiny_path, tmp_path):
    """Its part is not there, the others are, and the same command reads it again."""
    damaged, shorter, same = (write_shard(tmp_path / f"{name}.parquet", range(5)) for name in "abc")
    load = partial(Recognizer.load, tiny_path)
    job = open_job([damaged, shorter, same], str(tmp_path / "out"), load(), Columns())
    (tmp_path / "a.parquet").write_bytes(b"no more")
    write_shard(tmp_path / "b.parquet", range(3))
    first, second, third = job.run(Here(), load)
    assert first.failure.startswith(f"rows 0 to 4 of {damaged}: ") and first.rows == 0
    assert second.failure == f"rows 0 to 4 of {shorter}: only 3 of them exist; the file has changed"
    assert (third.failure, third.rows) == ("", 5)
    for name in "ab":
        write_shard(tmp_path / f"{name}.parquet", range(5))
    assert [outcome.number for outcome in read(damaged, shorter, same)] == [0, 1]


@pytest.mark.parametrize(
    ("inputs", "columns", "message"),
    [
        (["gone.parquet"], {}, "gone.parquet: no such file"),
        (["gone*"], {}, r"gone\*: matches no file"),
        (["a.parquet", "[a].parquet"], {}, "a.parquet is matched by both .*a.parquet and"),
        (["a.txt"], {}, "a.txt: contains no Parquet file and no line image"),
        (["broken.parquet"], {}, "broken.parquet: cannot be read as Parquet"),
        (["a.parquet"], {"column": "imag"}, "no column 'imag'; did you mean 'image'"),
        (["other.parquet"], {}, "no column image, im, path or file; give --column with one of its own: scan$"),
        (["a.parquet"], {"column": "number"}, "column 'number' is int64; expected images or their paths"),
        (["a.parquet"], {"carry": ("hand",)}, "no column 'hand'.*; it has image, number"),
        (["twice.parquet"], {"carry": ("number",)}, "twice.parquet: has several columns 'number'"),
        (["a.parquet"], {"carry": ("row",)}, "cannot carry column 'row'"),
        (
            ["a.parquet", "b.parquet"],
            {"carry": ("number",)},
            "b.parquet: column 'number' is string, but int64 in other files; convert or do not carry it",
        ),
        (
            ["year=1850/a.parquet"],
            {"carry": ("year",)},
            "no column 'year'; its folder year=1850 is in the column input of the results; it has image, number",
        ),
        (["a.parquet", "a.png"], {"carry": ("number",)}, "images have no columns such as 'number'"),
    ],
)
def test_inputs_that_cannot_be_used(read, tmp_path, inputs, columns, message):
    (tmp_path / "year=1850").mkdir()
    for name in ("a.parquet", "year=1850/a.parquet"):
        write_shard(tmp_path / name, range(2))
    pq.write_table(pa.table({"image": [b""], "number": ["one"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"scan": [b""]}), tmp_path / "other.parquet")
    twice = pa.table([[b""], [1], [2]], ["image", "number", "number"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    for name in ("broken.parquet", "a.txt", "a.png"):
        (tmp_path / name).write_bytes(b"")
    names = [tmp_path / name for name in inputs]
    with pytest.raises((DataError, ConfigError), match=message):
        read(*names, **columns)
    assert not (tmp_path / "out").exists()


def test_an_image_that_was_replaced_is_another_input(read, tmp_path):
    (tmp_path / "a.png").write_bytes(line(1))
    read(tmp_path / "a.png")
    (tmp_path / "a.png").write_bytes(line(2))
    with pytest.raises(ConfigError, match="other inputs"):
        read(tmp_path / "a.png")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
@pytest.mark.parametrize("ending", [b".png", b".parquet"])
def test_a_file_name_need_not_be_utf_8(read, tmp_path, ending):
    """Nor that of a folder, which is in the reasons of bad rows."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    good, bad = (folder / os.fsdecode(name + b"\xe9" + ending) for name in (b"a", b"b"))
    if ending == b".png":
        good.write_bytes(line(1))
        bad.write_bytes(b"")
    else:
        for file, cell in ((good, {"bytes": line(1), "path": None}), (bad, {"bytes": None, "path": "gone.png"})):
            Path(write_shard(tmp_path / "a.parquet", [1], {1: cell})).rename(file)
    assert [(outcome.bad, outcome.failure) for outcome in read(good, bad, rows_per_part=1)] == [(0, ""), (1, "")]
    found = table(tmp_path / "out")
    assert [row["input"] for row in found] == [f"{tmp_path}/caf\ufffd/{n}\ufffd{ending.decode()}" for n in "ab"]
    assert f"{tmp_path}/caf\ufffd/" in found[1]["error"] and len(quarantine(tmp_path / "out")) == 1


def test_a_job_records_no_password_of_its_inputs():
    """Nor does it depend on one: signed addresses are others every hour."""
    for place in ("https://host/a.parquet?sig={}", "sftp://{}@host/a.parquet"):
        tables = [ParquetRows(place.format(secret), "image", (), 9, 0, 9) for secret in ("secret1", "secret2")]
        images = [ImageRows((place.format(secret),)) for secret in ("secret1", "secret2")]
        for one, other in (tables, images):
            assert one.identity() == other.identity()
            assert "secret" not in f"{one.identity()} {one.describe()}"


def test_settings_are_written_down(read, tiny_path, tmp_path):
    read(write_shard(tmp_path / "a.parquet", range(2)))
    settings = json.loads((tmp_path / "out" / "_job.json").read_text())
    assert settings["model"] == Recognizer.load(tiny_path).model.hash and settings["drethtr"] == __version__
    assert settings["decoder"]["kind"] == "CTC" and settings["precision"] == "float32"
