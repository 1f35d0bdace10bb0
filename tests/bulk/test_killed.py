"""Processes that are killed lose nothing and leave nothing half done: real processes, really killed."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from bulk_runs import kill, line, start, table, wait_for_parts, workers, write_shard
from waiting import until

from drethtr import Recognizer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

ROWS, PARTS = 240, 24


class Request(NamedTuple):
    arguments: tuple[object, ...]
    output: Path


@pytest.fixture
def request_(tiny_path, tmp_path):
    """Many short parts, for two workers."""
    path, output = write_shard(tmp_path / "a.parquet", range(ROWS), group=50), tmp_path / "out"
    options = ("--output", output, "--model", tiny_path, "--workers", 2, "--rows-per-part", ROWS // PARTS)
    return Request((path, *options, "--device", "cpu"), output)


@pytest.fixture
def check(tiny_path):
    """Check that every row was read once, as by itself, and all parts are whole."""

    def check_output(output):
        rows = table(output)
        assert [row["row"] for row in rows] == list(range(ROWS))
        readings = Recognizer.load(tiny_path).read([line(number) for number in range(ROWS)])
        assert [row["text"] for row in rows] == [reading.text for reading in readings]
        assert not list(output.glob(".*"))

    return check_output


def parts(output):
    return len(list(output.glob("*.parquet")))


def test_a_killed_run_and_a_killed_worker(request_, check):
    """The workers of a killed run end, and a new run goes on; there, the part of a killed worker is read by another."""
    arguments, output = request_
    run = start(*arguments)
    wait_for_parts(run, output, 2)
    kill(run.pid)
    run.communicate(timeout=60)  # returns when no worker holds the other end of the pipes any more
    before = parts(output)
    assert before < PARTS, "the run was over before it could be killed"
    assert len(table(output)) == before * ROWS // PARTS, "a part is not whole"

    run = start(*arguments)
    wait_for_parts(run, output, before + 3)
    kill(workers(run, "spawn_main")[0])
    until(lambda: len(workers(run, "spawn_main")) == 2 or run.poll() is not None)
    assert run.poll() is None, "nobody took the place of the killed worker"
    out, err = run.communicate()
    assert run.returncode == 0, err
    assert out == f"{ROWS} of {ROWS} rows are in {output}\n"
    check(output)


def test_a_killed_actor_of_ray(request_, check, tmp_path):
    """The same work on a Ray cluster of two actors."""
    pytest.importorskip("ray")
    arguments, output = request_
    # Ray keeps a secret in the home folder, tells its makers of every run, and by default gives slow machines 30 s.
    variables = {"HOME": str(tmp_path), "RAY_USAGE_STATS_ENABLED": "0", "RAY_agent_register_timeout_ms": "300000"}
    run = start(*arguments, "--engine", "ray", **variables)
    wait_for_parts(run, output, 2)
    kill(workers(run, "ray::MapWorker")[0])
    assert parts(output) < PARTS, "the run was over before an actor could be killed"
    out, err = run.communicate()
    assert run.returncode == 0, err
    assert out.endswith(f"{ROWS} of {ROWS} rows are in {output}\n")
    assert not re.search("deprecat|progress bars| INFO ", err, re.IGNORECASE), err
    check(output)
