"""Of two programs one has a file, and the other is told which one."""

import os
import subprocess
import sys

import pytest
from programs import source_first

from drethtr.base.errors import DataError
from drethtr.base.lock import claimed

HOLDING = """
import sys, time
from pathlib import Path
from drethtr.base.lock import claimed
with claimed(Path(sys.argv[1])):
    print("has it", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holding(tmp_path):
    """Another program, which has claimed a file."""
    command = [sys.executable, "-c", HOLDING, tmp_path / "model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **source_first()}) as program:
        assert program.stdout.readline()
        yield program
        program.kill()


def test_who_has_a_file_is_told(holding, tmp_path):
    expected = rf"model: being written by process {holding.pid} on .*, since .*: -c .*; wait for it to end"
    with pytest.raises(DataError, match=expected), claimed(tmp_path / "model"):
        pass
    with claimed(tmp_path / "other"):
        assert holding.poll() is None


def test_what_a_killed_program_had_is_free(holding, tmp_path):
    holding.kill()
    holding.wait()
    with claimed(tmp_path / "model"):
        pass
    with claimed(tmp_path / "model"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_is_free_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="no more"), claimed(tmp_path / "new" / "model"):
        raise ValueError("no more")
    with claimed(tmp_path / "new" / "model"):
        pass
