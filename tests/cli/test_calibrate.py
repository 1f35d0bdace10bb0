import pytest

from drethtr.checkpoint import load_model, read_tensors
from drethtr.recognizer import Recognizer


@pytest.fixture
def read_lines(lines, tiny_path):
    """The folder of lines, with texts of which the model gets one right."""
    [reading] = Recognizer.load(tiny_path).read([lines / "one.png"])
    (lines / "one.gt.txt").write_text(reading.text, encoding="utf-8")
    return lines


def test_a_model_learns_when_to_be_believed(drethtr, read_lines, tiny_path, tmp_path):
    before = tiny_path.read_bytes()
    target = tmp_path / "calibrated.safetensors"
    outcome = drethtr("calibrate", tiny_path, read_lines, "--output", target, "--decoder", "ctc")
    assert outcome.code == 0 and "calibrated on 2 lines" in outcome.out and "CTC()" in outcome.out
    assert tiny_path.read_bytes() == before
    assert load_model(target).trust.calibrations and load_model(target).trust.unlike_training
    weights, others = (read_tensors(path)[0] for path in (tiny_path, target))
    assert all(weights[name].equal(others[name]) for name in weights) and weights.keys() == others.keys()


def test_without_output_the_model_itself_is_calibrated(drethtr, read_lines, tiny_path):
    assert drethtr("calibrate", tiny_path, read_lines, "--decoder", "ctc").code == 0
    assert load_model(tiny_path).trust.calibrations
    again = drethtr("evaluate", read_lines, "--model", tiny_path, "--confidence")
    assert "confidence of" in again.out and "ECE" in again.out and "lines flagged %" in again.out


def test_a_folder_that_is_not_there_is_named_before_anything_is_read(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("calibrate", tiny_path, lines, "--output", tmp_path / "gone" / "model.safetensors")
    assert outcome.code == 2 and "there is no folder" in outcome.err
