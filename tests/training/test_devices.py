"""However the batches of a step are shared out among processes, the result is the same."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import ranks
import torch
from holding import Hold
from safetensors.torch import load_file
from training_runs import break_line, finish, launch, start, train_here, write_data

from drethtr.base.errors import ConfigError
from drethtr.training.devices import Devices

TOGETHER = ("batches_per_step=2", "samples=32")
UNTAUGHT = ("loss.ctc=0", "loss.draft=0")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "latest.safetensors")


def assert_alike(one: Path, other: Path) -> None:
    expected, got = weights(one), weights(other)
    assert expected.keys() == got.keys()
    for name, weight in expected.items():
        torch.testing.assert_close(got[name], weight, rtol=1e-3, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


def test_on_a_gpu_convolutions_learn_in_tf32_whatever_was_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drethtr.training.devices.torch_device", torch.device)
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # as by a recognizer on a GPU
    Devices.open("cpu")
    assert not torch.backends.cudnn.allow_tf32
    Devices.open("cuda")
    assert torch.backends.cudnn.allow_tf32


def test_auto_is_a_device_and_others_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drethtr.recognition.backends.DRIVERS", ())
    assert Devices.open("auto").device.type == "cpu"
    for name in ("gpu", "meta"):
        with pytest.raises(ConfigError, match=f"unknown device '{name}'; known: auto, cpu"):
            Devices.open(name)


def test_two_processes_train_like_one(data: Path) -> None:
    """Also where the CTC head is not trained: torch waits for the gradients of weights that have none.

    A line that only one of them met is named once, and so is the model.
    """
    break_line(data / "train.parquet")
    train_here(data, "one", *TOGETHER, *UNTAUGHT)
    said = finish(start(data, "two", *TOGETHER, *UNTAUGHT, processes=2))
    assert said.count("left out: train.parquet row 1: ") == said.count("the best model so far: ") == 1
    assert_alike(data / "one", data / "two")
    one, two = ((data / output / "metrics.jsonl").read_text().splitlines() for output in ("one", "two"))
    assert len(one) == len(two)


@pytest.fixture(scope="module")
def ranks_said(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two processes with two streams each say, see ranks.py; an epoch of 40 lines is ten chunks of four."""
    folder = write_data(tmp_path_factory.mktemp("ranks"))
    text = (folder / "run.toml").read_text().replace("chunk = 16", "chunk = 4")
    (folder / "run.toml").write_text(text.replace('"train.parquet"', f'"{folder}/train.parquet"'))
    finish(launch(folder, [ranks.__file__, str(folder), "4", "20"], processes=2))
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_batch_norm_statistics_are_averaged_and_parts_are_divided_evenly(ranks_said: list[dict[str, Any]]) -> None:
    assert [one["mean"] for one in ranks_said] == [[0.5], [0.5]]
    assert [one["share"] for one in ranks_said] == [[0, 1], [2, 3]]
    assert all("2 processes cannot divide the 3 batches of a step evenly" in one["refusal"] for one in ranks_said)


def test_no_line_is_lost_or_seen_twice_in_an_epoch(ranks_said: list[dict[str, Any]]) -> None:
    one, other = (said["texts"] for said in ranks_said)
    assert not one.keys() & other.keys(), "both read the same chunk"
    chunks = {int(chunk): texts for chunk, texts in {**one, **other}.items()}
    everything = sorted(f"line {i * 37 % 101}" for i in range(40))
    for epoch in (range(10), range(10, 20)):
        assert sorted(text for chunk in epoch for text in chunks[chunk]) == everything


def test_processes_wait_while_one_reads(ranks_said: list[dict[str, Any]]) -> None:
    assert ranks_said[1]["waited"] > ranks.TIMEOUT


def test_what_a_killed_rank_leaves_is_resumed_by_one_process(data: Path) -> None:
    train_here(data, "one", *TOGETHER)
    hold = Hold(data / "held", "snapshot.safetensors", 2)
    process = start(data, "killed", *TOGETHER, processes=2, **hold.variables)
    hold.wait(process)
    os.kill(started_by(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=300)
    assert process.returncode != 0
    train_here(data, "killed", *TOGETHER, resume=True)
    assert_alike(data / "one", data / "killed")


def started_by(launcher: int) -> list[int]:
    """The processes that torchrun started."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return [int(child) for child in children]


def test_a_single_process_computes_all_parts() -> None:
    devices = Devices.open("cpu")
    assert (devices.processes, devices.is_main, list(devices.local_parts(3))) == (1, True, [0, 1, 2])
