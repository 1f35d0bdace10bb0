"""Lose power at each moment of a few commands; `make soak` goes on with the others."""

import subprocess
import sys
from pathlib import Path

import pytest

POWER = Path(__file__).with_name("power.py")


def records_calls() -> bool:
    """Whether strace is installed and permitted."""
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not records_calls(), reason="needs strace")
@pytest.mark.parametrize("command", ["update", "index", "batch", "calibrate"])
def test_a_loss_of_power_leaves_results_as_before_or_after(command):
    done = subprocess.run([sys.executable, POWER, command], capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and " 0 faults" in done.stdout, done.stdout + done.stderr
