"""How `drethtr transcribe` is told how to read."""

import json

import pytest

from drethtr import Recognizer
from drethtr.base.errors import ConfigError
from drethtr.paper.published_decoding import PublishedBeam, PublishedGreedy
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts, name_of, strategy_named
from drethtr.recognition.network import Precision, precision_named


@pytest.mark.parametrize(
    ("name", "decoder"),
    [
        ("ctc", CTC()),
        ("greedy", Greedy()),
        ("verified", VerifiedDrafts()),
        ("beam", Beam()),
        ("beam:3", Beam(3)),
        ("joint", Joint()),
        ("careful", Joint(candidates=4, stretches=(1.0, 0.8, 1.2))),
    ],
)
def test_strategies_have_names(name, decoder):
    assert strategy_named(name) == decoder


@pytest.mark.parametrize(
    ("decoder", "name"),
    [
        (CTC(), "ctc"),
        (Beam(), "beam:5"),
        (PublishedGreedy(), "published"),
        (PublishedBeam(3), "published:3"),
        (Joint(), "joint"),
        (Joint(ctc_weight=0.55, language_weight=0.35), "joint"),
        (Joint(candidates=4, stretches=(1.0, 0.8, 1.2)), "careful"),
        (Joint(candidates=4, stretches=(1.0, 0.8, 1.2)).completed_by(Joint(ctc_weight=0.55)), "careful"),
        (Beam(3, length_exponent=0.5), "Beam(beams=3, length_exponent=0.5)"),
        (Joint(candidates=9), repr(Joint(candidates=9))),
    ],
)
def test_decoders_are_called_as_they_are_typed(decoder, name):
    assert name_of(decoder) == name


@pytest.mark.parametrize("name", ["verifed", "joint:3", "beam:x"])
def test_other_names_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        strategy_named(name)


def test_precision_that_is_unknown_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'bfloat16'"):
        precision_named("bfloat")


@pytest.mark.parametrize("decoder", ["ctc", "greedy", "verified", "beam:4", "joint", "careful"])
def test_alternatives_are_in_json(drethtr, lines, tiny_path, decoder):
    image = lines / "two.png"
    arguments = ("transcribe", image, "--model", tiny_path, "--decoder", decoder, "--format", "json")
    found = json.loads(drethtr(*arguments, "--alternatives", "3").out)["alternatives"]
    [reading] = Recognizer.load(tiny_path, decoder=strategy_named(decoder), alternatives=3).read([image])
    assert [text["text"] for text in found] == [other.text for other in reading.alternatives]
    assert found[0]["text"] == reading.text and 2 <= len(found) <= 4
    assert json.loads(drethtr(*arguments).out)["alternatives"] == []


def test_alternatives_have_no_place_elsewhere(drethtr, lines, tiny_path):
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--alternatives", "3")
    assert outcome.code == 2 and "json" in outcome.err


def test_images_may_be_read_in_bfloat16(drethtr, lines, tiny_path):
    """Rounding is seen in the confidences."""
    image = lines / "two.png"
    out = drethtr("transcribe", image, "--model", tiny_path, "--precision", "bfloat16", "--format", "json").out
    found = [character["confidence"] for character in json.loads(out)["characters"]]
    recognizers = [
        Recognizer.load(tiny_path, precision=exactness) for exactness in (Precision.BFLOAT16, Precision.FLOAT32)
    ]
    rounded, exact = ([one.confidence for one in recognizer.read([image])[0].characters] for recognizer in recognizers)
    assert found == pytest.approx(rounded, abs=1e-4) and found != pytest.approx(exact, abs=1e-4)
