"""Small changes of a model, kept in a file of their own."""

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import written
from safetensors import safe_open
from safetensors.numpy import save_file

from drethtr import from_pretrained
from drethtr.base.errors import CheckpointError
from drethtr.network.backend import network_of
from drethtr.network.lora import projections
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.adapter import DOWN, UP, Adapter, holds_adapter, load_adapted, load_adapter, save_adapter
from drethtr.recognition.model.file import ADAPTER, load_model, save_model, weights_hash, without_record
from drethtr.recognition.recognizer import Recognizer

LINE = written("bad pig, moon")


@pytest.fixture
def adapter(tiny_path):
    """Changes of the tiny model large enough to read otherwise."""
    model = load_model(tiny_path)
    rng, changes = np.random.default_rng(1), {}
    for name, layer in projections(network_of(model)).items():
        changes[name + UP] = rng.normal(size=(len(layer.weight), 2)).astype(np.float16)
        changes[name + DOWN] = rng.normal(size=(2, layer.weight[0].numel())).astype(np.float16)
    return Adapter(changes, weights_hash(model.weights), tiny_path.name, {"name": "tiny, changed"})


@pytest.fixture
def adapter_path(adapter, tmp_path):
    path = tmp_path / "small.safetensors"
    save_adapter(adapter, path)
    return path


def reading(recognizer):
    [found] = recognizer.read([LINE])
    return found


def test_an_adapter_comes_back_as_it_was(adapter, adapter_path, tiny_path):
    loaded = load_adapter(adapter_path)
    assert (loaded.base, loaded.beside, loaded.card) == (adapter.base, adapter.beside, adapter.card)
    assert all(np.array_equal(loaded.changes[name], change) for name, change in adapter.changes.items())
    assert holds_adapter(adapter_path) and not holds_adapter(tiny_path)


def test_numbers_beyond_float16_are_kept(adapter, adapter_path):
    name = next(iter(adapter.changes))
    large = np.full(adapter.changes[name].shape, 1e5, np.float32)
    save_adapter(replace(adapter, changes={**adapter.changes, name: large}), adapter_path)
    assert np.array_equal(load_adapter(adapter_path).changes[name], large)


def test_a_model_is_read_with_its_adapter(adapter, adapter_path, tiny_path):
    plain = reading(Recognizer.load(tiny_path))
    named = Recognizer.load(tiny_path, adapter=adapter_path)
    beside = Recognizer.load(adapter_path)
    assert named.model.card == beside.model.card == adapter.card
    assert reading(named) == reading(beside)
    assert reading(named).text != plain.text
    np.testing.assert_array_equal(
        *(found.weights["to_logits.weight"] for found in (named.model, load_adapted(adapter, [tiny_path])))
    )


def test_a_shared_model_is_opened_as_any_other(adapter_path, tiny_path):
    wishes = {"adapter": adapter_path, "decoder": Greedy(), "alternatives": 2}
    found, known = (reading(load(tiny_path, **wishes)) for load in (from_pretrained, Recognizer.load))
    assert found == known and len(found.alternatives) == 3


