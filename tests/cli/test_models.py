"""Models that cannot be used, and what `drethtr model info` says of those that can."""

import json
from dataclasses import replace

import pytest
from safetensors import safe_open
from safetensors.torch import save_file
from sharing_examples import CARD, RATES, complete

from drethtr.recognition.model.adapter import Adapter, save_adapter
from drethtr.recognition.model.file import load_model, save_model, weights_hash


def with_header(path, change):
    """Rewrite a model file with another header."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["drethtr"])
    change(header)
    save_file(tensors, path, {"drethtr": json.dumps(header)})


def of_another_version(path):
    with_header(path, lambda header: header.update(format=99))


def of_another_network(path):
    with_header(path, lambda header: header["network"].update(width=24))


def with_unknown_setting(path):
    with_header(path, lambda header: header["network"].update(colour="red"))


def truncated(path):
    path.write_bytes(path.read_bytes()[:-100])


def no_model(path):
    path.write_text("Dear Sir,")


def missing(path):
    path.unlink()


KINDS = [of_another_version, of_another_network, with_unknown_setting, truncated, no_model, missing]


@pytest.mark.parametrize(
    ("command", "damage"), [*(("info", kind) for kind in KINDS), ("transcribe", no_model), ("evaluate", missing)]
)
def test_a_model_that_cannot_be_used_is_one_clear_line(drethtr, lines, tiny_path, damage, command):
    damage(tiny_path)
    arguments = ["info", tiny_path] if command == "info" else [command, lines, "--model", tiny_path]
    outcome = drethtr(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"drethtr: {tiny_path}: ")


def test_info_tells_what_the_model_is(drethtr, tiny_model, tmp_path):
    path = tmp_path / "model.safetensors"
    save_model(complete(tiny_model), path)
    outcome = drethtr("info", path)
    assert outcome.code == 0
    facts = ("parameters", "abcdefghij", "license: CC BY 4.0", "letters; CC0", "10.00 [5.00, 20.00]", "by hand")
    for fact in (*facts, f"hash: {complete(tiny_model).hash}"):
        assert fact in outcome.out


@pytest.mark.parametrize(
    "evaluation",
    ["3 %", {}, {**CARD["evaluation"], "sets": [{"name": "a"}]}, {**CARD["evaluation"], "overall": {"cer": 0.1}}],
)
def test_info_takes_nothing_for_granted(drethtr, tiny_model, tmp_path, evaluation):
    """The card of a stranger's model may say anything."""
    path = tmp_path / "model.safetensors"
    save_model(replace(complete(tiny_model), card={**CARD, "evaluation": evaluation}), path)
    outcome = drethtr("info", path)
    assert outcome.code == 0 and "evaluation:" in outcome.out and "measured on" not in outcome.out


def test_the_package_is_not_changed_by_chance(drethtr, tmp_path):
    (tmp_path / "card.toml").write_text('license = "CC0"', encoding="utf-8")
    outcome = drethtr("info", "--add", tmp_path / "card.toml")
    assert outcome.code == 2 and "--add changes a model; name it" in outcome.err


def test_a_complete_card_passes(drethtr, tiny_model, tmp_path):
    save_model(complete(tiny_model), tmp_path / "model.safetensors")
    outcome = drethtr("info", tmp_path / "model.safetensors", "--check")
    assert outcome == (0, f"{tmp_path / 'model.safetensors'}: the card is complete\n", "")


def test_figures_on_many_lines_are_not_replaced_by_such_on_few_unless_forced(drethtr, tiny_model, tmp_path):
    path, figures = tmp_path / "model.safetensors", tmp_path / "figures.json"
    model = complete(tiny_model)
    save_model(replace(model, card={**CARD, "evaluation": made_by(model.identity, lines=120)}), path)
    few = made_by(model.identity, lines=2)
    figures.write_text(json.dumps(few), encoding="utf-8")
    before = path.read_bytes()
    outcome = drethtr("info", path, "--add", figures)
    assert outcome.code == 2 and "metrics on 2 lines would replace those on 120" in outcome.err
    assert "--force" in outcome.err and path.read_bytes() == before
    assert drethtr("info", path, "--add", figures, "--force").code == 0
    assert load_model(path).card["evaluation"] == few
    many, before = tmp_path / "many.json", path.read_bytes()
    many.write_text(json.dumps(made_by(model.identity, lines=120)), encoding="utf-8")
    outcome = drethtr("info", path, "--add", many, "--add", figures)
    assert outcome.code == 2 and "metrics on 2 lines would replace" in outcome.err and path.read_bytes() == before
    assert "give new ones with --add" in drethtr("info", path, "--force").err


def test_figures_of_another_model_make_way_for_any(drethtr, tiny_model, tmp_path):
    """Such a card tells no rate of its own model."""
    path, figures = tmp_path / "model.safetensors", tmp_path / "figures.json"
    model = complete(tiny_model)
    save_model(replace(model, card={**CARD, "evaluation": made_by("other 0123456789ab", lines=120)}), path)
    figures.write_text(json.dumps(made_by(model.identity, lines=2)), encoding="utf-8")
    assert drethtr("info", path, "--add", figures).code == 0


def made_by(model, *, lines):
    """Figures of a model on so many lines."""
    return CARD["evaluation"] | {"overall": RATES | {"lines": lines}, "made_by": {"model": model}}


def test_an_adapter_is_not_advised_to_be_calibrated(drethtr, tiny_model, tiny_path, tmp_path):
    path = tmp_path / "adapter.safetensors"
    save_adapter(Adapter({}, weights_hash(tiny_model.weights), tiny_path.name, {}), path)
    (tmp_path / tiny_path.name).write_bytes(tiny_path.read_bytes())
    told = drethtr("info", path, "--check").out
    assert "calibrated confidences: run drethtr model finetune --adapter again" in told


def test_what_a_card_lacks_can_be_added(drethtr, tiny_model, tmp_path):
    path, entries, figures = (tmp_path / name for name in ("model.safetensors", "card.toml", "figures.json"))
    save_model(replace(complete(tiny_model), card={"data": CARD["data"]}), path)
    outcome = drethtr("info", path, "--check")
    assert outcome.code == 1 and outcome.out.count("\n- ") == 3 and f"drethtr model info {path} --add" in outcome.out
    entries.write_text('license = "CC0"\nnormalization = "NFC"\n', encoding="utf-8")
    figures.write_text(json.dumps(CARD["evaluation"] | {"made_by": {"model": "other 0123456789ab"}}), encoding="utf-8")
    before = path.read_bytes()
    foreign = drethtr("info", path, "--check", "--add", entries, "--add", figures)
    assert foreign.code == 2 and f"of other 0123456789ab, not of {load_model(path).identity}" in foreign.err
    evaluation = CARD["evaluation"] | {"made_by": {"model": load_model(path).identity}}
    figures.write_text(json.dumps(evaluation), encoding="utf-8")
    assert drethtr("info", path, "--check", "--add", entries, "--add", tmp_path / "gone.toml").code == 2
    assert path.read_bytes() == before, "nothing is added if not all can be"
    assert drethtr("info", path, "--check", "--add", entries, "--add", figures).code == 0
    found = load_model(path)
    assert found.card["evaluation"]["overall"] == RATES and found.hash == complete(tiny_model).hash
