import json

import numpy as np
import pytest

from drethtr.evaluation.confidence import auroc, measure_confidence, reliability, right_characters, right_words
from drethtr.recognition.reading import Character, Flag, Reading


def reading(text, confidence=0.9, **more):
    return Reading(text, confidence, tuple(Character(c, confidence, i, i + 1) for i, c in enumerate(text)), **more)


def test_expected_calibration_error_by_hand():
    sure = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    right = np.array([1, 1, 1, 0, 1, 0], dtype=float)
    found = reliability(sure, right)
    assert found.ece == pytest.approx((4 * abs(0.95 - 0.75) + 2 * abs(0.55 - 0.5)) / 6)
    assert [(group.cases, group.right) for group in found.bins] == [(2, 0.5), (4, 0.75)]
    assert found.right == pytest.approx(4 / 6)


def test_honest_confidences_are_calibrated_and_others_are_not():
    rng = np.random.default_rng(0)
    sure = rng.random(50_000)
    right = (rng.random(50_000) < sure).astype(float)
    assert reliability(sure, right).ece < 0.01
    assert reliability(sure**0.2, right).ece > 0.2


def test_auroc_is_the_chance_to_tell_a_wrong_from_a_right_one():
    rng = np.random.default_rng(0)
    sure, right = rng.integers(0, 10, 200) / 10, (rng.random(200) < 0.7).astype(float)
    wrongs, rights = sure[right == 0], sure[right == 1]
    pairs = (wrongs[:, None] < rights) + 0.5 * (wrongs[:, None] == rights)
    assert auroc(sure, right) == pytest.approx(pairs.mean())
    assert auroc(sure, np.ones(200)) is None and auroc(sure, np.zeros(200)) is None


def test_the_surest_are_more_often_right():
    sure = np.linspace(0, 1, 100)
    found = reliability(sure, (sure > 0.3).astype(float))
    assert found.coverage["1"] == pytest.approx(0.3, abs=0.01) and found.coverage["0.5"] == 0


def test_characters_that_the_edit_script_keeps_are_correct():
    assert right_characters("a word", reading("a ward")).tolist() == [True, True, True, False, True, True]
    assert right_characters("", reading("ab")).tolist() == [False, False]
    assert right_words("the old  ox", reading("an old ox")).tolist() == [False, True, True]
    assert right_words("the old ox", reading("")).tolist() == []


def test_characters_that_scoring_merges_are_correct():
    assert right_characters("für den", reading("fu\u0308r  den")).all() and right_characters("a", reading(" a ")).all()
    assert right_characters("für", reading("fo\u0308r")).tolist() == [True, False, False, True]
    assert right_words("für den", reading("fu\u0308r  dem")).tolist() == [True, False]


def test_confidences_are_said_to_be_calibrated_if_all_are():
    told, untold = reading("an", word_confidences=(0.9,)), reading("an")
    assert measure_confidence(["an", "an"], [told, told]).calibrated
    assert not measure_confidence(["an", "an"], [told, untold]).calibrated


def test_lines_characters_and_words_are_all_measured():
    readings = [reading("an ox"), reading("a bat", 0.4, flags=(Flag("blank", "no ink", 0, 9),)), reading("")]
    found = measure_confidence(["an ox", "the cat", "xy"], readings)
    assert (found.characters.cases, found.words.cases, found.lines.cases) == (10, 4, 2)
    assert found.words.right == 0.5 and found.words.auroc == 1.0
    assert found.flagged == {"any": pytest.approx(1 / 3), "blank": pytest.approx(1 / 3)}
    assert found.cer_flagged > found.cer_unflagged > 0
    assert json.loads(json.dumps(found.to_json()))["words"]["cases"] == 4


def test_nothing_read_is_measured_too():
    found = measure_confidence(["abc"], [reading("")])
    for level in (found.characters, found.words, found.lines):
        assert (level.cases, level.right, level.ece, level.auroc) == (0, None, None, None)
        assert set(level.coverage.values()) == {None}
    assert found.cer_flagged is None and found.cer_unflagged == 1
