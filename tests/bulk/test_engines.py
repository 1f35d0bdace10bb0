"""What engines do when it goes wrong for good."""

import pickle
from contextlib import contextmanager
from functools import partial
from io import BytesIO

import pytest
from bulk_runs import die, load_fragile, load_noted, table, write_shard
from PIL import Image

from drethtr import Recognizer
from drethtr.base.errors import ConfigError, DrethtrError
from drethtr.bulk import local
from drethtr.bulk.inputs import Columns
from drethtr.bulk.job import open_job
from drethtr.bulk.local import Killed, Local
from drethtr.bulk.on_ray import Ray, outcomes
from drethtr.bulk.worker import PartOutcome


@pytest.fixture
def job(tiny_path, tmp_path):
    """A job of two parts; a line of the first one is blank."""
    blank = BytesIO()
    Image.new("L", (90, 40), 255).save(blank, "PNG")
    path = write_shard(tmp_path / "a.parquet", range(4), {1: {"bytes": blank.getvalue(), "path": None}})
    return open_job([path], str(tmp_path / "out"), Recognizer.load(tiny_path), Columns(), rows_per_part=2)


def test_a_part_that_kills_its_workers_is_lost_alone(job, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "TRIES", 1)
    lost, read = job.run(Local(1), partial(load_fragile, tiny_path))
    assert lost.number == 0 and lost.rows == 0
    assert lost.failure == f"{job.parts[0].rows.describe()}: 1 workers ended while reading them (killed by SIGKILL)"
    assert read == PartOutcome(1, 2)
    assert [row["row"] for row in table(tmp_path / "out")] == [2, 3]


def test_workers_take_the_devices_in_turn(job, tiny_path, tmp_path):
    """One that is killed is replaced on its own."""
    notes = tmp_path / "notes"
    outcomes = list(job.run(Local(2, ("cuda:0", "cuda:1")), partial(load_noted, tiny_path, notes)))
    assert sum(outcome.rows for outcome in outcomes) == 4
    assert sorted(notes.read_text().split()) == ["cuda:0", "cuda:0", "cuda:1"]


def test_workers_that_cannot_begin_end_the_run(job, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "TRIES", 1)
    with pytest.raises(DrethtrError, match=r"ended while loading the model \(killed by SIGKILL\)"):
        list(job.run(Local(1), die))
    with pytest.raises(DrethtrError, match=r"gone: no such model file"):
        list(job.run(Local(1), partial(Recognizer.load, tmp_path / "gone")))


def test_how_a_worker_ended_is_told_through_any_block():
    """Python gives exceptions a new traceback on their way."""

    @contextmanager
    def block():
        yield

    ends = ((-9, "killed by SIGKILL"), (-35, "killed by signal 35"), (3, "exit code 3"), (None, "exit code None"))
    for code, told in ends:
        with pytest.raises(Killed, match=told), block():
            raise Killed(code)


def test_ray_keeps_a_cpu_free():
    """Ray Data hangs when its actors hold them all."""
    assert Ray().share({"CPU": 8.0}) == (7, 0)
    assert Ray(3).share({"CPU": 4.0, "GPU": 2.0}) == (3, 0)
    assert Ray(gpus=True).share({"CPU": 8.0, "GPU": 2.0}) == (2, 1)
    assert Ray(gpus=True).share({"CPU": 8.0}) == (7, 0)
    for workers, cpus in ((4, 4.0), (None, 1.0)):
        with pytest.raises(
            ConfigError, match=rf"a Ray cluster with {cpus:.0f} CPUs: at most {cpus - 1:.0f}, because Ray Data"
        ):
            Ray(workers).share({"CPU": cpus})
    for engine in (Local, Ray):
        with pytest.raises(ConfigError, match="workers must be at least 1"):
            engine(0)


def test_what_actors_tell(job):
    told = {"outcome": pickle.dumps(PartOutcome(1, 2)), "refusal": ""}
    read, lost = outcomes([told], job.parts)
    assert read == PartOutcome(1, 2) and lost.number == 0 and "rows 0 to 1 of" in lost.failure
    with pytest.raises(DrethtrError, match="disk full"):
        list(outcomes([{"outcome": pickle.dumps(None), "refusal": "disk full"}], job.parts))
