"""A run that is killed and resumed ends as if nothing had happened: bit for bit, on the CPU."""

import os
import signal
from pathlib import Path

from holding import Hold
from safetensors.torch import load_file
from training_runs import finish, start

MUON = ("--set", 'optimizer.method={kind="Muon"}', "--set", "samples=64")  # which has the more to remember


def test_killed_and_resumed_equals_uninterrupted(data: Path) -> None:
    resumed_equals_whole(data, *MUON)


def test_a_run_with_a_teacher_resumes_in_the_same_way(data: Path) -> None:
    finish(start(data, "teacher", "--set", "samples=16"))
    resumed_equals_whole(data, "--set", 'teacher={path="teacher/latest.safetensors", known=100.0}', *MUON)


def resumed_equals_whole(data: Path, *options: str) -> None:
    finish(start(data, "whole", *options))
    hold = Hold(data / "held", "snapshot.safetensors", 2)  # so that it has done more than it saved
    process = start(data, "killed", *options, **hold.variables)
    hold.wait(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    finish(start(data, "killed", "--resume", *options))
    for name in ("latest", "best"):
        whole, killed = (load_file(data / run / f"{name}.safetensors") for run in ("whole", "killed"))
        assert whole.keys() == killed.keys()
        for key in whole:
            assert whole[key].equal(killed[key]), key
