"""A model file gives back what was put in, and refuses what it is not."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from drethtr.base.errors import CheckpointError
from drethtr.images.prepare import Preparation
from drethtr.network.backend import network_of
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import (
    SHIPPED,
    Model,
    Rescorer,
    in_8_bits,
    load_model,
    save_card,
    save_model,
    save_record,
    save_rescorer,
    weights_hash,
)
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import Characters


def read_tensors(path):
    """Tensors and metadata, as anybody reads them."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def test_round_trip(tiny_model, tmp_path) -> None:
    save_model(tiny_model, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    for part in ("network", "tokenizer", "preparation", "card", "record", "languages"):
        assert getattr(loaded, part) == getattr(tiny_model, part), part
    assert loaded.weights.keys() == tiny_model.weights.keys()
    for name, weight in tiny_model.weights.items():
        assert np.array_equal(loaded.weights[name], weight) and loaded.weights[name].dtype == weight.dtype, name


def test_a_network_that_is_built_to_read_does_not_train(tiny_model) -> None:
    network = network_of(tiny_model)
    assert not network.training and network.config == tiny_model.network
    for name, weight in network.state_dict().items():
        assert np.array_equal(weight.numpy(), tiny_model.weights[name]), name


def test_a_model_is_shown_in_one_line(tiny_model) -> None:
    assert repr(tiny_model) == f"<Model: {tiny_model.identity}, {tiny_model.parameter_count:,} parameters>"


def test_so_many_numbers_are_learned(tiny_model) -> None:
    """What batch norms count is not."""
    assert tiny_model.parameter_count == network_of(tiny_model).parameter_count


def test_quantizing_halves_the_file(tiny_model, tiny_path, tmp_path) -> None:
    save_model(tiny_model, tmp_path / "small.safetensors", bits=8)
    assert (tmp_path / "small.safetensors").stat().st_size < 0.7 * tiny_path.stat().st_size
    weights = load_model(tmp_path / "small.safetensors").weights
    assert {weight.dtype for name, weight in weights.items() if "num_batches" not in name} == {np.dtype(np.float32)}
    name = "to_logits.weight"
    np.testing.assert_allclose(weights[name], tiny_model.weights[name], rtol=0.01, atol=0.02)


def test_the_shipped_model_is_the_one_it_was() -> None:
    model = load_model(SHIPPED)
    assert model.hash == "88c0f8225fb9efe8bb4693c92a6a96ad597c5499c6326db22514155e36f30953"
    assert weights_hash(model.weights) == "0d6c40bb43bf383ccd3d716565ea4c6dcf18f4ee1296a00de12996e6ba2191b1"


def rewritten(path, **header):
    tensors, metadata = read_tensors(path)
    save_file(tensors, path, {"drethtr": json.dumps(json.loads(metadata["drethtr"]) | header)})


BACKENDS = {"onnxruntime": Recognizer.load, "torch": lambda path: network_of(load_model(path))}
on_both_backends = pytest.mark.parametrize("opened", BACKENDS.values(), ids=BACKENDS)
"""Whether weights are those of the network is seen when a backend builds it."""


def test_a_model_of_an_earlier_version_is_not_calibrated(tiny_path) -> None:
    tensors, metadata = read_tensors(tiny_path)
    header = json.loads(metadata["drethtr"])
    del header["trust"]
    save_file(tensors, tiny_path, {"drethtr": json.dumps(header)})
    assert load_model(tiny_path).record == CalibrationRecord()


def test_a_record_that_is_not_understood_is_refused(tiny_path) -> None:
    rewritten(tiny_path, trust={"kind": "Trust", "unlike_training": {"kind": "Oracle"}})
    with pytest.raises(CheckpointError, match="Oracle"):
        load_model(tiny_path)


LOGISTIC = {"kind": "Logistic", "bias": 0.0, "weights": [1.0]}
RATE = {"strategy": {"kind": "Greedy"}, "factor": 1.0, "spread": 0.1, "noise": 1.0, "sets": 3}
SENSELESS_RECORDS = [
    {"unlike_training": {"alike": LOGISTIC | {"weights": [float("nan")]}, "least": 0.0}},
    {"unlike_training": {"alike": LOGISTIC | {"bias": float("inf")}, "least": 0.0}},
    {"unlike_training": {"alike": LOGISTIC, "least": float("nan")}},
    *({"error_rates": [RATE | {name: -0.1}]} for name in ("factor", "spread", "noise")),
    {"error_rates": [RATE | {"factor": 0.0}]},
    {"error_rates": [RATE | {"noise": float("nan")}]},
]


@pytest.mark.parametrize("trust", SENSELESS_RECORDS, ids=str)
def test_a_record_that_makes_no_sense_is_refused(trust, tiny_path) -> None:
    """Else all would be flagged, or reading would break off."""
    rewritten(tiny_path, trust=trust)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: .*(finite|factor must be positive)"):
        load_model(tiny_path)


@pytest.mark.parametrize(
    ("version", "cure"),
    [(1, "use drethtr 0.1, or train the model again"), (999, "install the drethtr version that wrote it")],
)
def test_other_versions_are_refused_with_a_cure(version, cure, tiny_path) -> None:
    rewritten(tiny_path, format=version)
    with pytest.raises(
        CheckpointError, match=rf"tiny\.safetensors: model format {version}, but this version reads format 4; {cure}"
    ):
        load_model(tiny_path)


def test_unknown_settings_are_refused(tiny_path) -> None:
    rewritten(tiny_path, preparation={"kind": "Preparation", "hight": 48})
    with pytest.raises(CheckpointError, match="did you mean 'height'"):
        load_model(tiny_path)


def without(tensors, name):
    return {other: tensor for other, tensor in tensors.items() if other != name}


UNFIT = {
    "one missing": (
        lambda found: without(found, "to_logits.weight"),
        r"the weights lack to_logits\.weight, which this",
    ),
    "many missing": (lambda found: {"x": torch.zeros(1)}, r"the weights lack \S+.*, which this network has"),
    "too many": (
        lambda found: found | {f"more.{number}": torch.zeros(1) for number in range(9)},
        r"does not use the weights more\.0, more\.1, more\.2 and 6 more",
    ),
    "another shape": (
        lambda found: found | {"to_width.weight": torch.zeros(3, 5)},
        r"do not fit: to_width\.weight is of shape \(3, 5\), in this network",
    ),
    "integers": (
        lambda found: found | {"to_width.weight": found["to_width.weight"].long()},
        r"do not fit: to_width\.weight is of \S*int64, in this network",
    ),
}


@on_both_backends
@pytest.mark.parametrize(("change", "message"), UNFIT.values(), ids=UNFIT)
def test_weights_that_do_not_fit_are_refused(change, message, opened, tiny_path) -> None:
    tensors, metadata = read_tensors(tiny_path)
    save_file(change(tensors), tiny_path, metadata)
    with pytest.raises(CheckpointError, match=message) as refusal:
        opened(tiny_path)
    assert len(str(refusal.value)) < 300


def test_what_does_not_fit_is_told_with_the_file(tiny_path) -> None:
    rewritten(tiny_path, network=json.loads(read_tensors(tiny_path)[1]["drethtr"])["network"] | {"width": 32})
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: the weights do not fit"):
        Recognizer.load(tiny_path)


def test_numbers_of_a_kind_that_no_model_has_are_refused(tiny_path) -> None:
    """Complex ones were taken for real ones and broke the first line."""
    tensors, metadata = read_tensors(tiny_path)
    save_file(tensors | {"to_width.weight": tensors["to_width.weight"].to(torch.complex64)}, tiny_path, metadata)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: contains C64 tensors; drethtr models never do"):
        load_model(tiny_path)


@on_both_backends
def test_lines_prepared_for_another_network_are_refused(opened, tiny_path) -> None:
    rewritten(tiny_path, preparation={"kind": "Preparation", "height": 64})
    with pytest.raises(CheckpointError, match=r"prepares lines 64 pixels high, but its backbone needs 48"):
        opened(tiny_path)


def test_weights_that_are_no_numbers_are_refused(tiny_model, tmp_path) -> None:
    """They would read as silence."""
    tiny_model.weights["to_logits.weight"][0, 0] = np.nan
    save_model(tiny_model, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors: non-finite numbers in to_logits\.weight"):
        load_model(tmp_path / "model.safetensors")


def test_a_file_that_may_not_be_read_is_not_called_incomplete(tiny_path, monkeypatch) -> None:
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(tiny_path), "read_bytes", refused)
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: cannot be read: Permission denied$"):
        load_model(tiny_path)


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(CheckpointError, match="no such model file"):
        load_model(tmp_path / "nothing.safetensors")
    with pytest.raises(CheckpointError, match="give the path that drethtr model info prints"):
        load_model(Path(":"))


def test_a_folder_is_called_one(tmp_path) -> None:
    with pytest.raises(CheckpointError, match=r"is a folder; give the model file in it, such as .*model\.safetensors"):
        load_model(tmp_path)


def test_a_file_of_other_tensors_is_refused(tmp_path) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "x.safetensors")
    with pytest.raises(CheckpointError, match="header is missing"):
        load_model(tmp_path / "x.safetensors")


