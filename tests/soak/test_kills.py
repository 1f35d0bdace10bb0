"""Kill each kind of command once, each day at another moment; `make soak` goes on."""

import random
import sys
from datetime import date

import pytest

from soak.kills import soak


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("command", ["transcribe", "update", "edit", "index", "batch", "calibrate"])
def test_a_killed_command_is_repeated_without_loss(command, tmp_path, capsys):
    """Training has its own tests."""
    seed = date.today().toordinal()
    assert soak(command, 1, tmp_path, random.Random(seed)) == [], seed
    assert " 0 killed" not in capsys.readouterr().out
