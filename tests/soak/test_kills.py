"""Kill each kind of command once, each day at another moment; `make soak` goes on."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from programs import source_first

KILLS = Path(__file__).with_name("kills.py")


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("command", ["transcribe", "update", "edit", "index", "batch", "calibrate"])
def test_a_killed_command_is_repeated_without_loss(command):
    """Training has its own tests."""
    words = [KILLS, "--kills", "1", "--seed", str(date.today().toordinal()), command]
    environment = {**os.environ, **source_first()}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, encoding="utf-8")
    said = f"{words}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0 and " 0 killed" not in done.stdout and " 0 faults" in done.stdout, said
