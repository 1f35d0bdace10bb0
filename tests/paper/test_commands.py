"""`drethtr convert`, on weights of a small network in the authors' names, and `drethtr reproduce`."""

import json
from dataclasses import replace

import pytest
import torch

from drethtr.network.network import DRetHTR
from drethtr.paper.authors import their_name
from drethtr.paper.tables.paper import TABLES
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.model.architecture import SMALL
from drethtr.recognition.model.file import load_model

SETTINGS = [f"--set=network.{name}" for name in ("layers=1", "width=16", "heads=2", "hidden=24")]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    network = DRetHTR(replace(SMALL, layers=1, width=16, heads=2, hidden=24), 83)
    state = {}
    for name, weight in network.state_dict().items():
        theirs = their_name(name)
        parts = {"to_q": weight[:16], "to_kv": weight[16:]} if theirs.endswith("to_q.weight") else {"to_q": weight}
        state |= {f"module.{theirs.replace('to_q', part)}": piece.clone() for part, piece in parts.items()}
    path = tmp_path_factory.mktemp("weights") / "published.pt"
    torch.save(state, path)
    return path


def test_published_weights_become_a_model_file(drethtr, weights, tmp_path):
    output = tmp_path / "model.safetensors"
    outcome = drethtr(
        "convert", weights, output, "--preset", "small", *SETTINGS, "--set", "network.mixer.kind=JointSoftmax"
    )
    assert outcome.code == 0 and "every weight used" in outcome.out
    model = load_model(output)
    assert model.network.mixer == JointSoftmax() and model.tokenizer.size == 83
    again = drethtr("convert", weights, output, "--preset", "small", *SETTINGS)
    assert again.code == 2 and "--force" in again.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--preset", "large"], "unknown preset 'large'; known: base, small"),
        (["--preset", "small"], "published.pt: the weights lack retnet.layers.1."),
        (["--preset", "small", *SETTINGS, "--set", "network.heads=3"], "a multiple of heads, not"),
        (
            ["--preset", "small", *SETTINGS, "--set", "network.mixer.decay.kind=Gated"],
            "lack retnet.layers.0.0.fn.to_gt",
        ),
        (["--preset", "small", "--set", "prior=3"], "prior: unknown setting of Conversion"),
    ],
    ids=str,
)
def test_weights_that_do_not_fit_are_named_in_one_line(drethtr, weights, tmp_path, more, message):
    outcome = drethtr("convert", weights, tmp_path / "model.safetensors", *more)
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and message in outcome.err
    assert not list(tmp_path.glob("model*"))


def test_another_alphabet_comes_from_a_file(drethtr, weights, tmp_path):
    alphabet = tmp_path / "alphabet.txt"
    greek = [chr(0x391 + number) for number in range(79)]
    alphabet.write_text("".join(reversed(greek)) + "\n", encoding="utf-8-sig")  # as Notepad saves it
    drethtr("convert", weights, tmp_path / "m", "--preset", "small", *SETTINGS, "--alphabet", alphabet)
    assert load_model(tmp_path / "m").tokenizer.decode([4, 5, 82]) == "ΑΒ" + greek[-1]
    alphabet.write_text("abc")
    outcome = drethtr("convert", weights, tmp_path / "n", "--preset", "small", *SETTINGS, "--alphabet", alphabet)
    assert outcome.code == 2 and "give the 79 characters" in outcome.err


def test_lists_every_row(drethtr):
    outcome = drethtr("reproduce")
    assert outcome.code == 0
    for table in TABLES.values():
        assert f"{table.name}: {table.title}" in outcome.out
        assert all(row.name in outcome.out for row in table.rows)


def test_runs_a_row_once_prints_it_beside_the_paper_and_reports_in_every_working_folder(drethtr, tmp_path, monkeypatch):
    (tmp_path / "else").mkdir()
    said = []
    for place, output in ((tmp_path, "out"), (tmp_path / "else", "../out/")):
        monkeypatch.chdir(place)
        where = ("--scale", "smoke", "--output", output, "--workers", "0", "--device", "cpu")
        outcome = drethtr("reproduce", "gamma", "--row", "head-wise", "--report", "report.html", *where)
        assert outcome.code == 0, outcome.err
        [row] = [line for line in outcome.out.splitlines() if line.startswith("| head-wise")]
        assert "4.51" in row and (place / "report.html").read_text().startswith("<!DOCTYPE html>")
        said.append(outcome.err)
    assert "training" in said[0] and "seed 0" in said[0] and "training" not in said[1]
    result = json.loads((tmp_path / "out" / "smoke" / "gamma" / "head-wise.0.json").read_text())
    assert result["row"] == "head-wise" and len(result["outcome"]["lines"]) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gama"], "unknown table 'gama'; did you mean 'gamma'?"),
        (["gamma", "--row", "layerwise"], "did you mean 'layer-wise'?"),
        (["gamma", "--scale", "tiny"], "known: full, small, smoke"),
        (["gamma"], "no lines of iam to train on; give --data iam=STEM"),
        (["gamma", "--data", "iams=lines"], "has no data set 'iams'; it has iam, rimes, read2016, bentham"),
        (["gamma", "--fonts", "fonts"], "both --fonts FOLDER and --text FILE"),
        (["pretraining", "--data", "lines"], "give --fonts FOLDER --text FILE"),
        (["gamma", "--data", "nothing"], "nothing.train.parquet: matches no file"),
        (["--report", "report.html"], "contains no results yet"),
        (["--row", "softmax"], "--row is for one table"),
        (["--seeds", "2"], "without TABLE nothing is trained; leave out --seeds"),
        (["gamma", "--scale", "smoke", "--data", "lines"], "--scale smoke generates its lines; leave out --data"),
        (["gamma", "--scale", "smoke", "--output", "file"], "file is a file; give a folder to write to"),
        (["gamma", "--scale", "smoke", "--report", "gone/report.html"], "there is no folder gone"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_says_what_is_wrong(drethtr, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    outcome = drethtr("reproduce", *arguments, "--workers", "0", "--device", "cpu")
    assert outcome.code == 2 and message in outcome.err
    assert outcome.err.splitlines()[-1].startswith("drethtr: ")
