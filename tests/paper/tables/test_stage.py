import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from drethtr.base.errors import ConfigError, DataError
from drethtr.paper.tables.material import SPLITS, STEM, DataFiles, PaperData, make_material
from drethtr.paper.tables.paper import BACKBONES, EFFICIENCY, GAMMA, MIXER, PRETRAINING, TOKENS
from drethtr.paper.tables.scale import Small, Smoke
from drethtr.paper.tables.stage import FINISHED, carry_out
from drethtr.paper.tables.table import reproduce, result_path
from drethtr.recognition.model.file import SHIPPED
from drethtr.synthesis.synthetic import Synthetic
from drethtr.training.loop import BEST, SNAPSHOT, train


def stage_of(table, number, conditions, seed=0):
    return table.rows[number].experiment.stage(conditions, seed)


def test_rows_that_need_the_same_training_share_it(conditions):
    assert stage_of(GAMMA, 0, conditions) == stage_of(MIXER, 0, conditions)
    assert stage_of(GAMMA, 0, conditions).fingerprint == stage_of(MIXER, 0, conditions).fingerprint
    others = [(GAMMA, 1, 0), (GAMMA, 0, 1), (BACKBONES, 2, 0), (PRETRAINING, 1, 0)]
    prints = {stage_of(table, row, conditions, seed).fingerprint for table, row, seed in others}
    assert len(prints) == len(others) and stage_of(GAMMA, 0, conditions).fingerprint not in prints


def test_an_interrupted_training_resumes(conditions):
    stage = stage_of(GAMMA, 0, conditions, seed=7)
    folder = conditions.folder / "trainings" / stage.fingerprint
    train(stage.run, folder, workers=0, minutes=0)
    assert (folder / SNAPSHOT).exists() and not (folder / BEST).exists()
    carry_out(stage, conditions)
    assert sorted(path.name for path in folder.iterdir() if "tfevents" not in path.name) == [
        BEST,
        "metrics.jsonl",
        FINISHED,
    ]


def test_on_a_gpu_batches_have_few_shapes(conditions, monkeypatch):
    """Other lines are learned than on a CPU, so it is another training, in another folder."""
    begun = []

    class Begun(Exception):
        pass

    def train(run, folder, **options):
        begun.append((run, folder))
        raise Begun

    monkeypatch.setattr("drethtr.paper.tables.stage.train", train)
    for device in ("cpu", "cuda"):
        there = replace(conditions, device=torch.device(device))
        stage = stage_of(PRETRAINING, 1, there, seed=8)
        with pytest.raises(Begun):
            carry_out(stage, there)
        assert [run.batches.fixed_shapes for run in stage.runs] == 2 * [device == "cuda"]
        assert begun[-1][0] == stage.runs[0]
    assert begun[0][1] != begun[1][1]


def test_times_of_other_hardware_are_not_combined_in_a_table(conditions, monkeypatch):
    experiment = EFFICIENCY.rows[0].experiment
    before = experiment.fingerprint(conditions, 0)
    assert experiment.fingerprint(conditions, 0) == before
    monkeypatch.setattr("drethtr.paper.speed.report.processor", lambda: "another")
    assert experiment.fingerprint(conditions, 0) != before


def test_a_finished_training_is_not_repeated(conditions):
    stage = stage_of(GAMMA, 0, conditions)
    best = carry_out(stage, conditions)
    said = []
    assert carry_out(stage, replace(conditions, say=said.append)) == best and said == []


@pytest.mark.parametrize("wanted", [slice(1), slice(1, 2)], ids=["itself", "another row"])
def test_results_of_different_data_are_not_combined_in_a_table(wanted, conditions):
    reproduce(GAMMA, GAMMA.rows[:1], 1, conditions)
    lines = conditions.material.lines("iam")
    other = PaperData({"iam": replace(lines, test=lines.validation)}, conditions.material.synthetic)
    with pytest.raises(ConfigError, match=r"layer-wise\.0\.json.*: made with other settings, data"):
        reproduce(GAMMA, GAMMA.rows[wanted], 1, replace(conditions, material=other))


