"""When a run begins, ends, and goes on."""

import json
import os
import re
import shutil
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from edited_folders import put_page
from PIL import Image
from training_runs import break_line

from drethtr.base import config
from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.base.files import tidied
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.model.weights import read_file, read_metadata, write_tensors
from drethtr.training import metrics_log
from drethtr.training.devices import Devices
from drethtr.training.loop import BEST, LATEST, SNAPSHOT, train
from drethtr.training.metrics_log import MetricsLog
from drethtr.training.run import RunConfig, ValidationConfig

FONTS = Path(__file__).parents[1] / "fonts"
STILL = "optimizer.learning_rate=1e-12"


def run(data, monkeypatch, *settings):
    monkeypatch.chdir(data)
    return config.load(RunConfig, data / "run.toml", ["samples=32", *settings])


def validations(folder):
    """At how many samples the validation lines were read."""
    records = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return [record["samples"] for record in records if record["kind"] == "validation"]


def test_a_run_without_progress_ends_when_patience_does(data, monkeypatch):
    wanted = run(data, monkeypatch, STILL, "samples=96", "validation.every=8", "validation.at_start=true", "patience=2")
    best = train(wanted, data / "out", workers=0)
    assert len(validations(data / "out")) == 3 and validations(data / "out")[0] == 0
    assert load_model(best).card["samples"] == 0
    card = load_model(data / "out" / LATEST).card
    assert card["samples"] < 96 and config.from_dict(RunConfig, card["run"]) == wanted


def test_texts_that_a_program_read_do_not_select_the_best_weights_without_a_word(data, monkeypatch, capsys):
    put_page(data / "pages", "a")
    train(run(data, monkeypatch, "samples=8", 'validation.paths=["pages"]'), data / "out", workers=0)
    said = "Texts that a program read, and that nobody has corrected or confirmed, were taken as they are: 4 lines"
    assert capsys.readouterr().err.count(said) == 1


def test_a_run_with_prose_learns_language(data, monkeypatch):
    (data / "prose.txt").write_text("line 1 line 2 line 3\n" * 20)
    prose = 'prose={texts=["prose.txt"], lines=4}'
    images = 'network.backbone={kind="Patches", height=48, rows=48}'  # of which language learns nothing
    fast = images, "samples=400", "loss.language=1.0", "optimizer.learning_rate=5e-3"
    train(run(data, monkeypatch, prose, *fast), data / "out", workers=0)
    records = map(json.loads, (data / "out" / "metrics.jsonl").read_text().splitlines())
    losses = [record["language"] for record in records if record["kind"] == "train"]
    assert losses[-1] < 0.7 * losses[0]


def test_without_patience_a_run_goes_to_its_end(data, monkeypatch):
    train(run(data, monkeypatch, STILL, "validation.every=8"), data / "out", workers=0)
    assert 0 not in validations(data / "out")
    assert load_model(data / "out" / LATEST).card["samples"] >= 32


