from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.evaluation.predict import learn, leave_one_set_out, mean_absolute_error, predict
from drethtr.evaluation.reading import ScoredLine
from drethtr.recognition.confidence.error_rate import TotalDoubt
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.reading import Character, Reading


def lines_of(name, doubt, factor, rng, pages=12):
    """Lines whose characters are wrong `factor` times as often as the confidences say."""
    lines = []
    for number in range(6 * pages):
        sure = np.clip(1 - rng.exponential(doubt, 60), 0, 1)
        wrong = rng.random(60) < factor * (1 - sure)
        read = "".join("x" if is_wrong else "a" for is_wrong in wrong)
        characters = tuple(Character(letter, float(p), 0, 1) for letter, p in zip(read, sure, strict=True))
        sample = Sample(b"", "a" * 60, name, page=f"p{number % pages}", key=f"{name} {number}")
        lines.append(ScoredLine(sample, Reading(read, float(sure.mean()), characters)))
    return lines


@pytest.fixture(scope="module")
def lines():
    """Eight sets, easy to hard, whose factor is 1.3 give or take a tenth."""
    rng = np.random.default_rng(0)
    return [
        line
        for number in range(8)
        for line in lines_of(f"set {number}", 0.02 + 0.03 * number, 1.3 * rng.lognormal(0, 0.1), rng)
    ]


def test_the_factor_is_found(lines):
    rate = learn(CTC(), lines)
    for doubt in (5, 10, 20):
        assert rate(TotalDoubt(doubt, 100)).cer == pytest.approx(1.3 * doubt / 100, rel=0.15)
    assert rate.power == pytest.approx(1, abs=0.15) and rate.spread == pytest.approx(0.1, abs=0.06)
    assert rate.sets == 8 and 0.3 < rate.noise < 3 and rate.strategy == CTC()


def test_where_more_is_doubtful_more_is_missing():
    """A factor alone would expect too much of the easiest set, and too little of the hardest."""
    rng = np.random.default_rng(1)
    doubts = [0.03, 0.05, 0.08, 0.12, 0.17, 0.23]
    lines = [line for doubt in doubts for line in lines_of(f"{doubt}", doubt, 4 * doubt**0.5, rng)]
    rate = learn(CTC(), lines)
    assert 1.3 < rate.power < 1.7
    assert mean_absolute_error(predict(rate, lines)) < 0.5 * mean_absolute_error(
        predict(replace(rate, power=1.0, factor=1.3), lines)
    )


def test_sets_that_are_much_alike_do_not_tell_of_a_power():
    rng = np.random.default_rng(2)
    lines = [line for n in range(3) for line in lines_of(f"set {n}", 0.1 + n / 1000, 1.0 + n / 5, rng)]
    assert learn(CTC(), lines).power == pytest.approx(1, abs=0.1)


def test_a_set_is_predicted_from_the_others(lines):
    prediction = leave_one_set_out(CTC(), lines)
    assert [one.name for one in prediction] == [f"set {number}" for number in range(8)]
    assert mean_absolute_error(prediction) < 0.03 and sum(one.inside for one in prediction) >= 7
    assert max(one.cer for one in prediction) > 0.2


def test_a_set_is_not_predicted_from_itself(lines):
    alone = [line for line in lines if line.sample.set == "set 3"]
    others = [line for line in lines if line.sample.set != "set 3"]
    [prediction] = predict(learn(CTC(), others), alone)
    assert prediction == next(one for one in leave_one_set_out(CTC(), lines) if one.name == "set 3")


def test_large_sets_count_as_small_ones(lines):
    twice = [*lines, *(line for line in lines if line.sample.set == "set 0")]
    assert learn(CTC(), twice).factor == pytest.approx(learn(CTC(), lines).factor, rel=1e-3)


def test_lines_without_text_teach_nothing_and_have_no_truth(lines):
    blank = [ScoredLine(replace(sample, text="", set="blank"), reading) for sample, reading in lines[:60]]
    rate = learn(CTC(), lines)
    assert learn(CTC(), [*lines, *blank]) == rate
    prediction = predict(rate, [*lines, *blank])
    assert (prediction[0].name, prediction[0].cer, prediction[0].inside) == ("blank", None, None)
    assert mean_absolute_error(prediction) == mean_absolute_error(prediction[1:])


def test_three_sets_are_too_few_to_leave_one_out(lines):
    with pytest.raises(DataError, match="lines of 3 sets; at least 4"):
        leave_one_set_out(CTC(), [line for line in lines if line.sample.set in ("set 0", "set 1", "set 2")])


def test_two_sets_are_too_few(lines):
    with pytest.raises(DataError, match="lines of 2 sets; at least 3"):
        learn(CTC(), [line for line in lines if line.sample.set in ("set 0", "set 1")])


def test_a_single_page_leaves_its_lines_to_tell_of_chance(lines):
    """Of what a factor was fitted on as a whole, nothing is left to be wrong."""
    of_one_page = [ScoredLine(replace(sample, page=sample.set), reading) for sample, reading in lines]
    assert learn(CTC(), of_one_page).noise > 0.3 * learn(CTC(), lines).noise
