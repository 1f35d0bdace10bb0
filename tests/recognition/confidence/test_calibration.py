import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from drethtr.base import config
from drethtr.base.errors import ConfigError
from drethtr.recognition.confidence.calibration import (
    Calibration,
    calibrated_characters,
    character_features,
    word_features,
)
from drethtr.recognition.confidence.checks import OutOfDistribution
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy
from drethtr.recognition.protocol import Precision
from drethtr.recognition.reading import Character, Evidence, Reading

OF_CHARACTERS, OF_WORDS = (
    Logistic(-1.0, (0.5, 0.1, 0.2, -0.3, -0.2, 1.0)),
    Logistic(0.1, (0.5, 0.3, 2.0, 0.3, -0.3, -0.9)),
)
BOTH = Calibration((CTC(), Greedy()), OF_CHARACTERS, OF_WORDS)
"""As version 0.1.0 fitted them."""


def reading(text="an old ox", own=0.9, **evidence):
    characters = tuple(Character(c, own, i, i + 1, Evidence(own, **evidence)) for i, c in enumerate(text))
    return Reading(text, own, characters)


def test_calibrated_confidences_replace_the_decoders_opinion():
    before = reading()
    after = BOTH(before)
    assert after.text == before.text and [c.left for c in after.characters] == [c.left for c in before.characters]
    assert all(c.confidence != 0.9 and c.evidence.own == 0.9 for c in after.characters)
    assert after.confidence == pytest.approx(np.mean([c.confidence for c in after.characters]))
    assert [word.confidence for word in after.words()] == list(after.word_confidences)
    assert after.calibrated and not before.calibrated


def test_what_speaks_for_a_character_makes_it_surer():
    weak, strong = reading(own=0.6, margin=-1.0, agrees=False), reading(own=0.9, margin=5.0)
    assert BOTH(weak).confidence < BOTH(strong).confidence


def test_words_are_less_sure_with_an_unsure_character_or_space():
    sure = BOTH(reading("an old ox"))
    for place, words in ((4, {1}), (2, {0, 1})):
        doubtful = list(sure.characters)
        doubtful[place] = replace(doubtful[place], confidence=0.2)
        changed = BOTH.words(word_features(tuple(doubtful))) < np.array(sure.word_confidences) - 1e-9
        assert set(np.flatnonzero(changed)) == words


def changed(read, place, **evidence):
    """The reading with other evidence about one character."""
    characters = list(read.characters)
    characters[place] = replace(characters[place], evidence=replace(characters[place].evidence, **evidence))
    return replace(read, characters=tuple(characters))


def test_words_that_surprise_the_ngrams_are_less_sure():
    """The space after a word counts to it; the characters of a word are as sure as before."""
    plain = BOTH(reading("an old ox"))
    for place, word in ((4, 1), (6, 1), (7, 2)):
        after = BOTH(changed(reading("an old ox"), place, surprise=6.0))
        less = np.array(after.word_confidences) < np.array(plain.word_confidences) - 1e-9
        assert list(np.flatnonzero(less)) == [word] and after.characters == plain.characters


def test_a_character_is_less_sure_on_a_line_that_reads_badly():
    plain = BOTH(reading()).characters[0].confidence
    assert BOTH(changed(reading(), 5, entropy=3.0)).characters[0].confidence < plain
    assert BOTH(changed(reading(), 5, agrees=False)).characters[0].confidence < plain


def test_features_of_characters_by_hand():
    """A surprise counts 8 nats at most, for its character and the three before it; neighbors are three on each side."""
    evidence = [Evidence(0.75, margin=14.0, agrees=False, entropy=0.3, surprise=1.0), *[Evidence(0.5)] * 3]
    evidence.append(Evidence(0.25, margin=-0.5, entropy=0.2, surprise=30.0))
    characters = tuple(Character("a", 0.9, n, n + 1, known) for n, known in enumerate(evidence))
    features = character_features(characters)
    line = [np.log(0.1 + 0.01), 0.8]
    own, squares = [np.log(3), 10.0, 0.0, 0.3], [np.log(3) ** 2, 100.0, 0.25**2]
    np.testing.assert_allclose(features[0], [*own, *line, 0.25, *squares, np.log(3) / 4, 0.0], atol=1e-12)
    own, squares = [-np.log(3), -0.5, 1.0, 0.2], [np.log(3) ** 2, 0.25, 64.0]
    np.testing.assert_allclose(features[4], [*own, *line, 8.0, *squares, -np.log(3) / 4, 0.0], atol=1e-12)
    np.testing.assert_allclose(features[:, 6], [0.25, 2.0, 8 / 3, 4.0, 8.0])
    np.testing.assert_allclose(features[:, 10], [np.log(3) / 4, 0.0, 0.0, 0.0, -np.log(3) / 4], atol=1e-12)


