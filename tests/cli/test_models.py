"""Models that cannot be used, and what `drethtr info` says of those that can."""

import json
from dataclasses import replace

import pytest
from safetensors import safe_open
from safetensors.torch import save_file

from drethtr.checkpoint import save_model


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


@pytest.mark.parametrize(
    "damage", [of_another_version, of_another_network, with_unknown_setting, truncated, no_model, missing]
)
@pytest.mark.parametrize("command", ["info", "transcribe", "evaluate"])
def test_a_model_that_cannot_be_used_is_one_clear_line(drethtr, lines, tiny_path, damage, command):
    damage(tiny_path)
    arguments = ["info", tiny_path] if command == "info" else [command, lines, "--model", tiny_path]
    outcome = drethtr(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"drethtr: {tiny_path}: ")


def test_another_version_is_said_to_be_one(drethtr, tiny_path):
    of_another_version(tiny_path)
    assert "model format 99, but this drethtr reads" in drethtr("info", tiny_path).err


def test_info_tells_what_the_model_is(drethtr, tiny_model, tmp_path):
    path = tmp_path / "model.safetensors"
    rates = {"lines": 7, "characters": 200, "cer": 0.1, "cer_low": 0.05, "cer_high": 0.2}
    rates |= {"wer": 0.3, "wer_low": 0.25, "wer_high": 0.4}
    card = {
        "license": "CC BY 4.0",
        "data": [{"set": "letters", "license": "CC0"}],
        "evaluation": {"convention": "by hand", "sets": [{"name": "letters", **rates}], "overall": rates},
    }
    save_model(replace(tiny_model, card=card), path)
    outcome = drethtr("info", path)
    assert outcome.code == 0
    for fact in ("parameters", "abcdefghij", "license: CC BY 4.0", "letters; CC0", "10.00 [5.00, 20.00]", "by hand"):
        assert fact in outcome.out
