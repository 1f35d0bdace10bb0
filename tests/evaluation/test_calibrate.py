from dataclasses import replace

import numpy as np
import pytest
from conftest import written

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.evaluation.calibrate import (
    as_sure_as,
    calibrate,
    fit_out_of_distribution,
    folds_of,
    passes,
    precisions,
    usual_strategies,
)
from drethtr.evaluation.confidence import measure_confidence, right_characters
from drethtr.evaluation.predict import learn
from drethtr.recognition import backends
from drethtr.recognition.confidence.checks import OutOfDistribution
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.protocol import Precision
from drethtr.recognition.recognizer import Recognizer

JOINT = Joint(ctc_weight=1.0, language_weight=0.0)


def half(text):
    return text[: len(text) // 2] + "x"


def parts(record):
    """The strategies and the precision of each calibration."""
    return [(known.strategies, known.precision) for known in record.calibrations]


@pytest.fixture(autouse=True)
def _few_lines_are_enough(monkeypatch):
    monkeypatch.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", 15)


@pytest.fixture
def samples(tiny_model):
    """Lines of five pages, every other one with the text that the model reads, the rest with half of it."""
    lines = [written("abc " * (1 + number % 3)) for number in range(15)]
    readings = Recognizer(tiny_model, CTC()).read(lines)
    return [
        Sample(line, half(reading.text) if number % 2 else reading.text, page=f"p{number % 5}", key=f"line {number}")
        for number, (line, reading) in enumerate(zip(lines, readings, strict=True))
    ]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_model_that_learned_its_own_readings_is_as_sure_as_its_start(precision, tiny_model, samples):
    start = calibrate(tiny_model, samples, [(CTC(),)])
    surer = replace(start, weights={name: 1.5 * weight for name, weight in start.weights.items()})
    told = replace(surer, record=as_sure_as(start, surer, samples))
    lines = [sample.image for sample in samples]

    def means(model):
        read = Recognizer(model, CTC(), precision=precision).read(lines)
        parts = [
            [c.confidence for line in read for c in line.characters],
            [w.confidence for r in read for w in r.words()],
        ]
        return list(map(np.mean, parts))

    assert means(surer) != pytest.approx(means(start), abs=0.01)
    assert means(told) == pytest.approx(means(start), abs=1e-6)
    assert parts(told.record) == parts(start.record)


def test_confidences_become_the_share_that_is_right(tiny_model, samples):
    calibrated = calibrate(tiny_model, samples, [(CTC(),)])
    lines = [sample.image for sample in samples]
    before, after = (Recognizer(model, CTC()).read(lines) for model in (tiny_model, calibrated))
    assert [reading.text for reading in before] == [reading.text for reading in after]
    assert all(reading.calibrated for reading in after if reading.text)
    right = np.concatenate([right_characters(s.text, r) for s, r in zip(samples, after, strict=True)])
    sure = [character.confidence for reading in after for character in reading.characters]
    assert np.mean(sure) == pytest.approx(right.mean(), abs=0.01)
    assert not Recognizer(calibrated, Beam(2)).read(lines[:1])[0].calibrated


def test_trust_is_saved_with_the_model_and_relearned(tiny_model, samples, tmp_path):
    calibrated = calibrate(tiny_model, samples, [(CTC(),)])
    save_model(calibrated, tmp_path / "model.safetensors")
    assert load_model(tmp_path / "model.safetensors").record == calibrated.record
    assert calibrate(calibrated, samples, [(CTC(),)]).record == calibrated.record


def test_an_earlier_calibration_does_not_affect_the_result(tiny_model, samples):
    """Not even if it was learned by a version that looked at images otherwise."""
    older = replace(tiny_model, record=CalibrationRecord((), OutOfDistribution(Logistic(0.0, (1.0,)), 0.0)))
    assert calibrate(older, samples, [(CTC(),)]).record == calibrate(tiny_model, samples, [(CTC(),)]).record


def test_trust_that_does_not_fit_the_network_is_dropped(tiny_model, samples, monkeypatch):
    """Also with too few lines to learn it anew: else the model could not be read with."""
    monkeypatch.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", 16)
    older = replace(tiny_model, record=CalibrationRecord((), OutOfDistribution(Logistic(0.0, (1.0,)), 0.0)))
    assert calibrate(older, samples, [(CTC(),)]).record.unlike_training is None


def test_calibrations_of_other_strategies_stay_when_one_is_named(tiny_model, samples):
    known = replace(calibrate(tiny_model, samples, [(CTC(),)]).record, strategy=CTC())
    record = calibrate(replace(tiny_model, record=known), samples, [(JOINT,)]).record
    assert record.strategy == CTC() and parts(record) == [
        ((CTC(),), "float32"),
        ((CTC(),), "int8"),
        ((JOINT,), "float32"),
        ((JOINT,), "int8"),
    ]
    assert record.calibrations[:2] == known.calibrations


def test_what_cannot_be_calibrated_on_a_device_stays(tiny_model, samples):
    """No GPU computes in int8, nor torch on a CPU."""
    known = calibrate(tiny_model, samples, [(CTC(),)])
    record = calibrate(known, samples, [(CTC(),)], device="cpu:0").record
    assert sorted(parts(record)) == [((CTC(),), "float32"), ((CTC(),), "int8")]
    assert known.record.calibrations[1] in record.calibrations


def test_int8_is_also_calibrated_on_a_device_that_is_found(tiny_model, monkeypatch):
    monkeypatch.setattr(backends, "DRIVERS", ())
    assert precisions(tiny_model, "auto") == precisions(tiny_model, "cpu") == (Precision.FLOAT32, Precision.INT8)


def test_the_out_of_distribution_check_stays_when_a_strategy_is_named(tiny_model, samples, monkeypatch):
    """And of the same strategy where it looks at lines at other widths."""
    monkeypatch.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", 15)
    usual = JOINT
    known = calibrate(tiny_model, samples, [(usual,)])
    unlike = replace(known.record.unlike_training, least=-1.0)
    careful = replace(usual, stretches=(1.0, 0.95))
    changed = replace(known, record=replace(known.record, unlike_training=unlike))
    record = calibrate(changed, samples, [(careful,)]).record
    assert record.unlike_training == unlike
    assert [strategies for strategies, _ in parts(record)] == [(usual,), (usual,), (careful,), (careful,)]


def test_a_strategy_keeps_a_calibration_shared_with_the_named_one(tiny_model, samples):
    joint = JOINT
    alone = calibrate(tiny_model, samples, [(CTC(),)]).record.calibrations[0]
    shared = replace(alone, strategies=(VerifiedDrafts(), joint))
    rates = tuple(ErrorRate(strategy, 1.0, 0.1, 2.0, sets=4) for strategy in (joint, CTC()))
    before = replace(tiny_model, record=CalibrationRecord((shared,), error_rates=rates))
    record = calibrate(before, samples, [(CTC(),)]).record
    assert record.calibrations[0] == shared and record.error_rates == (rates[0], replace(rates[1], inherited=True))
    record = calibrate(before, samples, [(joint,)]).record
    assert [strategies for strategies, _ in parts(record)] == [(VerifiedDrafts(),), (joint,), (joint,)]


def test_lines_never_seen_are_hardly_unlike_training():
    """With as many weights as lines, the lines that were fitted would put the threshold far too high."""
    rng = np.random.default_rng(0)
    looks = rng.normal(0, 1, (3, 700, 60)) + np.array([1, 0, 0])[:, None, None] * 0.2
    check = fit_out_of_distribution(looks[:, :100], [f"page {number // 4}" for number in range(100)])
    flagged = check.alike.score(looks[0, 100:]) < check.least
    assert flagged.mean() < 0.06


def test_lines_of_a_page_are_kept_together():
    folds = folds_of(["a", "b", "a", "c", "d", "", "e", "e"])
    assert folds[0] == folds[2] and folds[6] == folds[7] and len(set(folds)) == 5
    assert len(set(folds_of(["a"] * 8))) == 5, "one page is parted after all"


@pytest.mark.parametrize(("enough", "expected"), [(15, 5), (16, 2)])
def test_progress_covers_every_pass(tiny_model, samples, monkeypatch, enough, expected):
    """Lines that are too few to know their writing by are not looked at for it."""
    monkeypatch.setattr("drethtr.evaluation.calibrate.TO_KNOW_WRITING", enough)
    told = []
    record = calibrate(tiny_model, samples, [(CTC(),)], told.append).record
    assert sum(told) == len(samples) * passes(tiny_model, 15, [(CTC(),)]) == expected * 15
    assert (record.unlike_training is not None) == (expected == 5)


def test_each_fit_is_reported(tiny_model, samples):
    told = []
    record = calibrate(tiny_model, samples, [(CTC(),)], on_fit=told.append).record
    [fit, in_int8] = told
    calibrated = Recognizer(replace(tiny_model, record=record), CTC()).read([sample.image for sample in samples])
    measured = measure_confidence([sample.text for sample in samples], calibrated)
    assert (fit.calibration, in_int8.calibration) == record.calibrations
    assert fit.characters.cases == measured.characters.cases and fit.words.cases == measured.words.cases
    assert fit.characters.ece == pytest.approx(measured.characters.ece)
    assert fit.words.ece == pytest.approx(measured.words.ece)


def test_each_collection_is_judged_by_the_others(tiny_model, samples):
    """And how such confidences turn into errors is learned, for float32."""
    told = []
    several = [replace(sample, set=f"set {number % 5}") for number, sample in enumerate(samples)]
    record = calibrate(tiny_model, several, [(CTC(),)], on_fit=told.append).record
    assert sorted(sample.key for sample, _ in told[0].held_out) == sorted(sample.key for sample in several)
    assert record.error_rates == (learn(CTC(), told[0].held_out),) and record.error_rates[0].sets == 5
    others = [sample for sample in several if sample.set != "set 3"]
    by_others = replace(tiny_model, record=calibrate(tiny_model, others, [(CTC(),)]).record)
    own = [line for line in told[0].held_out if line.sample.set == "set 3"]
    readings = Recognizer(by_others, CTC()).read([sample.image for sample, _ in own])
    assert [reading.word_confidences for reading in readings] == [reading.word_confidences for _, reading in own]


def test_with_too_few_collections_none_is_held_out(tiny_model, samples):
    """Nor where all the others are alike wrong."""
    told = []
    few = [replace(sample, set=f"set {number % 3}") for number, sample in enumerate(samples)]
    wrong = [replace(sample, text="ZZ", set=f"wrong {number % 3}") for number, sample in enumerate(samples)]
    for some in (few, [*samples, *wrong]):
        assert calibrate(tiny_model, some, [(CTC(),)], on_fit=told.append).record.error_rates == ()
    assert [fit.held_out for fit in told] == [()] * 4


def test_error_rates_are_inherited_where_sets_are_too_few(tiny_model, samples):
    """A start's rate serves a strategy that was calibrated again, marked; new ones replace it."""
    rates = tuple(ErrorRate(strategy, 1.5, 0.1, 2.0, sets=4) for strategy in (CTC(), Beam(2)))
    start = CalibrationRecord(calibrate(tiny_model, samples, [(CTC(),)]).record.calibrations, error_rates=rates)
    record = calibrate(tiny_model, samples, [(CTC(),)], prior=start).record
    assert record.error_rates == (replace(rates[0], inherited=True),)
    several = [replace(sample, set=f"set {number % 5}") for number, sample in enumerate(samples)]
    [learned] = calibrate(tiny_model, several, [(CTC(),)], prior=start).record.error_rates
    assert learned.sets == 5 and not learned.inherited


def test_usual_strategies_are_what_the_model_can_do(tiny_model, headless_model):
    assert (CTC(),) in usual_strategies(tiny_model) and (VerifiedDrafts(), Greedy()) in usual_strategies(tiny_model)
    assert usual_strategies(headless_model) == ((Greedy(),),)


def test_nothing_is_learned_from_lines_that_are_all_wrong(tiny_model, samples):
    with pytest.raises(DataError, match="examples are wrong"):
        calibrate(tiny_model, [replace(sample, text="ZZ") for sample in samples], [(CTC(),)])