def test_features_of_words_by_hand():
    """Of `ab c`: least log-odds, log-probability inside and of the spaces, log of the length, entropy, mean surprise,
    log-odds of the mean, and the line's mean log-odds before calibration.

    A surprise counts 8 nats at most, and that of the space after a word counts to it.
    """
    sure, entropies, surprises = (0.75, 0.5, 0.25, 0.5), (0.1, 0.2, 0.4, 0.8), (1.0, 5.0, 30.0, 2.0)
    characters = tuple(
        Character(text, p, n, n + 1, Evidence(0.8, entropy=entropy, surprise=lost))
        for n, (text, p, entropy, lost) in enumerate(zip("ab c", sure, entropies, surprises, strict=True))
    )
    line = np.log(4)
    expected = [
        [0.0, np.log(0.75 * 0.5), np.log(0.25), np.log(2), 0.3, (1.0 + 5.0 + 8.0) / 3, np.log(0.625 / 0.375), line],
        [0.0, np.log(0.5), np.log(0.25), 0.0, 0.8, 2.0, 0.0, line],
    ]
    np.testing.assert_allclose(word_features(characters), expected)


def test_a_calibration_of_an_earlier_version_judges_as_it_did():
    """Its six weights are for the first six features."""
    characters = calibrated_characters(reading().characters, BOTH.characters)
    first = OF_CHARACTERS(character_features(reading().characters)[:, :6])
    assert [character.confidence for character in characters] == first.tolist()
    assert BOTH(reading()).word_confidences == tuple(OF_WORDS(word_features(characters)[:, :6]).tolist())


@pytest.mark.parametrize("part", ["characters", "words"])
def test_a_calibration_with_other_features_is_refused(part):
    with pytest.raises(ConfigError, match=f"{part} must have (8|12) weights, not 3"):
        replace(BOTH, **{part: Logistic(0.0, (1.0,) * 3)})


def test_characters_without_evidence_have_their_confidence():
    plain = (Character("a", 0.8, 0, 1),)
    assert np.array_equal(character_features(plain), character_features(reading("a", 0.8).characters))


def test_nothing_read_stays_nothing():
    nothing = Reading("", 1.0, ())
    assert BOTH(nothing) == Reading("", 1.0, (), word_confidences=())
    assert BOTH(nothing).calibrated and not nothing.calibrated


def test_each_decoder_has_its_own_calibration():
    record = CalibrationRecord((BOTH,))
    assert record.calibration(Greedy()) == record.calibration(Greedy(), Precision.BFLOAT16) == BOTH
    assert record.calibration(Beam(3)) is None


def test_int8_is_calibrated_apart():
    coarse = replace(BOTH, precision="int8")
    assert CalibrationRecord((BOTH,)).calibration(CTC(), Precision.INT8) is None
    assert CalibrationRecord((BOTH, coarse)).calibration(CTC(), Precision.INT8) == coarse
    assert CalibrationRecord((coarse, BOTH)).calibration(CTC()) == BOTH


def test_a_record_survives_json():
    record = CalibrationRecord((BOTH,), OutOfDistribution(Logistic(0.5, (1.0, -2.0)), -1.5))
    assert config.from_dict(CalibrationRecord, json.loads(json.dumps(config.to_dict(record)))) == record
    assert config.from_dict(CalibrationRecord, {}) == CalibrationRecord()


def test_a_record_may_name_any_strategy():
    """In a fresh process, where nobody else has asked for the published ones."""
    code = "from drethtr.base import config; from drethtr.recognition.confidence.record import CalibrationRecord as T; "
    code += "config.from_dict(T, {'strategy': {'kind': 'PublishedBeam'}})"
    subprocess.run([sys.executable, "-c", code], check=True)
