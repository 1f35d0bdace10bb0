"""`drethtr convert`, on weights of a small network in the authors' names."""

from dataclasses import replace

import pytest
import torch

from drethtr.network.network import DRetHTR
from drethtr.recognition.architecture import SMALL, JointSoftmax
from drethtr.recognition.model_file import load_model
from drethtr.research.authors import their_name

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


def test_a_place_without_a_folder_is_refused_at_once(drethtr, weights, tmp_path):
    outcome = drethtr("convert", weights, tmp_path / "gone" / "model.safetensors", "--preset", "large")
    assert outcome.code == 2 and "there is no folder" in outcome.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--preset", "large"], "unknown preset 'large'; known: base, small"),
        (["--preset", "small"], "published.pt: the weights lack retnet.layers.1."),
        (["--preset", "small", *SETTINGS, "--set", "network.heads=3"], "divide into 3 heads"),
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
    alphabet.write_text("".join(reversed(greek)) + "\n", encoding="utf-8")
    drethtr("convert", weights, tmp_path / "m", "--preset", "small", *SETTINGS, "--alphabet", alphabet)
    assert load_model(tmp_path / "m").tokenizer.decode([4, 5, 82]) == "ΑΒ" + greek[-1]
    alphabet.write_text("abc")
    outcome = drethtr("convert", weights, tmp_path / "n", "--preset", "small", *SETTINGS, "--alphabet", alphabet)
    assert outcome.code == 2 and "give the 79 characters" in outcome.err
