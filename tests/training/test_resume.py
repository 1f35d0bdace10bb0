"""A run that is killed and resumed ends as if nothing had happened: bit for bit, on the CPU."""

import os
import signal
from pathlib import Path

from holding import Hold
from safetensors.torch import load_file
from training_runs import start, train_here

LEARNED = (
    "samples=32",
    "validation.every=16",
    'optimizer.method={kind="Muon"}',  # which has the more to remember
    'teacher={path="teacher/latest.safetensors", known=100.0}',
)


def test_killed_and_resumed_equals_uninterrupted(data: Path, one_thread: None) -> None:
    train_here(data, "teacher", "samples=16")
    train_here(data, "whole", *LEARNED)
    hold = Hold(data / "held", "snapshot.safetensors", 2)  # so that it has done more than it saved
    process = start(data, "killed", *LEARNED, **hold.variables)
    hold.wait(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    train_here(data, "killed", *LEARNED, resume=True)
    for name in ("latest", "best"):
        whole, killed = (load_file(data / run / f"{name}.safetensors") for run in ("whole", "killed"))
        assert whole.keys() == killed.keys()
        for key in whole:
            assert whole[key].equal(killed[key]), key
