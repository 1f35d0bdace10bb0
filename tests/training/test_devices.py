"""However the batches of a step are shared out among processes, the result is the same."""

import os
import signal
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from training_runs import finish, saved_at, start

from drethtr.training.devices import Devices

TOGETHER = ("--set", "batches_per_step=2")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "latest.safetensors")


def assert_alike(one: Path, other: Path) -> None:
    expected, got = weights(one), weights(other)
    assert expected.keys() == got.keys()
    for name, weight in expected.items():
        torch.testing.assert_close(got[name], weight, rtol=1e-3, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


def test_two_processes_train_like_one(data: Path) -> None:
    finish(start(data, "one", *TOGETHER))
    finish(start(data, "two", *TOGETHER, processes=2))
    assert_alike(data / "one", data / "two")
    assert len((data / "one" / "metrics.jsonl").read_text().splitlines()) == len(
        (data / "two" / "metrics.jsonl").read_text().splitlines()
    )


def test_a_killed_rank_is_resumed(data: Path) -> None:
    finish(start(data, "whole", *TOGETHER))
    snapshot = data / "killed" / "snapshot.safetensors"
    process = start(data, "killed", *TOGETHER, processes=2)
    while process.poll() is None and not saved_at(snapshot):
        time.sleep(0.01)
    assert process.poll() is None, "the run was over before it could be killed"
    os.kill(ranks(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=300)
    assert process.returncode != 0
    finish(start(data, "killed", *TOGETHER, "--resume", processes=2))
    assert_alike(data / "whole", data / "killed")


def ranks(launcher: int) -> list[int]:
    """The processes that torchrun started."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return [int(child) for child in children]


def test_a_step_is_shared_out_evenly() -> None:
    devices = Devices.open("cpu")
    assert (devices.processes, devices.leads, list(devices.share(3))) == (1, True, [0, 1, 2])


def test_processes_that_cannot_share_are_told(data: Path) -> None:
    process = start(data, "odd", processes=2)
    _, said = process.communicate(timeout=300)
    assert process.returncode != 0
    assert b"2 processes cannot share 1 batches of a step evenly" in said
