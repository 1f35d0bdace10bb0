import pytest
from bulk_runs import Here, table, write_shard
from odd_lines import blank_paper, odd_lines
from PIL import Image

from drethtr.bulk.local import Local
from drethtr.bulk.worker import lost
from drethtr.cli.batch import on_this_machine


class Losing(Here):
    """Loses the first part."""

    def run(self, parts, work):
        yield lost(parts[0], "gone")
        yield from super().run(parts[1:], work)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "spark"], "unknown engine 'spark'; known: local, ray"),
        (["--engine", "locl"], "did you mean 'local'?"),
        (["--decoder", "gredy"], "did you mean 'greedy'?"),
        (["--column", "scan"], "images.parquet: no such file or folder\n"),
    ],
)
def test_requests_that_are_not_understood(drethtr, tiny_path, tmp_path, options, message):
    out = tmp_path / "out"
    outcome = drethtr("batch", tmp_path / "images.parquet", "--output", out, "--model", tiny_path, *options)
    assert outcome.code == 2 and message in outcome.err and outcome.err.count("\n") == 1
    assert not out.exists()


def test_lines_that_are_there_and_bad_ones_are_counted(drethtr, lines, tiny_path, tmp_path, monkeypatch):
    """A bad row is no failure: it has its row in the output, and a reason."""
    monkeypatch.setattr("drethtr.cli.batch.on_this_machine", lambda workers, device: Here())
    (lines / "three.png").write_bytes(b"")
    arguments = ("batch", lines, "--output", tmp_path / "out", "--model", tiny_path)
    for _ in range(2):
        outcome = drethtr(*arguments)
        assert (outcome.code, outcome.out) == (
            0,
            f"3 of 3 rows are in {tmp_path}/out\n1 of them could not be read; {tmp_path}/out/_quarantine says why\n",
        )


def test_flagged_lines_are_counted(drethtr, lines, tiny_path, tmp_path, monkeypatch):
    """When they are read; what the run before has read says so in its table."""
    monkeypatch.setattr("drethtr.cli.batch.on_this_machine", lambda workers, device: Here())
    [paper] = odd_lines(blank_paper, 1)
    Image.fromarray(paper).save(lines / "three.png")
    arguments = ("batch", lines, "--output", tmp_path / "out", "--model", tiny_path)
    told = f"3 of 3 rows are in {tmp_path}/out\n"
    assert drethtr(*arguments).out == told + "1 of the 3 rows read now is flagged; see the column flags\n"
    assert drethtr(*arguments).out == told


def test_workers_of_their_own_read_and_carry_columns_along(drethtr, tiny_path, tmp_path):
    shard, out = write_shard(tmp_path / "a.parquet", [7, 3]), tmp_path / "out"
    options = ("--model", tiny_path, "--device", "cpu", "--workers", 1, "--carry", "number")
    assert drethtr("batch", shard, "--output", out, *options)[:2] == (0, f"2 of 2 rows are in {out}\n")
    assert [row["number"] for row in table(out)] == [7, 3]


def test_a_row_group_of_very_many_parts_is_told(drethtr, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.cli.batch.on_this_machine", lambda workers, device: Here())
    monkeypatch.setattr("drethtr.bulk.inputs.PARTS", 1)
    path = write_shard(tmp_path / "a.parquet", range(3))
    outcome = drethtr("batch", path, "--output", tmp_path / "out", "--model", tiny_path, "--rows-per-part", 2)
    assert outcome.code == 0 and f"drethtr: {path}: a row group has 3 rows; every part of 2 rows" in outcome.err


def test_rows_that_are_missing_are_told(drethtr, lines, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.cli.batch.on_this_machine", lambda workers, device: Losing())
    outcome = drethtr("batch", lines, "--output", tmp_path / "out", "--model", tiny_path, "--rows-per-part", 1)
    assert outcome.code == 1
    assert outcome.out == f"1 of 2 rows is in {tmp_path}/out\n1 of 2 parts failed; repeat the command to retry them\n"
    assert "one.png: gone" in outcome.err


def test_results_are_kept_if_the_device_does_not_work(drethtr, lines, tiny_path, tmp_path, monkeypatch):
    """Not only workers find out, when the results have been discarded."""
    monkeypatch.setattr("drethtr.cli.batch.on_this_machine", lambda workers, device: Here())
    arguments = ("batch", lines, "--output", tmp_path / "out", "--model", tiny_path)
    assert drethtr(*arguments).code == 0
    parts = {path: path.read_bytes() for path in (tmp_path / "out").glob("part-*")}
    for options in (["--device", "cuda:99"], ["--device", "cuda", "--precision", "int8"]):
        outcome = drethtr(*arguments, "--force", *options)
        assert outcome.code == 2 and outcome.err.count("\n") == 1
        assert parts and {path: path.read_bytes() for path in (tmp_path / "out").glob("part-*")} == parts
    outcome = drethtr(*arguments, "--device", "cuda:1", "--engine", "ray")
    assert outcome.code == 2 and "use --device cuda, not cuda:1" in outcome.err


def test_workers_are_as_many_as_processors_may_be_used(monkeypatch):
    """A queue may bind a job to fewer than the machine has."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {2, 5, 7}, raising=False)
    assert [on_this_machine(workers, "cpu") for workers in (None, 2)] == [Local(3), Local(2)]


def test_workers_share_all_gpus(monkeypatch):
    """Each GPU is fed by several processes; one that is named has them all."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(40)), raising=False)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert on_this_machine(None, "cuda") == Local(24, ("cuda:0", "cuda:1"))
    assert on_this_machine(None, "cuda:1") == Local(12, ("cuda:1",))
    assert on_this_machine(3, "cuda") == Local(3, ("cuda:0", "cuda:1"))


def test_a_file_is_no_place_for_results(drethtr, lines, tiny_path):
    image = lines / "one.png"
    outcome = drethtr("batch", lines, "--output", image, "--model", tiny_path)
    assert outcome.code == 2 and outcome.err == f"drethtr: {image} is a file; give a folder to write to\n"


def test_an_empty_folder_is_called_so(drethtr, tiny_path, tmp_path):
    (tmp_path / "empty").mkdir()
    outcome = drethtr("batch", tmp_path / "empty", "--output", tmp_path / "out", "--model", tiny_path)
    assert outcome.code == 2 and f"{tmp_path / 'empty'}: no files in this folder" in outcome.err
