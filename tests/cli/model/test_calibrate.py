import json

import numpy as np
import pytest
from PIL import Image
from soak.scenarios import readings

from drethtr.recognition.model.file import load_model
from drethtr.recognition.model.weights import read_file


@pytest.fixture
def few(tiny_path, tmp_path):
    """A folder of 26 lines of which the model reads every other one correctly."""
    readings(tmp_path)
    return tmp_path / "few"


def test_a_model_learns_when_to_be_believed(drethtr, few, tiny_path, tmp_path):
    before = tiny_path.read_bytes()
    target = tmp_path / "calibrated.safetensors"
    twice = ("--decoder", "ctc") * 2  # which is once: it was stored twice
    outcome = drethtr("calibrate", tiny_path, few, "--output", target, *twice)
    assert outcome.code == 0 and "calibrated on 26 lines" in outcome.out and "\nctc " in outcome.out
    assert "ECE" in outcome.out and "the lines used for calibration" in outcome.out
    assert tiny_path.read_bytes() == before
    assert [one.precision for one in load_model(target).record.calibrations] == ["float32", "int8"]
    weights, others = (read_file(path)[0] for path in (tiny_path, target))
    assert all(np.array_equal(weights[name], others[name]) for name in weights) and weights.keys() == others.keys()


def test_images_that_cannot_be_used_are_named_and_left_out(drethtr, few, tiny_path, tmp_path):
    (few / "more.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    Image.new("L", (20_000, 2), 255).save(few / "long.png")
    for name in ("more", "long"):
        (few / f"{name}.gt.txt").write_text("abc", encoding="utf-8")
    outcome = drethtr("calibrate", tiny_path, few, "--output", tmp_path / "m", "--decoder", "ctc")
    assert outcome.code == 1 and "calibrated on 26 lines" in outcome.out
    assert outcome.err.count("more.png") == outcome.err.count("long.png") == 1 and "is too long" in outcome.err
    assert load_model(tmp_path / "m").record.calibrations


def test_the_check_for_unknown_writing_takes_more_lines(drethtr, few, tiny_path, tmp_path, monkeypatch):
    outcome = drethtr("calibrate", tiny_path, few, "--output", tmp_path / "m", "--decoder", "ctc")
    assert "Out-of-distribution detection was not fitted: it needs at least 100 lines" in outcome.out
    assert load_model(tmp_path / "m").record.unlike_training is None
    with monkeypatch.context() as change:
        change.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", 26)
        outcome = drethtr("calibrate", tiny_path, few, "--output", tmp_path / "n", "--decoder", "ctc")
    assert "Out-of-distribution" not in outcome.out
    known = load_model(tmp_path / "n").record.unlike_training
    outcome = drethtr("calibrate", tmp_path / "n", few, "--output", tmp_path / "o", "--decoder", "ctc")
    assert "Out-of-distribution detection was kept" in outcome.out and known is not None
    assert load_model(tmp_path / "o").record.unlike_training == known


def test_collections_are_shown_as_the_others_judge_them(drethtr, few, tiny_path, tmp_path):
    for number, image in enumerate(sorted(few.glob("*.png"))):
        folder = tmp_path / f"letters {number % 4}"
        folder.mkdir(exist_ok=True)
        for file in (image, image.with_suffix(".gt.txt")):
            file.rename(folder / file.name)
    folders = sorted(tmp_path.glob("letters *"))
    outcome = drethtr("calibrate", tiny_path, *folders, "--output", tmp_path / "m", "--decoder", "ctc")
    assert outcome.code == 0 and "Each set calibrated on the others, ctc (float32):" in outcome.out
    table = outcome.out.partition("calibrated on the others")[2]
    assert all(f"\n{folder.name}" in table for folder in folders) and "\nall " in table
    assert "true CER inside the interval for" in table and load_model(tmp_path / "m").record.error_rates
    again = drethtr("evaluate", *folders, "--model", tmp_path / "m", "--confidence", "--json", tmp_path / "a.json")
    sets = json.loads((tmp_path / "a.json").read_text())["trust"]["sets"]
    assert [found["name"] for found in sets] == [folder.name for folder in folders]
    assert all(0 <= found["words"]["confidence"] <= 1 and found["lines"] > 5 for found in sets)
    assert all(f"\n{folder.name}" in again.out.partition("AUROC")[2] for folder in folders)


def test_too_few_lines_are_refused(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("calibrate", tiny_path, lines, "--output", tmp_path / "m", "--decoder", "ctc")
    assert outcome.code == 2 and "2 usable lines" in outcome.err and "at least 25" in outcome.err
    assert not (tmp_path / "m").exists()


def test_a_model_is_replaced_only_by_force(drethtr, few, tiny_path):
    before = tiny_path.read_bytes()
    outcome = drethtr("calibrate", tiny_path, few, "--decoder", "ctc")
    assert outcome.code == 2 and "another output" in outcome.err and "--force" in outcome.err
    assert tiny_path.read_bytes() == before
    assert drethtr("calibrate", tiny_path, few, "--decoder", "ctc", "--force").code == 0
    assert load_model(tiny_path).record.calibrations
    again = drethtr("evaluate", few, "--model", tiny_path, "--confidence")
    assert "confidence of" in again.out and "ECE" in again.out and "lines flagged %" in again.out
