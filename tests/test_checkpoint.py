"""A model file gives back what was put in, and refuses what it is not."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from drethtr.checkpoint import load_model, read_tensors, save_model
from drethtr.errors import CheckpointError
from drethtr.trust.trust import Trust


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


def test_half_precision_halves_the_file(tiny_model, tiny_path, tmp_path) -> None:
    save_model(tiny_model, tmp_path / "half.safetensors", half=True)
    assert (tmp_path / "half.safetensors").stat().st_size < 0.7 * tiny_path.stat().st_size
    weight = load_model(tmp_path / "half.safetensors").network.to_logits.weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight, tiny_model.network.to_logits.weight, rtol=1e-3, atol=1e-3)


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
    with pytest.raises(CheckpointError, match=r"to_logits\.weight"):
        load_model(tiny_path)


@pytest.mark.parametrize("spoil", [lambda whole: whole[: len(whole) // 2], lambda whole: b"PK\x03\x04" + whole])
def test_damaged_file_is_refused(spoil, tiny_path) -> None:
    tiny_path.write_bytes(spoil(tiny_path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors"):
        load_model(tiny_path)


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(CheckpointError, match="no such model file"):
        load_model(tmp_path / "nothing.safetensors")


def test_a_file_of_other_tensors_is_refused(tmp_path) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "x.safetensors")
    with pytest.raises(CheckpointError, match="header is missing"):
        load_model(tmp_path / "x.safetensors")