def test_an_adapter_may_have_the_name_of_its_model(adapter, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.recognition.model.adapter.SHIPPED", tiny_path)
    (tmp_path / "mine").mkdir()
    save_adapter(adapter, tmp_path / "mine" / tiny_path.name)
    assert Recognizer.load(tmp_path / "mine" / tiny_path.name).model.card == adapter.card


def test_the_card_does_not_change_which_model_it_is(tiny_model, tiny_path, adapter_path):
    save_model(replace(tiny_model, card={"name": "renamed"}), tiny_path)
    assert Recognizer.load(adapter_path).model.card["name"] == "tiny, changed"


def test_an_adapter_of_other_weights_is_refused(tiny_model, tiny_path, adapter, adapter_path):
    tiny_model.weights["to_logits.weight"][5, 5] += 1
    save_model(tiny_model, tiny_path)
    for load in (lambda: Recognizer.load(adapter_path), lambda: Recognizer.load(tiny_path, adapter=adapter_path)):
        with pytest.raises(CheckpointError, match=f"hash {adapter.base}.*not to .*tiny.safetensors"):
            load()


def test_a_calibration_ends_with_the_ngrams(tiny_path, tiny_model, adapter, adapter_path):
    for whole in ("", without_record(tiny_model), "other"):
        save_adapter(replace(adapter, record=CalibrationRecord(strategy=Greedy()), whole=whole), adapter_path)
        assert (load_adapted(load_adapter(adapter_path), [tiny_path]).record.strategy is None) is (whole == "other")


def test_a_model_that_cannot_be_used_with_its_adapter_is_told_why(tiny_path, adapter_path):
    with pytest.raises(CheckpointError, match=r"tyni\.safetensors: no such model file"):
        Recognizer.load(tiny_path.with_name("tyni.safetensors"), adapter=adapter_path)
    tiny_path.write_bytes(tiny_path.read_bytes()[:-50])
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: not a complete safetensors file"):
        Recognizer.load(tiny_path, adapter=adapter_path)


def test_an_adapter_whose_model_is_not_there_says_so(adapter_path, tiny_path, monkeypatch):
    monkeypatch.setattr("drethtr.recognition.model.adapter.SHIPPED", adapter_path)
    tiny_path.unlink()
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors, which was not found; put it beside the adapter"):
        Recognizer.load(adapter_path)


def test_a_model_is_no_adapter_and_an_adapter_no_model(tiny_path, adapter_path):
    with pytest.raises(CheckpointError, match="not an adapter"):
        Recognizer.load(tiny_path, adapter=tiny_path)
    with pytest.raises(CheckpointError, match="this is an adapter; give its base model instead"):
        load_model(adapter_path)


@pytest.mark.parametrize(("version", "cure"), [(1, "use drethtr 0.1"), (99, "install the drethtr version")])
def test_an_adapter_of_another_version_is_said_to_be_one(version, cure, adapter_path):
    with safe_open(adapter_path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()[ADAPTER])
    save_file(tensors, adapter_path, {ADAPTER: json.dumps(header | {"format": version})})
    with pytest.raises(CheckpointError, match=f"adapter format {version}, but this version reads format 4; {cure}"):
        load_adapter(adapter_path)


@pytest.mark.parametrize("beside", ["", ".", "/", "a\0b"], ids=repr)
def test_an_adapter_may_name_any_file(beside, adapter, adapter_path):
    save_adapter(replace(adapter, beside=beside), adapter_path)
    with pytest.raises(CheckpointError, match="this adapter belongs to the model with hash"):
        Recognizer.load(adapter_path)


@pytest.mark.parametrize("shape", [(), (0, 16)], ids=str)
def test_an_adapter_of_a_model_without_numbers_is_refused(shape, adapter, tiny_model, tiny_path):
    """Hashing and adding them failed."""
    weights = {**tiny_model.weights, "to_logits.weight": np.zeros(shape, np.float32)}
    save_model(replace(tiny_model, weights=weights), tiny_path)
    with pytest.raises(CheckpointError, match="update of to_logits does not have the shape"):
        load_adapted(replace(adapter, base=weights_hash(load_model(tiny_path).weights)), [tiny_path])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("part", [UP, DOWN])
def test_an_adapter_with_changes_of_any_shape_is_refused(part, shape, adapter, tiny_path):
    adapter.changes["to_logits" + part] = np.zeros(shape)
    with pytest.raises(CheckpointError, match="update of to_logits does not have the shape"):
        load_adapted(adapter, [tiny_path])


def test_an_adapter_with_changes_that_are_no_numbers_is_refused(adapter, adapter_path):
    adapter.changes["to_logits" + UP][0, 0] = np.inf
    save_adapter(adapter, adapter_path)
    with pytest.raises(CheckpointError, match=r"small\.safetensors: non-finite numbers in to_logits\.up"):
        Recognizer.load(adapter_path)


def test_an_adapter_whose_changes_are_too_large_is_refused(adapter, tiny_path):
    large = {name: np.full(change.shape, 1e30, np.float32) for name, change in adapter.changes.items()}
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors with the adapter's changes: non-finite numbers in"):
        load_adapted(replace(adapter, changes=large), [tiny_path])


def test_a_damaged_adapter_is_refused(adapter_path):
    adapter_path.write_bytes(adapter_path.read_bytes()[:-50])
    with pytest.raises(CheckpointError, match="not a complete safetensors file"):
        Recognizer.load(adapter_path)
