import json

import pytest
import torch
from conftest import TINY

from drethtr.model import network

RACES = ("decoding", "length")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A tiny network in the place of COMPACT, for speed."""
    monkeypatch.setitem(network.PRESETS, "compact", TINY)
    torch.manual_seed(0)


@pytest.mark.parametrize("command", RACES)
def test_shows_writes_and_draws(drethtr, tmp_path, command):
    files = tmp_path / "figures.json", tmp_path / "figures.svg"
    outcome = drethtr("bench", command, "--quick", "--json", files[0], "--plot", files[1], "--device", "cpu")
    assert outcome.code == 0, outcome.err
    assert "retention" in outcome.out and "key-value cache" in outcome.out
    assert json.loads(files[0].read_text())["races"] and files[1].read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decoding", "--batches", "1,x"], "'1,x' is not understood; expected whole numbers above 0, as in 1,8,32"),
        (["decoding", "--beams", "0"], "'0' is not understood"),
        (
            ["memory", "--networks", "smal"],
            "unknown network 'smal'; did you mean 'small'?; known: compact, small, base",
        ),
        (["strategies", "nothing.parquet"], "nothing.parquet"),
        (["peers", "nothing.parquet", "--decoders", "bean"], "nothing.parquet"),
        (["decoding", "--json", "gone/a.json"], "there is no folder gone"),
        (["memory", "--plot", "gone/a.svg"], "there is no folder gone"),
        (["length", "--plot", "precious.txt"], "precious.txt exists and is no earlier result"),
        (["strategies", "nothing.parquet", "--json", "gone/a.json"], "there is no folder gone"),
        (["peers", "nothing.parquet", "--json", "gone/a.json"], "there is no folder gone"),
        (["training", "--json", "gone/a.json"], "there is no folder gone"),
        (["pages", "nothing.xml", "--json", "gone/a.json"], "there is no folder gone"),
        (["all", "nothing.parquet", "--output", "precious.txt"], "precious.txt is a file"),
        (["all", "nothing.parquet", "--output", "precious.txt/results"], "cannot make the folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_says_what_is_wrong(drethtr, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious.txt").touch()
    outcome = drethtr("bench", *arguments)
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and message in outcome.err


def test_help_names_every_benchmark(drethtr):
    outcome = drethtr("bench", "--help")
    assert all(
        name in outcome.out for name in ("decoding", "memory", "length", "strategies", "peers", "training", "all")
    )