@pytest.mark.parametrize("ending", [(), (STILL, "validation.every=8", "patience=1")], ids=["samples", "patience"])
def test_a_finished_run_that_is_resumed_stays_as_it_is(ending, data, monkeypatch):
    """It was trained a step further each time."""
    wanted = run(data, monkeypatch, *ending)
    best = train(wanted, data / "out", workers=0)
    before = {
        path.name: path.read_bytes() for path in (data / "out").iterdir() if path.suffix in (".safetensors", ".jsonl")
    }
    assert train(wanted, data / "out", resume=True, workers=0) == best and len(before) == 4
    assert {name: (data / "out" / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("there", [SNAPSHOT, LATEST, BEST])
def test_models_of_another_run_are_not_replaced(there, data, monkeypatch):
    (data / "out").mkdir()
    (data / "out" / there).write_text("of another run")
    way_on = "add --resume to continue it, or " * (there == SNAPSHOT)
    with pytest.raises(ConfigError, match=f"already contains a run; {way_on}choose another --output"):
        train(run(data, monkeypatch), data / "out", workers=0)
    assert (data / "out" / there).read_text() == "of another run"


def test_processes_that_do_not_see_the_same_snapshot_do_not_train_together(data, monkeypatch):
    """Of two machines with a disk each, one would have gone on and the other begun."""
    monkeypatch.setattr(Devices, "any_process", lambda *_: True)  # as for one of those machines
    with pytest.raises(CheckpointError, match=r"snapshot\.safetensors: not found by every process"):
        train(run(data, monkeypatch), data / "out", resume=True, workers=0)


def test_metrics_after_the_last_snapshot_are_rewritten(data):
    metrics = data / "metrics.jsonl"
    metrics.write_text("".join(f'{{"kind": "validation", "samples": {seen}}}\n' for seen in (16, 32, 48)))
    with closing(MetricsLog(data, total=64, seen=16)) as log:
        log.record("validation", 32, {})
    assert [json.loads(line)["samples"] for line in metrics.read_text().splitlines()] == [16, 32]


def test_a_decoder_that_the_network_cannot_serve_is_refused_before_anything_is_learned(data, monkeypatch):
    with pytest.raises(ConfigError, match=r"^validation\.decoder: this model has no CTC head"):
        train(run(data, monkeypatch, "network.ctc=false", "loss.ctc=0"), data / "out", workers=0)
    assert not (data / "out").exists()


def test_a_broken_line_is_left_out_of_training_and_told_once(data, monkeypatch, capsys):
    break_line(data / "train.parquet")
    train(run(data, monkeypatch, "samples=96"), data / "out", workers=0)  # of 40 lines
    said = capsys.readouterr().err
    assert said.count("left out: train.parquet row 1: ") == 1
    rows = map(json.loads, (data / "out" / "metrics.jsonl").read_text().splitlines())
    assert [row["left_out"] for row in rows if row["kind"] == "train"][-1] >= 2


def test_a_broken_line_for_validation_is_told_before_training(data, monkeypatch):
    break_line(data / "val.parquet")
    with pytest.raises(DataError, match=r"val\.parquet row 1: "):
        train(run(data, monkeypatch), data / "out", workers=0)
    assert not (data / "out" / "metrics.jsonl").exists()


def test_a_line_for_validation_that_is_too_long_is_told_before_training(data, monkeypatch):
    """It could be opened, and ended the run at its first validation."""
    rows = pq.read_table(data / "val.parquet").to_pylist()
    Image.new("L", (9_000, 2), 255).save(data / "endless.png")
    rows[1]["image"]["bytes"] = (data / "endless.png").read_bytes()
    pq.write_table(pa.Table.from_pylist(rows), data / "val.parquet")
    with pytest.raises(DataError, match=r"val\.parquet row 1: .* 9000 x 2 pixels is too long for its height"):
        train(run(data, monkeypatch), data / "out", workers=0)
    assert not (data / "out" / "metrics.jsonl").exists()


def test_lines_for_validation_in_another_script_are_told_before_training(data, monkeypatch):
    """They ended the run at its first validation."""
    rows = [row | {"text": "\u03a9\u03a8"} for row in pq.read_table(data / "val.parquet").to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), data / "val.parquet")
    with pytest.raises(DataError, match=r"validation\.paths: none of the characters in the texts .*alphabet"):
        train(run(data, monkeypatch), data / "out", workers=0)
    assert not (data / "out" / "metrics.jsonl").exists()


def test_half_a_record_is_no_record(data):
    metrics = data / "metrics.jsonl"
    metrics.write_text('{"kind": "train", "samples": 4}\n{"kind": "trai')
    with closing(MetricsLog(data, total=8, seen=4)) as log:
        log.record("validation", 8, {})
    assert [json.loads(line)["samples"] for line in metrics.read_text().splitlines()] == [4, 8]


def test_damaged_records_do_not_keep_a_run_from_going_on(data):
    """A loss of power left zeros in a file that was being written."""
    metrics = data / "metrics.jsonl"
    metrics.write_bytes(b'{"samples": 2}\n' + bytes(24) + b'\n{"kind": "train"}\n[]\n{"samples": 4}\n')
    with closing(MetricsLog(data, total=8, seen=4)):
        assert metrics.read_bytes() == b'{"samples": 2}\n{"samples": 4}\n'


@pytest.mark.parametrize(("name", "recorded"), [("samples", "samples_2"), ("kind", "kind_2"), ("self", "self")])
def test_a_set_may_have_any_name(name, recorded, data):
    """A folder named samples ended the run at its first validation."""
    with closing(MetricsLog(data, total=8, seen=0)) as log:
        log.record_validation(4, {name: 0.5, "all": 0.25})
    [record] = map(json.loads, (data / "metrics.jsonl").read_text().splitlines())
    assert (record["kind"], record["samples"], record["all"]) == ("validation", 4, 0.25)
    assert record[recorded] == 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
def test_the_name_of_the_folder_need_not_be_utf_8(data):
    """TensorBoard cannot write there, which ended the run with a traceback."""
    folder = data / os.fsdecode(b"caf\xe9")
    with closing(MetricsLog(folder, total=8, seen=0)) as log:
        log.record("validation", 0, {"all": 0.5})
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 1


def test_a_run_that_begins_again_has_no_records(data):
    """It was killed before its first snapshot, after a validation at the start."""
    metrics = data / "metrics.jsonl"
    metrics.write_text('{"kind": "validation", "samples": 0}\n')
    with closing(MetricsLog(data, total=8, seen=0)) as log:
        log.record("validation", 0, {})
    assert len(metrics.read_text().splitlines()) == 1


def test_rates_are_said_in_percent_and_written_as_they_are(data, capsys):
    with closing(MetricsLog(data, total=1815, seen=0)) as log:
        log.record_validation(113, {"all": 0.0173, "mine": 0.0173})
    assert capsys.readouterr().err == "113 of 1,815 lines seen, validation CER 1.73 % (mine 1.73 %)\n"
    [record] = map(json.loads, (data / "metrics.jsonl").read_text().splitlines())
    assert (record["kind"], record["samples"], record["all"], record["mine"]) == ("validation", 113, 0.0173, 0.0173)


def test_a_log_shows_progress_and_remaining_time(data, capsys, monkeypatch):
    monkeypatch.setattr(metrics_log, "EVERY", 0.0)
    with closing(MetricsLog(data, total=400, seen=100)) as log:
        log.record_validation(100, {"all": 0.25, "mine": 0.25})
        log.advance(16, text=0.5, ctc=1.25)
    told = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(
        r"116 of 400 lines seen, text loss 0\.500, ctc loss 1\.250, validation CER 25\.00 %, \d+ seconds? left", told
    )


def test_a_gradient_that_is_no_number_spoils_nothing(data, monkeypatch):
    with pytest.raises(ConfigError, match=r"the gradient of step \d+ is (nan|inf); .*lower optimizer.learning_rate"):
        train(run(data, monkeypatch, "optimizer.learning_rate=1e30", "save_every=1"), data / "out", workers=0)
    assert all(np.isfinite(weight).all() for weight in read_file(data / "out" / LATEST)[0].values())


def test_a_run_of_lines_with_other_characters_is_not_resumed(data, monkeypatch):
    wanted = run(data, monkeypatch)
    train(wanted, data / "out", workers=0, minutes=0)
    rows = pq.read_table(data / "train.parquet").to_pylist()
    pq.write_table(pa.Table.from_pylist([row | {"text": row["text"].title()} for row in rows]), data / "train.parquet")
    with pytest.raises(CheckpointError, match=r"snapshot\.safetensors: saved with another alphabet"):
        train(wanted, data / "out", resume=True, workers=0)


CHANGES = {
    "train": r"then words: 40 lines \[\w+\], now words: 41 lines \[\w+\]; restore the data",
    "val": r"then validation: 4 lines \[\w+\], now validation: 4 lines \[\w+\]; restore the data",
    "prose": r"then prose \[\w+\], now prose \[\w+\]; restore the data",
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_run_of_other_lines_is_not_resumed(changed, data, monkeypatch):
    (data / "prose.txt").write_text("line 1 line 2 line 3\n" * 20)
    wanted = run(data, monkeypatch, 'prose={texts=["prose.txt"]}')
    train(wanted, data / "out", workers=0, minutes=0)
    if changed == "prose":
        (data / "prose.txt").write_text("line 3 line 2 line 1\n" * 20)
    else:
        rows = pq.read_table(data / f"{changed}.parquet").to_pylist()
        pq.write_table(pa.Table.from_pylist([rows[1], *rows[changed == "val" :]]), data / f"{changed}.parquet")
    with pytest.raises(CheckpointError, match="the data of this run have changed: " + CHANGES[changed]):
        train(wanted, data / "out", resume=True, workers=0)


@pytest.mark.parametrize("changed", ["start", "n-grams", "teacher"])
def test_a_run_with_another_model_is_not_resumed(changed, data, monkeypatch):
    model = train(run(data, monkeypatch), data / "first", workers=0, minutes=0).with_name(LATEST)
    for name in ("start", "teacher"):
        shutil.copy(model, data / f"{name}.safetensors")
    models = 'start={kind="FromModel", path="start.safetensors"}', 'teacher={path="teacher.safetensors", known=100.0}'
    train(run(data, monkeypatch, *models), data / "out", workers=0, minutes=0)
    role = "start" if changed == "n-grams" else changed
    path = data / f"{role}.safetensors"
    known = load_model(path)
    save_model(replace(known, card={"name": "the same weights", "license": "SA"}), path)
    train(run(data, monkeypatch, *models), data / "out", resume=True, workers=0, minutes=0)
    assert ("license" in load_model(data / "out" / LATEST).card) is (role == "start")
    if changed == "n-grams":
        ngrams = learn([Ingredient(["line 1", "line 2"])], known.tokenizer, order=2, most=99)
        known = replace(known, languages=Languages({"all": ngrams}))
    else:
        known.weights["to_logits.weight"] += 1
    save_model(known, path)
    reason = rf"learned from {role} \[\w+\], not from {role} \[\w+\]; restore the model"
    with pytest.raises(CheckpointError, match=reason):
        train(run(data, monkeypatch, *models), data / "out", resume=True, workers=0)


def test_a_run_saved_before_a_setting_existed_resumes(data, monkeypatch):
    wanted = run(data, monkeypatch)
    train(wanted, data / "out", workers=0, minutes=0)
    snapshot = data / "out" / SNAPSHOT
    tensors, header = read_file(snapshot)[0], json.loads(read_metadata(snapshot)["drethtr-run"])
    del header["run"]["tuning"], header["run"]["patience"], header["progress"]["stale"], header["lines"]
    del header["models"]
    write_tensors(tensors, snapshot, {"drethtr-run": json.dumps(header)})
    before = load_model(data / "out" / LATEST).card["samples"]
    train(wanted, data / "out", resume=True, workers=0)
    assert load_model(data / "out" / LATEST).card["samples"] > before
    with pytest.raises(CheckpointError, match=r"other settings \(seed\)"):
        train(replace(wanted, seed=1), data / "out", resume=True, workers=0)


CHANGES_OF_A_SNAPSHOT = [
    (lambda tensors, header: header["progress"].pop("positions"), "KeyError: 'positions'"),
    (lambda tensors, header: header["progress"].update(mood=1), "TypeError: .*mood"),
    (lambda tensors, header: header.update(lines=3), "TypeError: "),
    (
        lambda tensors, header: header["run"]["train"][0].update(min_characters=1),
        r"ConfigError: train\[0\]\.min_characters: unknown setting of Real; known: weight, paths, ",
    ),
    (lambda tensors, header: tensors.update(other=np.ones(1)), "KeyError: 'other'"),
    (lambda tensors, header: tensors.pop("network.backbone.blocks.0.conv.bias"), r"RuntimeError: .*blocks\.0"),
]


def test_a_snapshot_that_is_not_understood_is_named_with_what_to_do(data, monkeypatch):
    wanted, snapshot = run(data, monkeypatch), data / "out" / SNAPSHOT
    train(wanted, data / "out", workers=0, minutes=0)
    whole = snapshot.read_bytes()
    for change, told in CHANGES_OF_A_SNAPSHOT:
        snapshot.write_bytes(whole)
        tensors, header = read_file(snapshot)[0], json.loads(read_metadata(snapshot)["drethtr-run"])
        change(tensors, header)
        write_tensors(tensors, snapshot, {"drethtr-run": json.dumps(header)})
        with pytest.raises(CheckpointError, match=rf"snapshot\.safetensors: damaged or .* \({told}.*new output$"):
            train(wanted, data / "out", resume=True, workers=0)


def test_files_of_a_killed_run_are_removed(data, monkeypatch):
    wanted, left = run(data, monkeypatch, STILL), data / "out" / f".{'0f' * 16}.unfinished"
    left.parent.mkdir()
    for resume in (False, True):
        left.mkdir()
        tidied.cache_clear()  # as in a new program
        train(wanted, data / "out", workers=0, resume=resume, minutes=0)
        assert not left.exists()


def test_lines_that_are_made_need_an_alphabet(data, monkeypatch):
    (data / "a_en.txt").write_text("zzz yyy line\n")
    made = f'{{ kind = "Made", lines = {{ fonts = "{FONTS}", texts = ["a_en.txt"] }} }}'
    with pytest.raises(ConfigError, match=r"no character occurs 1 times in real training lines; .* weight = 0"):
        train(run(data, monkeypatch, f"train=[{made}]"), data / "out", workers=0)
    lent = '{ kind = "Real", paths = ["train.parquet"], weight = 0 }'
    best = train(run(data, monkeypatch, f"train=[{made}, {lent}]"), data / "out", workers=0)
    assert load_model(best).tokenizer.characters == " 0123456789eiln"


def test_letters_written_from_right_to_left_are_warned_of(data, monkeypatch, capsys):
    rows = pq.read_table(data / "train.parquet").to_pylist()
    backwards = [row | {"text": "\u05d0" + row["text"]} for row in rows]
    pq.write_table(pa.Table.from_pylist(backwards), data / "train.parquet")
    train(run(data, monkeypatch), data / "out", workers=0, minutes=0)
    assert "\u05d0 is written from right to left" in capsys.readouterr().err


def test_patience_is_at_least_one():
    with pytest.raises(ConfigError, match="patience must be at least 1"):
        RunConfig(train=(), validation=ValidationConfig(paths=()), samples=1, patience=0)


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_is_one_that_torch_takes(seed):
    with pytest.raises(ConfigError, match=rf"^seed must be at least 0 and less than 2\^64, not {seed}$"):
        RunConfig(train=(), validation=ValidationConfig(paths=()), samples=1, seed=seed)
