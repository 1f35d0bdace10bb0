"""A small model learns a hand from what it reads itself, by the command a person types."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import page_of
from drethtr.recognition.model.file import load_model
from drethtr.recognition.model.weights import read_file
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BLANK
from drethtr.training.finetuning import Plan, estimate, gather_readings, own_readings
from drethtr.training.finetuning.finetune import Trainer

SHORT = ("--own-readings", "--samples", 16, "--workers", 0, "--device", "cpu")


def texts(samples):
    return {sample.key: sample.text for sample in samples}


def careful(model, samples):
    read = Recognizer(model, "careful", precision="int8").read([sample.image for sample in samples])
    return {sample.key: reading.text for sample, reading in zip(samples, read, strict=True)}


@pytest.fixture(autouse=True)
def _few_lines_are_enough(monkeypatch):
    monkeypatch.setattr(sys.modules[own_readings.__name__], "LEAST", 36)


@pytest.fixture
def material(data, tiny_path):
    return gather_readings(Plan(data=(), model=str(tiny_path), samples=8, own_readings=True), open_all([str(data)]))


def test_a_model_learns_what_it_reads(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert "reading 36 lines with the starting model" in outcome.err
    assert "30 lines to learn from own readings, 6 for confidences (other pages)." in outcome.out
    assert f"drethtr model compare {tiny_path} {output} LINES" in outcome.out
    model = load_model(output)
    told = model.card["fine_tuned"]
    assert told["own_readings"] and (told["lines"], told["validation_lines"], told["samples"]) == (30, 0, 5 * 16)
    assert "validation_after" not in told and "ő" not in model.tokenizer.characters
    run = output.with_suffix(".run")
    first, second = (open_all([str(run / f"round_1_half_{half}" / "*_lines.parquet")]) for half in "ab")
    assert not {page_of(line) for line in first} & {page_of(line) for line in second}
    assert texts([*first, *second]) == careful(load_model(tiny_path), [*first, *second])
    assert not list(run.rglob("*.safetensors"))


def test_an_adapter_learns_what_its_model_reads(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--adapter", "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert Recognizer.load(output).model.card["fine_tuned"]["own_readings"]


def test_each_half_is_read_by_the_model_of_the_other(material, tmp_path, monkeypatch):
    """Training is left out: the model of a half is one that reads it otherwise than the start."""
    places, start = [], material.start
    other = replace(start, weights={name: weight.copy() for name, weight in start.weights.items()})
    other.weights["ctc.refine.bias"][::2] += 3

    def untrained(given, share, trainer, found):
        places.append((trainer.folder.name, given.parts.train))
        return other if trainer.folder.name.endswith("a") else start

    monkeypatch.setattr(sys.modules[own_readings.__name__], "train_share", untrained)
    trainer = Trainer(tmp_path, "cpu", 1, 0, False, print)
    agreed = texts(own_readings.agreed(material, trainer))
    halves = dict(places)
    assert list(halves) == [f"round_{number}_half_{half}" for number in (1, 2) for half in "ab"]
    first, second = halves["round_2_half_a"], halves["round_2_half_b"]
    assert agreed == careful(start, first) | careful(other, second)
    assert careful(start, second) != careful(other, second)


def test_the_lines_of_one_page_are_halved(data, material, tmp_path, monkeypatch):
    one_page = tuple(replace(line, page="1") for line in material.parts.train)
    taught = []
    monkeypatch.setattr(
        sys.modules[own_readings.__name__],
        "train_share",
        lambda given, *_: taught.append(given.parts.train) or material.start,
    )
    alone = replace(material, parts=replace(material.parts, train=one_page))
    own_readings.agreed(alone, Trainer(tmp_path, "cpu", 1, 0, False, print))
    assert [len(half) for half in taught] == [15, 15, 15, 15]


def test_a_stopped_run_ends_as_one_that_was_not(drethtr, data, tiny_path, tmp_path, monkeypatch):
    whole, stopped = tmp_path / "whole.safetensors", tmp_path / "stopped.safetensors"
    wishes = (data, "--model", tiny_path, *SHORT)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sys.modules[own_readings.__name__], "as_sure_as", stop)
        assert drethtr("finetune", *wishes, "--output", stopped).code == 130
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "stopped.run").rglob("*_lines.safetensors")}
    assert len(finished) == 5
    assert drethtr("finetune", *wishes, "--output", stopped, "--resume").code == 0
    assert drethtr("finetune", *wishes, "--output", whole).code == 0
    first, second = (read_file(path)[0] for path in (whole, stopped))
    assert all(np.array_equal(second[name], weight) for name, weight in first.items())


def test_lines_on_which_nothing_is_read_teach_nothing(material):
    silent = replace(material.start, weights=dict(material.start.weights))
    silent.weights["ctc.refine.bias"] = np.full_like(silent.weights["ctc.refine.bias"], -1e4)
    silent.weights["ctc.refine.bias"][BLANK :: material.start.tokenizer.size] = 1e4
    with pytest.raises(DataError, match="the model reads nothing on 30 lines"):
        own_readings.with_readings(silent, material.parts.train, "cpu", 1)


def test_what_is_not_drawn_is_told_and_what_is_forgotten_measured(drethtr, data, tiny_path, tmp_path, monkeypatch):
    rows = data.read_text(encoding="utf-8").splitlines(keepends=True)
    old, new, output = data.with_name("old.jsonl"), data.with_name("new.jsonl"), tmp_path / "mine.safetensors"
    monkeypatch.setattr(sys.modules[own_readings.__name__], "LEAST", 12)
    monkeypatch.setattr(sys.modules[own_readings.__name__], "MOST", 12)
    monkeypatch.setattr("drethtr.training.finetuning.material.MIN_LINES", 10)
    new.write_text("".join(rows[:18]), encoding="utf-8")
    old.write_text("".join(rows[18:]), encoding="utf-8")
    outcome = drethtr("finetune", new, "--old-data", old, "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert "Left out: 6 beyond the 12 drawn." in outcome.out
    assert "old lines to mix in" in outcome.out and "old lines not used for training, CER" in outcome.out
    assert "old_data_after" in load_model(output).card["fine_tuned"]


def test_too_few_lines_are_refused(drethtr, data, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[own_readings.__name__], "LEAST", 37)
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", tmp_path / "mine.safetensors", *SHORT)
    assert outcome.code == 2 and "needs at least 37 lines of one hand or office, but there are 36" in outcome.err
    assert "with the starting model" not in outcome.err


def test_five_trainings_are_expected(material, monkeypatch):
    for timed in ("seconds_to_learn", "seconds_to_read"):
        monkeypatch.setattr(sys.modules[estimate.__module__], timed, lambda *_: 1.0)
    expected = estimate(material)
    assert expected.lines == expected.training == 5 * 8