def test_others_may_read_a_model_as_any_file(tiny_path, tmp_path) -> None:
    (tmp_path / "any").touch()
    assert tiny_path.stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.parametrize("header", [[], {"format": 4, "card": []}, "deep"])
def test_a_header_of_another_shape_is_refused(header, tiny_path) -> None:
    """It may come from a stranger."""
    text = "[" * 100_000 if header == "deep" else json.dumps(header)
    save_file(read_tensors(tiny_path)[0], tiny_path, {"drethtr": text})
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors"):
        load_model(tiny_path)


def test_a_card_with_half_a_character_can_be_written_again(tiny_path, tmp_path) -> None:
    """Fine-tuning failed with its last step."""
    tensors, metadata = read_tensors(tiny_path)
    save_file(tensors, tiny_path, {"drethtr": metadata["drethtr"].replace('"tiny"', r'"tiny \ud800"')})
    save_model(load_model(tiny_path), tmp_path / "again.safetensors")
    assert load_model(tmp_path / "again.safetensors").card["name"] == "tiny \ufffd"


def test_a_card_can_be_replaced_alone(tiny_model, tiny_path) -> None:
    save_card(tiny_path, {"name": "other", "license": "CC0"})
    loaded = load_model(tiny_path)
    assert loaded.card == {"name": "other", "license": "CC0"} and loaded.hash == tiny_model.hash


