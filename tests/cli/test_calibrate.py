import numpy as np
import pytest
from conftest import written
from PIL import Image

from drethtr.recognition.model_file import load_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.weights import read_tensors


@pytest.fixture
def few(tiny_path, tmp_path):
    """A folder of 26 lines, with texts of which the model gets every other one right."""
    folder = tmp_path / "few"
    folder.mkdir()
    images = [folder / f"{number:02}.png" for number in range(26)]
    for number, image in enumerate(images):
        Image.fromarray(np.asarray(written("abc " * (1 + number % 3)))).save(image)
    for number, (image, reading) in enumerate(zip(images, Recognizer(load_model(tiny_path)).read(images), strict=True)):
        text = reading.text if number % 2 else reading.text[: len(reading.text) // 2] + "x"
        image.with_suffix(".gt.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_model_learns_when_to_be_believed(drethtr, few, tiny_path, tmp_path):
    before = tiny_path.read_bytes()
    target = tmp_path / "calibrated.safetensors"
    outcome = drethtr("calibrate", tiny_path, few, "--output", target, "--decoder", "ctc")
    assert outcome.code == 0 and "calibrated on 26 lines" in outcome.out and "\nctc " in outcome.out
    assert "ECE" in outcome.out and "the lines they were fitted on" in outcome.out
    assert tiny_path.read_bytes() == before
    assert load_model(target).trust.calibrations
    weights, others = (read_tensors(path) for path in (tiny_path, target))
    assert all(np.array_equal(weights[name], others[name]) for name in weights) and weights.keys() == others.keys()


def test_the_check_for_unknown_writing_takes_more_lines(drethtr, few, tiny_path, tmp_path, monkeypatch):
    outcome = drethtr("calibrate", tiny_path, few, "--output", tmp_path / "m", "--decoder", "ctc")
    assert "unknown writing was not learned: it takes at least 100 lines" in outcome.out
    assert load_model(tmp_path / "m").trust.unlike_training is None
    with monkeypatch.context() as change:
        change.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", 26)
        outcome = drethtr("calibrate", tiny_path, few, "--output", tmp_path / "n", "--decoder", "ctc")
    assert "unknown writing" not in outcome.out
    known = load_model(tmp_path / "n").trust.unlike_training
    outcome = drethtr("calibrate", tmp_path / "n", few, "--output", tmp_path / "o", "--decoder", "ctc")
    assert "left as it was" in outcome.out and known is not None
    assert load_model(tmp_path / "o").trust.unlike_training == known


def test_too_few_lines_are_refused(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("calibrate", tiny_path, lines, "--output", tmp_path / "m", "--decoder", "ctc")
    assert outcome.code == 2 and "2 lines to read" in outcome.err and "at least 25" in outcome.err
    assert not (tmp_path / "m").exists()


def test_a_model_is_replaced_only_by_force(drethtr, few, tiny_path):
    before = tiny_path.read_bytes()
    outcome = drethtr("calibrate", tiny_path, few, "--decoder", "ctc")
    assert outcome.code == 2 and "another output" in outcome.err and "--force" in outcome.err
    assert tiny_path.read_bytes() == before
    assert drethtr("calibrate", tiny_path, few, "--decoder", "ctc", "--force").code == 0
    assert load_model(tiny_path).trust.calibrations
    again = drethtr("evaluate", few, "--model", tiny_path, "--confidence")
    assert "confidence of" in again.out and "ECE" in again.out and "lines flagged %" in again.out


def test_a_folder_that_is_not_there_is_named_before_anything_is_read(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("calibrate", tiny_path, lines, "--output", tmp_path / "gone" / "model.safetensors")
    assert outcome.code == 2 and "there is no folder" in outcome.err
