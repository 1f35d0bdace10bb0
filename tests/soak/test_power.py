"""Lose power at each moment of a few commands; `make soak` goes on with the others."""

import subprocess

import pytest

from soak.power import lose_power


def records_calls() -> bool:
    """Whether strace is installed and permitted."""
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


needs_strace = pytest.mark.skipif(not records_calls(), reason="needs strace")


@needs_strace
@pytest.mark.parametrize("command", ["update", "index", "batch", "calibrate"])
def test_a_loss_of_power_leaves_results_as_before_or_after(command, tmp_path):
    assert lose_power(command, tmp_path) == []