SETTINGS_ERRORS = {
    "no heads": {"heads": 0},
    "more than memory": {"width": 1 << 40, "heads": 1 << 39},
    "beyond torch": {"ctc": {"kind": "CTCConfig", "steps": 10**30}},
    "beyond floats": {"dropout": 10**400},
    "another width": {"width": 32},
    "a decay below 0": {"mixer": {"kind": "Retentive", "decay": {"kind": "Scheduled", "subtractor": 2.0}}},
}


@on_both_backends
@pytest.mark.parametrize("settings", SETTINGS_ERRORS.values(), ids=SETTINGS_ERRORS)
def test_settings_that_make_no_sense_are_refused(settings, opened, tiny_path) -> None:
    network = json.loads(read_tensors(tiny_path)[1]["drethtr"])["network"]
    rewritten(tiny_path, network=network | settings)
    with pytest.raises(
        CheckpointError, match=r"(settings in the header of this model|settings are invalid|do not fit): "
    ):
        opened(tiny_path)


@pytest.mark.parametrize("bits", [None, 8])
def test_the_hash_is_the_same_wherever_a_model_is_stored(bits, tiny_path, tmp_path) -> None:
    model, path = load_model(tiny_path), tmp_path / "again.safetensors"
    save_model(model, path, bits=bits)
    loaded = load_model(path)
    assert (loaded.hash == model.hash) is (bits is None), "rounded weights are other weights"
    save_model(loaded, path, bits=bits)
    assert load_model(path).hash == loaded.hash == Recognizer.load(path).model.hash


def test_a_model_of_4_bits_stays_what_it_is(tiny_model, tmp_path) -> None:
    ranked = replace(tiny_model, rescorer=fresh_rescorer(tiny_model))
    save_model(ranked, tmp_path / "coarse.safetensors", bits=4)
    coarse = load_model(tmp_path / "coarse.safetensors")
    assert coarse.hash != in_8_bits(ranked).hash
    assert in_8_bits(coarse).hash == coarse.hash, "in 8 bits, too"
    save_model(coarse, tmp_path / "again.safetensors", bits=4)
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "coarse.safetensors").read_bytes()


def test_the_hash_does_not_depend_on_the_order_of_the_file_or_the_card(tiny_model, tiny_path) -> None:
    tensors, metadata = read_tensors(tiny_path)
    save_file(dict(reversed(tensors.items())), tiny_path, metadata)
    rewritten(tiny_path, card={"name": "renamed"})
    assert load_model(tiny_path).hash == tiny_model.hash


def other_weights(model: Model) -> Model:
    weight = model.weights["to_logits.weight"].copy()
    weight[0, 0] += 1e-6
    return replace(model, weights={**model.weights, "to_logits.weight": weight})


