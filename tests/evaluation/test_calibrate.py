from dataclasses import replace

import numpy as np
import pytest
from conftest import written

from drethtr.checkpoint import load_model, save_model
from drethtr.data.sample import Sample
from drethtr.decoding.strategies import CTC, Beam, Greedy, VerifiedDrafts
from drethtr.errors import DataError
from drethtr.evaluation.calibrate import calibrate, passes, usual_decoders
from drethtr.evaluation.confidence import right_characters
from drethtr.recognizer import Recognizer


def half(text):
    return text[: len(text) // 2] + "x"


@pytest.fixture
def samples(tiny_model):
    """Lines of five pages, every other one with the text that the model reads, the rest with half of it."""
    lines = [written("abc " * (1 + number % 3)) for number in range(15)]
    readings = Recognizer(tiny_model, CTC()).read(lines)
    return [
        Sample(line, half(reading.text) if number % 2 else reading.text, page=f"p{number % 5}", key=f"line {number}")
        for number, (line, reading) in enumerate(zip(lines, readings, strict=True))
    ]


def test_confidences_become_the_share_that_is_right(tiny_model, samples):
    calibrated = calibrate(tiny_model, samples, [(CTC(),)])
    lines = [sample.image for sample in samples]
    before, after = (Recognizer(model, CTC()).read(lines) for model in (tiny_model, calibrated))
    assert [reading.text for reading in before] == [reading.text for reading in after]
    assert all(reading.calibrated for reading in after if reading.text)
    right = np.concatenate([right_characters(s.text, r) for s, r in zip(samples, after, strict=True)])
    sure = [character.confidence for reading in after for character in reading.characters]
    assert np.mean(sure) == pytest.approx(right.mean(), abs=0.01)
    assert sum(any(flag.kind == "unlike-training" for flag in reading.flags) for reading in after) <= 2
    assert not Recognizer(calibrated, Beam(2)).read(lines[:1])[0].calibrated


def test_trust_is_saved_with_the_model_and_learned_anew(tiny_model, samples, tmp_path):
    calibrated = calibrate(tiny_model, samples, [(CTC(),)])
    save_model(calibrated, tmp_path / "model.safetensors")
    assert load_model(tmp_path / "model.safetensors").trust == calibrated.trust
    assert calibrate(calibrated, samples, [(CTC(),)]).trust == calibrated.trust


def test_every_pass_is_told(tiny_model, samples):
    told = []
    calibrate(tiny_model, samples, [(CTC(),)], told.append)
    assert sum(told) == len(samples) * passes(tiny_model, [(CTC(),)]) == 4 * 15


def test_usual_decoders_are_what_the_model_can_do(tiny_model):
    assert (CTC(),) in usual_decoders(tiny_model) and (VerifiedDrafts(), Greedy()) in usual_decoders(tiny_model)
    tiny_model.network.ctc = None
    assert usual_decoders(tiny_model) == ((Greedy(),),)


def test_nothing_is_learned_from_lines_that_are_all_wrong(tiny_model, samples):
    with pytest.raises(DataError, match="all wrong"):
        calibrate(tiny_model, [replace(sample, text="ZZ") for sample in samples], [(CTC(),)])
