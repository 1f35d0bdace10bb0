"""A model file gives back what was put in, and refuses what it is not."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from drethtr.base.errors import CheckpointError
from drethtr.images.prepare import Preparation
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.model_file import Model, load_model, read_tensors, save_card, save_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.search.strategies import Greedy
from drethtr.text.tokenizer import Characters


def test_round_trip(tiny_model, tmp_path) -> None:
    save_model(tiny_model, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert loaded.network.config == tiny_model.network.config
    assert (loaded.tokenizer, loaded.preparation, loaded.card) == (
        tiny_model.tokenizer,
        tiny_model.preparation,
        tiny_model.card,
    )
    for name, tensor in tiny_model.network.state_dict().items():
        assert loaded.network.state_dict()[name].equal(tensor), name
    assert not loaded.network.training


def test_rounding_halves_the_file(tiny_model, tiny_path, tmp_path) -> None:
    save_model(tiny_model, tmp_path / "small.safetensors", small=True)
    assert (tmp_path / "small.safetensors").stat().st_size < 0.7 * tiny_path.stat().st_size
    network = load_model(tmp_path / "small.safetensors").network
    assert {weight.dtype for weight in network.parameters()} == {torch.float32}
    torch.testing.assert_close(network.to_logits.weight, tiny_model.network.to_logits.weight, rtol=0.01, atol=0.02)


def rewritten(path, **header):
    tensors, metadata = read_tensors(path)
    save_file(tensors, path, {"drethtr": json.dumps(json.loads(metadata["drethtr"]) | header)})


def test_a_model_of_an_earlier_version_is_not_calibrated(tiny_path) -> None:
    tensors, metadata = read_tensors(tiny_path)
    header = json.loads(metadata["drethtr"])
    del header["trust"]
    save_file(tensors, tiny_path, {"drethtr": json.dumps(header)})
    assert load_model(tiny_path).trust == Trust()


def test_trust_that_is_not_understood_is_refused(tiny_path) -> None:
    rewritten(tiny_path, trust={"kind": "Trust", "unlike_training": {"kind": "Oracle"}})
    with pytest.raises(CheckpointError, match="Oracle"):
        load_model(tiny_path)


LOGISTIC = {"kind": "Logistic", "bias": 0.0, "weights": [1.0]}
RATE = {"decoder": {"kind": "Greedy"}, "factor": 1.0, "spread": 0.1, "noise": 1.0, "sets": 3}
SENSELESS_TRUST = [
    {"unlike_training": {"alike": LOGISTIC | {"weights": [float("nan")]}, "least": 0.0}},
    {"unlike_training": {"alike": LOGISTIC | {"bias": float("inf")}, "least": 0.0}},
    {"unlike_training": {"alike": LOGISTIC, "least": float("nan")}},
    *({"error_rates": [RATE | {name: -0.1}]} for name in ("factor", "spread", "noise")),
    {"error_rates": [RATE | {"factor": 0.0}]},
    {"error_rates": [RATE | {"noise": float("nan")}]},
]


@pytest.mark.parametrize("trust", SENSELESS_TRUST, ids=str)
def test_trust_that_makes_no_sense_is_refused(trust, tiny_path) -> None:
    """Else all would be flagged, or reading would break off."""
    rewritten(tiny_path, trust=trust)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: .*(finite|an error rate has)"):
        load_model(tiny_path)


def test_other_version_is_refused(tiny_path) -> None:
    rewritten(tiny_path, format=999)
    with pytest.raises(CheckpointError, match="format 999"):
        load_model(tiny_path)


def test_unknown_settings_are_refused(tiny_path) -> None:
    rewritten(tiny_path, preparation={"kind": "Preparation", "hight": 48})
    with pytest.raises(CheckpointError, match="did you mean 'height'"):
        load_model(tiny_path)


def test_missing_weights_are_refused(tiny_path) -> None:
    tensors = load_file(tiny_path)
    _, metadata = read_tensors(tiny_path)
    tensors.pop("to_logits.weight")
    save_file(tensors, tiny_path, metadata)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: the weights lack to_logits\.weight, which this"):
        load_model(tiny_path)


def test_of_many_missing_weights_a_few_are_named(tiny_path) -> None:
    save_file({"x": torch.zeros(1)}, tiny_path, read_tensors(tiny_path)[1])
    with pytest.raises(CheckpointError, match=r"(\S+, ){2}\S+ and \d+ more, which this network has") as refusal:
        load_model(tiny_path)
    assert len(str(refusal.value)) < 300


def test_weights_of_another_kind_are_refused(tiny_path) -> None:
    """Complex ones were taken for real ones and broke the first line."""
    tensors, metadata = read_tensors(tiny_path)
    save_file(tensors | {"to_width.weight": tensors["to_width.weight"].to(torch.complex64)}, tiny_path, metadata)
    with pytest.raises(CheckpointError, match=r"to_width\.weight is of torch\.complex64, in this network"):
        load_model(tiny_path)


def test_lines_prepared_for_another_network_are_refused(tiny_path) -> None:
    rewritten(tiny_path, preparation={"kind": "Preparation", "height": 64})
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: .* 64 pixels high, but its backbone takes 48"):
        load_model(tiny_path)


@pytest.mark.parametrize("spoil", [lambda whole: whole[: len(whole) // 2], lambda whole: b"PK\x03\x04" + whole])
def test_damaged_file_is_refused(spoil, tiny_path) -> None:
    tiny_path.write_bytes(spoil(tiny_path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors"):
        load_model(tiny_path)


def test_weights_that_are_no_numbers_are_refused(tiny_model, tmp_path) -> None:
    """They would read as silence."""
    with torch.no_grad():
        tiny_model.network.to_logits.weight[0, 0] = torch.nan
    save_model(tiny_model, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors: not all numbers of to_logits\.weight are finite"):
        load_model(tmp_path / "model.safetensors")


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(CheckpointError, match="no such model file"):
        load_model(tmp_path / "nothing.safetensors")


def test_a_folder_is_called_one(tmp_path) -> None:
    with pytest.raises(CheckpointError, match=r"is a folder; name the model file in it, such as .*model\.safetensors"):
        load_model(tmp_path)


def test_a_file_of_other_tensors_is_refused(tmp_path) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "x.safetensors")
    with pytest.raises(CheckpointError, match="header is missing"):
        load_model(tmp_path / "x.safetensors")


def test_others_may_read_a_model_as_any_file(tiny_path, tmp_path) -> None:
    (tmp_path / "any").touch()
    assert tiny_path.stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.parametrize("header", [[], {"format": 1, "card": []}, "deep"])
def test_a_header_of_another_shape_is_refused(header, tiny_path) -> None:
    """It may come from a stranger."""
    text = "[" * 100_000 if header == "deep" else json.dumps(header)
    save_file(read_tensors(tiny_path)[0], tiny_path, {"drethtr": text})
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors"):
        load_model(tiny_path)


def test_a_card_can_be_replaced_alone(tiny_model, tiny_path) -> None:
    save_card(tiny_path, {"name": "other", "license": "CC0"})
    loaded = load_model(tiny_path)
    assert loaded.card == {"name": "other", "license": "CC0"} and loaded.hash == tiny_model.hash


SENSELESS = {
    "no heads": {"heads": 0},
    "more than memory": {"width": 1 << 40, "heads": 1 << 39},
    "beyond torch": {"ctc": {"kind": "CTCConfig", "steps": 10**30}},
    "beyond floats": {"dropout": 10**400},
    "another width": {"width": 32},
}


@pytest.mark.parametrize("settings", SENSELESS.values(), ids=SENSELESS)
def test_settings_that_make_no_sense_are_refused(settings, tiny_path) -> None:
    network = json.loads(read_tensors(tiny_path)[1]["drethtr"])["network"]
    rewritten(tiny_path, network=network | settings)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: the (model's settings|weights do not fit: )"):
        load_model(tiny_path)


@pytest.mark.parametrize("small", [False, True])
def test_the_hash_is_the_same_wherever_a_model_is_stored(small, tiny_path, tmp_path) -> None:
    model, path = load_model(tiny_path), tmp_path / "again.safetensors"
    save_model(model, path, small=small)
    loaded = load_model(path)
    assert (loaded.hash == model.hash) is not small, "rounded weights are other weights"
    save_model(loaded, path, small=small)
    assert load_model(path).hash == loaded.hash == Recognizer.load(path).model_hash


def test_the_hash_does_not_depend_on_the_order_of_the_file_or_the_card(tiny_model, tiny_path) -> None:
    tensors, metadata = read_tensors(tiny_path)
    save_file(dict(reversed(tensors.items())), tiny_path, metadata)
    rewritten(tiny_path, card={"name": "renamed"})
    assert load_model(tiny_path).hash == tiny_model.hash


def other_weights(model: Model) -> Model:
    with torch.no_grad():
        model.network.to_logits.weight[0, 0] += 1e-6
    return replace(model)


OTHERS = {
    "weights": other_weights,
    "alphabet": lambda model: replace(model, tokenizer=Characters(model.tokenizer.characters.replace("p", "q"))),
    "preparation": lambda model: replace(model, preparation=Preparation(height=48, stretch=1.1)),
    "trust": lambda model: replace(model, trust=Trust(error_rates=(ErrorRate(Greedy(), 1.0, 0.1, 1.0, 3),))),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_decides_a_reading_changes_the_hash(change, tiny_model) -> None:
    before = tiny_model.hash
    assert change(tiny_model).hash != before


def test_a_model_is_named_by_its_card_and_hash(tiny_model) -> None:
    assert tiny_model.identity == f"tiny {tiny_model.hash[:12]}"
    assert replace(tiny_model, card={}).identity == tiny_model.hash[:12]
    assert replace(tiny_model, card={"name": "a\x1b[31mb"}).identity.startswith("a [31mb ")
    assert replace(tiny_model, card={"name": "two\nlines"}).identity.startswith("two lines ")
