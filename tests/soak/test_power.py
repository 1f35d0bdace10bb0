"""Lose power at each moment of a few commands; `make soak` goes on with the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import source_first

POWER = Path(__file__).with_name("power.py")


def records_calls() -> bool:
    """Whether strace is installed and permitted."""
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


needs_strace = pytest.mark.skipif(not records_calls(), reason="needs strace")


@needs_strace
@pytest.mark.parametrize("command", ["update", "index", "batch", "calibrate"])
def test_a_loss_of_power_leaves_results_as_before_or_after(command):
    environment = {**os.environ, **source_first()}
    done = subprocess.run([sys.executable, POWER, command], env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and " 0 faults" in done.stdout, done.stdout + done.stderr
