"""A small model is taught printed words by the command a person types."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conftest import log_probability, written
from edited_folders import put_page
from holding import Hold
from PIL import Image

from drethtr.base import config
from drethtr.base.locks import claimed
from drethtr.cli.model.finetune_report import calibration_of
from drethtr.datasets.open import open_all
from drethtr.evaluation.calibrate import passes
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.network.backend import rescorer_of
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import Rescorer, load_model, save_model, save_record
from drethtr.recognition.model.weights import read_file
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, EOS
from drethtr.training.finetuning import Plan, estimate, gather
from drethtr.training.finetuning.finetune import PLAN, folder_of, is_interrupted, open_folder, write_plan

SHORT = ("--samples", 32, "--workers", 0, "--device", "cpu")


def weights(path):
    return read_file(path)[0]


def test_the_plan_is_told_before_anything_is_done(drethtr, data, tiny_path, tmp_path, monkeypatch):
    data.write_text(data.read_text(encoding="utf-8").replace("good", "\u05e9\u05dc"), encoding="utf-8")
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, "--dry-run")
    assert outcome.code == 0
    assert "30 lines to train on, 6 for validation (other pages)" in outcome.out
    assert "ő×" in outcome.out and "(starts as o)" in outcome.out
    assert "too rare to add): €×1" in outcome.out
    assert "Warning: \u05e9\u05dc is written from right to left" in outcome.out
    takes = r"training takes at most \d+ (second|minute)s? \(694 lines, .*calibration about \d+ (second|minute)"
    assert re.search(takes, outcome.out)
    assert not output.exists() and not output.with_suffix(".run").exists()
    assert "Dropped" not in outcome.out
    monkeypatch.setattr(sys.modules[estimate.__module__], "seconds_to_learn", lambda *_: 1.0)
    options = ("--minimum-count", 1, "--drop-unused")
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, "--dry-run", *options)
    assert "€×1 (" in outcome.out and "too rare" not in outcome.out
    assert "Dropped from the alphabet, because they occur in no line: f" in outcome.out


def test_a_line_is_read_by_one_model_that_did_not_learn_from_it(data, tiny_path, monkeypatch):
    """Beside the start, and to calibrate; the models of a learning curve read all lines."""
    for timed in ("seconds_to_learn", "seconds_to_read"):
        monkeypatch.setattr(sys.modules[estimate.__module__], timed, lambda *_: 1.0)
    usual = {"data": (str(data),), "model": str(tiny_path), "samples": 16}
    for lines, models, options in ((6, 1, {}), (24, 1, {"cross_fit": True}), (6, 3, {"learning_curve": True})):
        material = gather(Plan(**usual, **options))
        assert estimate(material).measuring == (1 + models + passes(material.start, lines)) * lines


def test_lines_that_learn_and_choose_are_refused_before_anything_is_written(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    for dry_run in (("--dry-run",), ()):
        outcome = drethtr("finetune", data, "--validation", data, "--model", tiny_path, "--output", output, *dry_run)
        assert outcome.code == 2 and "in 'training lines'" in outcome.err and "lines.jsonl" in outcome.err
    assert not output.with_suffix(".run").exists()


def test_old_lines_that_choose_are_refused_by_the_name_they_were_given(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--old-data", data, "--model", tiny_path, "--output", output)
    assert outcome.code == 2 and "is in '--old-data'" in outcome.err and "and in 'validation lines'" in outcome.err


@pytest.mark.parametrize("dry", [("--dry-run",), ()])
@pytest.mark.parametrize("package", ["accelerate", "pyarrow"])
def test_a_package_that_is_missing_is_asked_for_first(package, dry, drethtr, data, tiny_path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, *dry)
    assert outcome.code == 2 and f"{package} is not installed; run: pip install 'drethtr[train]'" in outcome.err
    assert not outcome.out and not output.with_suffix(".run").exists()


def test_a_model_learns_lines(drethtr, data, tiny_path, tmp_path):
    output, other = tmp_path / "mine.safetensors", tmp_path / "mine.run" / "best.safetensors"
    other.parent.mkdir()
    other.write_bytes(tiny_path.read_bytes())
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0 and "before," in outcome.out and "drethtr evaluate" in outcome.out
    assert "Other hands may be read worse than before; --old-data" in outcome.out
    model = load_model(output)
    assert "ő" in model.tokenizer.characters and not model.record.calibrations
    told = model.card["fine_tuned"]
    assert 0 <= told["part_of_change"] <= 1
    assert told["lines"] == 36 and told["validation_lines"] == 6 and told["characters_added"] == "ő"
    assert told["validation_by_page"] and told["validation_after"]["cer"] <= told["validation_before"]["cer"]
    assert model.card["name"] == "tiny, fine-tuned" and {"set": "words"}.items() <= model.card["data"][-1].items()
    assert model.card["data"][-1]["source"].startswith("36 lines")
    assert "fine tuned" in drethtr("info", output).out
    assert list(output.with_suffix(".run").rglob("*.safetensors")) == [other], "only what it wrote itself is removed"
    again = drethtr("finetune", data, "--model", tiny_path, "--output", output)
    assert again.code == 2 and "exists; choose another output" in again.err


@pytest.mark.parametrize(
    ("few", "seen", "told"),
    [(200, 32 + 16, "learning 6 validation lines, too"), (30, 32 + 32, "training a second model, on all 36 lines")],
    ids=["goes on", "second training"],
)
def test_validation_lines_of_the_data_are_learned_at_the_end(
    few, seen, told, drethtr, data, tiny_path, tmp_path, monkeypatch
):
    monkeypatch.setattr("drethtr.training.finetuning.run.FEW", few)
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert told in outcome.err and "has learned them since" in outcome.out
    run = output.with_suffix(".run")
    assert {file.name for file in run.glob("*_lines.parquet")} == {"30_lines.parquet", "36_lines.parquet"}
    card = load_model(output).card["fine_tuned"]
    assert card["samples"] == seen and (card["lines"], card["validation_lines"]) == (36, 6)


@pytest.mark.parametrize("wishes", [(), ("--adapter",)], ids=["model", "adapter"])
def test_given_validation_lines_are_not_learned_so_that_the_file_is_what_was_measured(
    wishes, drethtr, data, tiny_path, tmp_path
):
    rows = data.read_text(encoding="utf-8").splitlines(keepends=True)
    given, others, output = data.with_name("given.jsonl"), data.with_name("others.jsonl"), tmp_path / "mine.safetensors"
    given.write_text("".join(rows[:6]), encoding="utf-8")
    others.write_text("".join(rows[6:]), encoding="utf-8")
    options = ("--validation", given, "--model", tiny_path, "--output", output, *wishes, *SHORT)
    outcome = drethtr("finetune", others, *options)
    assert outcome.code == 0 and "has learned them since" not in outcome.out, outcome.err
    told = Recognizer.load(output).model.card["fine_tuned"]
    assert (told["lines"], told["validation_lines"]) == (30, 6)
    assert f"{100 * told['validation_after']['cer']:.2f} –" in drethtr("evaluate", given, "--model", output).out


def test_old_texts_that_a_program_read_are_named(drethtr, data, tiny_path, tmp_path):
    put_page(tmp_path / "old", "a", lines=3)
    options = ("--model", tiny_path, "--output", tmp_path / "mine.safetensors", "--dry-run", *SHORT)
    outcome = drethtr("finetune", data, "--old-data", tmp_path / "old", *options)
    assert outcome.code == 0 and "Texts that a program read" in outcome.err, outcome.err


def test_what_was_forgotten_is_measured_on_old_lines_apart(drethtr, data, tiny_path, tmp_path):
    old, output = tmp_path / "old.jsonl", tmp_path / "mine.safetensors"
    rows = []
    for number in range(24):
        Image.fromarray(np.asarray(written(f"old {number}"))).save(tmp_path / f"old {number}.png")
        rows.append({"file": f"old {number}.png", "text": f"old {number}", "set": "clerk" if number % 2 else "mayor"})
    old.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    outcome = drethtr("finetune", data, "--old-data", old, "--model", tiny_path, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert "20 old lines to mix in, 4 to measure forgetting." in outcome.out
    assert "Forgetting: on 4 old lines not used for training, CER" in outcome.out
    told = load_model(output).card["fine_tuned"]
    assert f"{100 * told['old_data_before']:.2f} % before, {100 * told['old_data_after']:.2f} % after" in outcome.out
    sets = re.search(r"By set, most forgotten first: (.*)\.", outcome.out)
    assert sets is not None, outcome.out
    changes = [float(after) - float(before) for before, after in re.findall(r"([\d.]+) → ([\d.]+) %", sets[1])]
    assert len(changes) == 2 and changes == sorted(changes, reverse=True)
    assert sum(map(int, re.findall(r"\((\d+) lines?\)", sets[1]))) == 4
    assert len(open_all([str(output.with_suffix(".run") / "old.parquet")])) == 20


@pytest.mark.parametrize("precisions", [("float32", "int8"), ("float32",)], ids=["both", "float32"])
def test_few_lines_keep_the_decoder_and_confidences_of_the_start(precisions, drethtr, data, tiny_path, tmp_path):
    start, output = tmp_path / "start.safetensors", tmp_path / "mine.safetensors"
    known = tuple(
        Calibration((CTC(),), Logistic(1.0, (0.5,) * 6), Logistic(-1.0, (0.25,) * 6), precision)
        for precision in precisions
    )
    rate = ErrorRate(CTC(), factor=1.5, spread=0.1, noise=2.0, sets=10)
    record = CalibrationRecord(known, error_rates=(rate,), strategy=CTC())
    save_record(tiny_path, record, start, of=load_model(tiny_path))
    outcome = drethtr("finetune", data, "--model", start, "--output", output, *SHORT)
    assert outcome.code == 0, outcome.err
    assert "those of the starting model, adjusted on these 6 lines" in outcome.out
    record = load_model(output).record
    [inherited] = record.error_rates
    assert inherited == replace(rate, strategy=CTC(language_weight=0.0), inherited=True)
    assert "Expected error rates will be estimates" in outcome.out
    expected = drethtr("predict-cer", data.parent, "--model", output)
    assert expected.code == 0 and "An estimate: the prediction was fitted before" in expected.out
    assert [one.precision for one in record.calibrations] == ["float32", "int8"]
    recognizer = Recognizer.load(output)
    assert recognizer.strategy == inherited.strategy
    assert all(reading.calibrated for reading in recognizer.read([data.parent / "0.png"]))


def test_an_adapter_with_a_learning_curve_is_read_as_the_start_was(drethtr, data, tiny_path, tmp_path):
    start, output, decoder = tmp_path / "start.safetensors", tmp_path / "small.safetensors", Joint(ctc_weight=0.3)
    save_record(tiny_path, CalibrationRecord(strategy=decoder), start, of=load_model(tiny_path))
    wishes = ("--adapter", "--learning-curve", *SHORT, "--samples", 64)
    outcome = drethtr("finetune", data, "--model", start, "--output", output, *wishes)
    assert outcome.code == 0 and "an adapter adds none" in outcome.out
    assert "Twice the lines, 60, would lower the CER by about" in outcome.out
    assert output.stat().st_size <= 1_000_000
    assert "fine tuned" in drethtr("info", output).out
    recognizer = Recognizer.load(output)
    assert recognizer.model.card["fine_tuned"]["from"].startswith("tiny ")
    assert recognizer.model.tokenizer == load_model(start).tokenizer
    assert not np.array_equal(weights(start)["to_logits.weight"], recognizer.model.weights["to_logits.weight"])
    assert recognizer.strategy == decoder.completed_by(None)


@pytest.fixture
def worded(tiny_model, tmp_path):
    """The path of a model with n-grams and a rescorer."""
    ngrams = learn([Ingredient(["a fine day", "no pen"] * 5)], tiny_model.tokenizer, order=3, most=500)
    config = RescorerConfig(layers=1, width=32, heads=2, hidden=8)
    network = RescorerNetwork(config, tiny_model.tokenizer.size)
    rescorer = Rescorer(config, {name: weight.numpy() for name, weight in network.state_dict().items()})
    path = tmp_path / "start.safetensors"
    save_model(replace(tiny_model, languages=Languages({"all": ngrams}), rescorer=rescorer), path)
    return path


def test_language_models_learn_the_new_lines_too(drethtr, data, worded, tmp_path):
    output = tmp_path / "mine.safetensors"
    assert drethtr("finetune", data, "--model", worded, "--output", output, *SHORT).code == 0
    start, model = load_model(worded), load_model(output)
    new, old, odd = (
        log_probability(model.languages, model.tokenizer.encode(text)) for text in ("beach", "a fin", "pfkml")
    )
    assert min(new, old) > odd + 3
    assert new > log_probability(start.languages, start.tokenizer.encode("beach")) + 3
    before, after = (
        surprise(rescorer_of(one.rescorer, one.tokenizer), one.tokenizer.encode("cabbage")) for one in (start, model)
    )
    assert after < before - 1


def test_a_rescorer_that_diverges_stays_as_it_was(drethtr, data, worded, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.training.rescorer.CONTINUED", 1e30)
    output = tmp_path / "mine.safetensors"
    outcome = drethtr("finetune", data, "--model", worded, "--output", output, *SHORT)
    assert outcome.code == 0 and "the rescorer diverged on these lines, so it stays as it was" in outcome.err
    start, model = load_model(worded), load_model(output)
    kept = [name for name in start.rescorer.weights if name.startswith("blocks")]  # others have a new character
    assert kept and all(
        np.allclose(model.rescorer.weights[name], start.rescorer.weights[name], atol=0.01) for name in kept
    )


@torch.inference_mode()
def surprise(network, tokens):
    """The cross-entropy of a text in nats, by the network of a rescorer."""
    [logits] = network(torch.tensor([[BOS, *tokens]]))
    return float(F.cross_entropy(logits, torch.tensor([*tokens, EOS]), reduction="sum"))


def test_nothing_is_written_where_nothing_became_better(drethtr, data, tiny_model, tmp_path):
    """A model that ends every text at once still does after one more line."""
    start, output = tmp_path / "start.safetensors", tmp_path / "mine.safetensors"
    weights, last = tiny_model.weights, tiny_model.network.layers - 1
    weights[f"blocks.{last}.feed_forward.4.bias"] += 1000 * weights["to_logits.weight"][EOS]
    save_model(replace(tiny_model, record=CalibrationRecord(strategy=Greedy())), start)
    options = ("--workers", 0, "--device", "cpu", "--samples", 1)
    notes = output.with_suffix(".run") / "notes.txt"
    notes.parent.mkdir()
    notes.touch()
    outcome = drethtr("finetune", data, "--model", start, "--output", output, "--learning-curve", *options)
    assert outcome.code == 3
    assert "lines   CER %" in outcome.err and "more lines would not lower the CER" in outcome.err
    assert "the model did not improve on the 6 validation lines (CER 100.00 % before, 100.00 " in outcome.err
    assert f"{output} was not written, keep using {start}." in outcome.err
    assert "More lines may help, and --cross-fit measures on two thirds of all instead of 6." in outcome.err
    assert not output.exists()
    assert [path.name for path in output.with_suffix(".run").rglob("*")] == ["notes.txt"], "other files stay"


def test_a_run_of_another_start_is_another_run(data, tiny_model, tiny_path, tmp_path):
    other, told = tmp_path / "other.safetensors", tmp_path / "told.safetensors"
    ngrams = learn([Ingredient(["abc", "a cab"])], tiny_model.tokenizer, order=2, most=100)
    save_model(replace(tiny_model, languages=Languages({"la": ngrams})), told)
    tiny_model.weights["to_logits.weight"] += 1
    save_model(tiny_model, other)
    first, again, *changed = (
        gather(Plan(data=(str(data),), model=str(path))).fingerprint() for path in (tiny_path, tiny_path, other, told)
    )
    assert first == again and len({first, *changed}) == 3


def test_a_killed_run_is_resumed(drethtr, data, tiny_path, tmp_path, monkeypatch):
    wishes = (data, "--model", tiny_path, "--workers", 0, "--device", "cpu", "--samples", 64)
    killed = tmp_path / "killed.safetensors"
    hold = Hold(tmp_path / "held", "snapshot.safetensors", 2)
    command = [sys.executable, "-m", "drethtr", "finetune", *map(str, wishes), "--output", str(killed)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())} | hold.variables  # as many round alike
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    hold.wait(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    refused = drethtr("finetune", *wishes, "--output", killed)
    assert refused.code == 2 and "--resume" in refused.err
    other = drethtr("finetune", *wishes, "--output", killed, "--resume", "--seed", 1)
    assert other.code == 2 and "a run with other options (seed); to start over" in other.err
    monkeypatch.chdir(tmp_path)  # the same lines and run by other names
    assert drethtr("finetune", data.relative_to(tmp_path), *wishes[1:], "--output", killed.name, "--resume").code == 0
    mine = killed.read_bytes() + b" "  # what was done with it since, for example to its card
    killed.write_bytes(mine)
    last = drethtr("finetune", *wishes, "--output", killed, "--resume")
    assert last.code == 0 and "is finished and was not changed" in last.err and killed.read_bytes() == mine
    killed.write_bytes(mine[:-1])
    (tmp_path / "whole.run").mkdir()
    for part in ("plan.json", "validation.parquet"):  # in the precision that was found the faster one
        shutil.copy(tmp_path / "killed.run" / part, tmp_path / "whole.run")
    assert drethtr("finetune", *wishes, "--output", tmp_path / "whole.safetensors", "--resume").code == 0
    whole = weights(tmp_path / "whole.safetensors")
    assert all(np.array_equal(whole[name], weight) for name, weight in weights(killed).items())


def test_a_run_is_interrupted_if_weights_are_left_or_it_is_not_finished(tmp_path):
    """By content: files that were copied or restored have other times."""
    output, folder = tmp_path / "mine.safetensors", tmp_path / "mine.run"
    folder.mkdir()
    for finished in (False, True):  # --force over an older model, killed before its first snapshot
        write_plan(folder, {}, finished=finished)
        output.touch()
        assert is_interrupted(output) is not finished
    os.utime(folder / PLAN)
    assert not is_interrupted(output)
    (folder / "30_lines.safetensors").touch()
    assert is_interrupted(output)


def test_data_need_not_have_names_in_utf_8(data, tiny_path, tmp_path):
    """The folder of the run could not be made."""
    material = gather(Plan(data=(str(data),), model=str(tiny_path)))
    material = replace(material, plan=replace(material.plan, data=("caf\udce9.jsonl",)))
    for resume in (False, True):
        open_folder(material, tmp_path / "run", "cpu", resume=resume)


def test_a_run_of_a_version_with_more_options_is_not_resumed(drethtr, data, tiny_path, tmp_path):
    """It was said to have other lines."""
    wishes = (data, "--model", tiny_path, "--workers", 0, "--device", "cpu", "--samples", 144)
    output = tmp_path / "mine.safetensors"
    material = gather(Plan(data=(str(data),), model=str(tiny_path), samples=144))
    before = {"plan": config.to_dict(material.plan) | {"old_share": 0.3}, "lines": material.fingerprint()}
    folder_of(output).mkdir()
    (folder_of(output) / PLAN).write_text(json.dumps(before | {"bfloat16": False}), encoding="utf-8")
    refused = drethtr("finetune", *wishes, "--output", output, "--resume")
    assert refused.code == 2 and "a run with other options (old_share); to start over" in refused.err


def test_force_leaves_a_run_that_is_going_on_elsewhere(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    plan = folder_of(output) / PLAN
    plan.parent.mkdir()
    plan.write_text("{}", encoding="utf-8")
    with claimed(output):
        refused = drethtr("finetune", data, "--model", tiny_path, "--output", output, "--force", *SHORT)
    assert refused.code == 2 and "being written by" in refused.err and plan.read_text(encoding="utf-8") == "{}"


def test_a_run_stopped_while_it_removes_its_weights_is_resumed(drethtr, data, tiny_path, tmp_path, monkeypatch):
    wishes = (data, "--model", tiny_path, *SHORT)
    mine, unlink, removed = tmp_path / "mine.safetensors", Path.unlink, []

    def stop_at_the_third(path, *arguments, **options):
        if path.suffix == ".safetensors" and tmp_path / "mine.run" in path.parents:
            if len(removed) == 2:
                raise KeyboardInterrupt
            removed.append(path)
        unlink(path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", stop_at_the_third)
        assert drethtr("finetune", *wishes, "--output", mine).code == 130
    learned = weights(mine)
    assert drethtr("finetune", *wishes, "--output", mine, "--resume").code == 0
    assert all(np.array_equal(learned[name], weight) for name, weight in weights(mine).items())
    assert not list((tmp_path / "mine.run").rglob("*.safetensors"))


@pytest.mark.parametrize(
    ("output", "answer"),
    [("mine.pt", "must end in .safetensors"), ("gone/mine.safetensors", "no folder"), ("tiny.safetensors", "over")],
)
def test_a_place_that_cannot_be_right_is_refused(drethtr, data, tiny_path, tmp_path, output, answer):
    outcome = drethtr("finetune", data, "--model", tiny_path, "--output", tmp_path / output)
    assert outcome.code == 2 and answer in outcome.err and outcome.err.count("\n") == 1


def test_too_few_lines_are_refused(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("finetune", lines, "--model", tiny_path, "--output", tmp_path / "mine.safetensors")
    assert outcome.code == 2 and "2 usable lines; fine-tuning needs at least" in outcome.err


def test_a_file_called_as_the_folder_of_the_run_is_refused(drethtr, data, tmp_path):
    (tmp_path / "mine.run").touch()
    outcome = drethtr("finetune", data, "--output", tmp_path / "mine.safetensors")
    assert outcome.code == 2 and f"{tmp_path / 'mine.run'} is a file" in outcome.err


def test_cross_fitting_measures_on_lines_apart_and_learns_from_all(drethtr, data, tiny_path, tmp_path):
    output = tmp_path / "mine.safetensors"
    outcome = drethtr(
        "finetune", data, "--model", tiny_path, "--output", output, "--cross-fit", *SHORT, "--samples", 16
    )
    assert outcome.code == 0, outcome.err
    assert "36 lines to train on, 24 of them for validation (lines drawn at random" in outcome.out
    told = load_model(output).card["fine_tuned"]
    assert told["lines"] == 36 and told["validation_lines"] == 24 and told["cross_fitted"]
    change = told["validation_after"]["cer"] - told["validation_before"]["cer"]
    assert told["change"]["cer"] == pytest.approx(change) and told["change"]["wer"] is not None
    run = output.with_suffix(".run")
    assert {file.parent.name for file in run.rglob("24_lines.parquet")} == {"fold_1", "fold_2"}
    assert not list(run.rglob("*.safetensors"))


def test_crossed_models_need_enough_lines_each_to_be_calibrated():
    """With 18 lines for each of two models, "all right or all wrong" was given as the reason."""
    folds = [SimpleNamespace(parts=SimpleNamespace(validation=[None] * 18)) for _ in range(2)]
    material = SimpleNamespace(plan=SimpleNamespace(adapter=False, cross_fit=True), folds=lambda: folds)
    outcome = SimpleNamespace(model=SimpleNamespace(record=CalibrationRecord()), change=SimpleNamespace(lines=36))
    [told] = calibration_of(material, outcome)
    assert "(36 validation lines; this needs 25 lines for each model)" in told


def test_cross_fitting_takes_no_other_validation_lines(drethtr, data, tiny_path, tmp_path):
    options = ("--model", tiny_path, "--output", tmp_path / "mine.safetensors", "--cross-fit")
    outcome = drethtr("finetune", data, "--validation", data, *options)
    assert outcome.code == 2 and "leave out --validation" in outcome.err
