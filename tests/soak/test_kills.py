"""Kill each kind of command once; `make soak` goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).with_name("kills.py")


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("command", ["transcribe", "update", "edit", "index", "batch", "calibrate"])
def test_a_killed_command_is_repeated_without_loss(command):
    """Training has its own tests."""
    done = subprocess.run([sys.executable, KILLS, "--kills", "1", command], capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and "1 killed, 0 faults" in done.stdout, done.stdout + done.stderr