def test_a_result_that_needs_missing_data_cannot_be_checked(conditions):
    reproduce(PRETRAINING, PRETRAINING.rows[:2], 1, conditions)
    said = []
    without = replace(conditions, material=replace(conditions.material, synthetic=None), say=said.append)
    reproduce(PRETRAINING, PRETRAINING.rows[:1], 1, without)
    assert [words for words in said if "synthetic then real lines.0.json: cannot check" in words.replace("_", " ")]
    with pytest.raises(ConfigError, match="needs handwriting fonts"):
        reproduce(PRETRAINING, PRETRAINING.rows[:2], 1, without)


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_other_lines_under_the_same_name_are_other_data(split, conditions, tmp_path):
    for splits in SPLITS:
        shutil.copy(conditions.folder / "made" / f"{STEM}.{splits}.parquet", tmp_path)
    lines = DataFiles.of([str(tmp_path / STEM)])
    own = replace(conditions, material=replace(conditions.material, sets={"iam": lines}))
    row, [file] = GAMMA.rows[0].experiment, getattr(lines, split)
    before = row.fingerprint(own, 0), row.stage(own, 0).fingerprint
    assert before == (row.fingerprint(own, 0), row.stage(own, 0).fingerprint)
    Path(file).write_bytes(Path(file).read_bytes()[::-1])
    assert row.fingerprint(own, 0) != before[0]
    assert (row.stage(own, 0).fingerprint == before[1]) == (split == "test")


@pytest.mark.parametrize("scale", [Smoke(), Small()], ids=lambda scale: scale.name)
def test_the_same_lines_elsewhere_are_the_same(scale, conditions, tmp_path, monkeypatch):
    here = replace(conditions, scale=scale)
    there = replace(here, material=make_material(shutil.copytree(conditions.folder / "made", tmp_path / "moved")))
    rows = [row.experiment for row in (GAMMA.rows[0], TOKENS.rows[1], PRETRAINING.rows[1])]
    before = [(row.stage(here, 0), row.stage(here, 0).fingerprint, row.fingerprint(here, 0)) for row in rows]
    monkeypatch.setattr("drethtr.paper.tables.scale.SHIPPED", shutil.copy(SHIPPED, tmp_path / "installed elsewhere"))
    for row, (stage, of_stage, of_row) in zip(rows, before, strict=True):
        assert row.stage(there, 0) != stage
        assert (row.stage(there, 0).fingerprint, row.fingerprint(there, 0)) == (of_stage, of_row)


def test_an_interrupted_training_resumes_in_another_working_folder(conditions, tmp_path, monkeypatch):
    shutil.copytree(conditions.folder / "made", tmp_path / "lines")
    (tmp_path / "else").mkdir()
    stages = []
    for place, stem in ((tmp_path, f"lines/{STEM}"), (tmp_path / "else", f"../lines/{STEM}")):
        monkeypatch.chdir(place)
        stages.append(stage_of(GAMMA, 0, replace(conditions, material=PaperData.given([stem], None, ())), seed=8))
    folder = conditions.folder / "trainings" / stages[0].fingerprint
    train(stages[0].run, folder, workers=0, minutes=0)
    assert carry_out(stages[1], conditions) == folder / BEST


@pytest.mark.parametrize("file", ["fonts/a.ttf", "text_en.txt"])
def test_other_fonts_or_texts_make_another_training(file, conditions, tmp_path):
    (tmp_path / "fonts").mkdir()
    for name in ("fonts/a.ttf", "text_en.txt"):
        (tmp_path / name).write_text("before")
    synthetic = Synthetic(fonts=str(tmp_path / "fonts"), texts=(str(tmp_path / "text_en.txt"),))
    own = replace(conditions, material=replace(conditions.material, synthetic=synthetic))
    before = stage_of(PRETRAINING, 1, own).fingerprint
    (tmp_path / file).write_text("after")
    assert stage_of(PRETRAINING, 1, own).fingerprint != before


def test_a_damaged_result_is_named(conditions):
    reproduce(GAMMA, GAMMA.rows[1:2], 1, conditions)
    path = result_path(conditions.folder, GAMMA, GAMMA.rows[1], 0)
    whole = path.read_text()
    path.write_text(whole[:100])
    try:
        with pytest.raises(DataError, match=path.name):
            reproduce(GAMMA, GAMMA.rows[1:2], 1, conditions)
    finally:
        path.write_text(whole)  # other tests need it


def test_lines_are_named_by_their_stems(monkeypatch):
    monkeypatch.chdir("/")
    material = PaperData.given(["a/one", "/b/../b/two", "rimes=r"], None, ())
    assert material.lines("iam") == DataFiles(
        ("/a/one.train.parquet", "/b/two.train.parquet"),
        ("/a/one.val.parquet", "/b/two.val.parquet"),
        ("/a/one.test.parquet", "/b/two.test.parquet"),
    )
    assert material.lines("rimes").test == ("/r.test.parquet",)