RATE_OF_GREEDY = ErrorRate(Greedy(), 1.0, 0.1, 1.0, 3)
OTHERS = {
    "weights": other_weights,
    "alphabet": lambda model: replace(model, tokenizer=Characters(model.tokenizer.characters.replace("p", "q"))),
    "preparation": lambda model: replace(model, preparation=Preparation(height=48, stretch=1.1)),
    "record": lambda model: replace(model, record=CalibrationRecord(error_rates=(RATE_OF_GREEDY,))),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_decides_a_reading_changes_the_hash(change, tiny_model) -> None:
    before = tiny_model.hash
    assert change(tiny_model).hash != before


@pytest.mark.parametrize("bits", [None, 8])
def test_a_rescorer_is_stored_with_its_model(bits, tiny_model, tmp_path) -> None:
    path = tmp_path / "ranked.safetensors"
    rescorer = fresh_rescorer(tiny_model)
    model = replace(tiny_model, rescorer=rescorer)
    save_model(model, path, bits=bits)
    loaded = load_model(path)
    assert loaded.rescorer is not None and loaded.rescorer.config == rescorer.config
    assert loaded.weights.keys() == tiny_model.weights.keys() and loaded.hash != tiny_model.hash
    assert loaded.hash == (in_8_bits(model) if bits else model).hash
    kept = loaded.rescorer.weights
    assert kept.keys() == rescorer.weights.keys()
    assert all(np.allclose(kept[name], weight, atol=1e-3) for name, weight in rescorer.weights.items())
    assert loaded.parameter_count == tiny_model.parameter_count + sum(w.size for w in rescorer.weights.values())
    save_rescorer(path, rescorer._replace(weights=kept), path, of=loaded)
    assert weights_hash(load_model(path).weights) == weights_hash(loaded.weights)


def test_a_rescorer_that_makes_no_sense_is_refused(tiny_model, tiny_path) -> None:
    save_model(replace(tiny_model, rescorer=fresh_rescorer(tiny_model)), tiny_path)
    rewritten(tiny_path, rescorer={"layers": 10**9})
    with pytest.raises(CheckpointError, match="layers must be between 1 and 1,000"):
        load_model(tiny_path)
    rewritten(tiny_path, rescorer={"mixer": {"kind": "Retentive", "decay": {"kind": "Gated"}}})
    with pytest.raises(CheckpointError, match="cannot be gated"):
        load_model(tiny_path)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"], ids=["onnxruntime", "torch"])
def test_a_rescorer_that_cannot_be_built_is_refused(precision, tiny_model, tiny_path) -> None:
    save_model(replace(tiny_model, rescorer=fresh_rescorer(tiny_model)), tiny_path)
    settings = json.loads(read_tensors(tiny_path)[1]["drethtr"])["rescorer"]
    decay = {"kind": "Scheduled", "schedule": "small", "subtractor": 2.0}
    rewritten(tiny_path, rescorer=settings | {"mixer": {"kind": "Retentive", "decay": decay}})
    with pytest.raises(CheckpointError, match=r"tiny\.safetensors: the model's settings are invalid: γ must stay"):
        Recognizer.load(tiny_path, precision=precision, device="cpu")


def fresh_rescorer(model: Model) -> Rescorer:
    config = RescorerConfig(layers=1, width=32, heads=2, hidden=8)
    weights = RescorerNetwork(config, model.tokenizer.size).state_dict()
    return Rescorer(config, {name: weight.numpy() for name, weight in weights.items()})


def test_a_model_is_named_by_its_card_and_hash(tiny_model) -> None:
    assert tiny_model.identity == f"tiny {tiny_model.hash[:12]}"
    assert replace(tiny_model, card={}).identity == tiny_model.hash[:12]
    assert replace(tiny_model, card={"name": "a\x1b[31mb"}).identity.startswith("a [31mb ")
    assert replace(tiny_model, card={"name": "two\nlines"}).identity.startswith("two lines ")


def test_what_was_learned_of_another_model_is_not_saved_into_it(tiny_model, tiny_path):
    """The file was replaced while the model that was in it was being measured."""
    name, weight = next(iter(tiny_model.weights.items()))
    before = load_model(tiny_path)
    save_model(replace(tiny_model, weights={**tiny_model.weights, name: weight + 1}), tiny_path)
    with pytest.raises(CheckpointError, match="was replaced by another model meanwhile; start again"):
        save_record(tiny_path, CalibrationRecord(), tiny_path, of=before)
    save_record(tiny_path, CalibrationRecord(), tiny_path, of=load_model(tiny_path))


def test_confidences_of_other_language_models_are_not_saved_beside_new_ones(tiny_model, tiny_path, tmp_path):
    before = load_model(tiny_path)
    save_rescorer(tiny_path, fresh_rescorer(tiny_model), tiny_path, of=before)
    with pytest.raises(CheckpointError, match="was replaced by another model meanwhile; start again"):
        save_record(tiny_path, CalibrationRecord(), tmp_path / "new.safetensors", of=before)
    save_record(tiny_path, CalibrationRecord(), tmp_path / "new.safetensors", of=load_model(tiny_path))


def test_half_of_a_model_is_refused_wherever_it_ends(tiny_path, tmp_path):
    whole = tiny_path.read_bytes()
    half = tmp_path / "half.safetensors"
    for length in (0, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        half.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"half\.safetensors: not a complete safetensors file"):
            load_model(half)
    half.write_bytes(b"PK\x03\x04" + whole)
    with pytest.raises(CheckpointError, match=r"half\.safetensors"):
        load_model(half)
