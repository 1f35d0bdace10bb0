from dataclasses import replace

import pytest
from conftest import written

from drethtr import Recognizer
from drethtr.datasets.sample import Sample
from drethtr.evaluation import misaligned as module
from drethtr.evaluation.misaligned import misaligned


@pytest.fixture
def recognizer(tiny_model):
    return Recognizer(tiny_model)


@pytest.fixture
def lines(recognizer):
    """Lines whose texts are what the model reads on them, ten or more characters each."""
    images = [written("abc def " * n) for n in (4, 5, 6, 7, 8, 9)]
    readings = recognizer.read(images)
    return [
        Sample(image, reading.text, "s", page="p", key=f"line {n}")
        for n, (image, reading) in enumerate(zip(images, readings, strict=True))
    ]


def test_right_texts_are_not_suspect(recognizer, lines):
    assert misaligned(recognizer, lines, lines) == []


def test_the_line_that_has_the_text_is_found(recognizer, lines):
    swapped = [replace(lines[0], text="xyz xyz"), replace(lines[1], text=lines[0].text), *lines[2:]]
    suspects = misaligned(recognizer, swapped, swapped)
    assert ("line 0", "line 1") in [(s.sample.key, s.elsewhere.key) for s in suspects if s.elsewhere]


def test_other_pages_are_not_searched(recognizer, lines):
    swapped = [replace(lines[0], text="xyz xyz"), replace(lines[1], text=lines[0].text, page="q")]
    suspects = misaligned(recognizer, swapped, swapped)
    assert all(suspect.elsewhere is None for suspect in suspects)


def test_a_sure_reading_alone_is_enough(recognizer, lines, monkeypatch):
    wrong = [replace(lines[0], text="xyz xyz", page=None)]
    confidence = recognizer.read([lines[0].image])[0].confidence
    monkeypatch.setattr(module, "SURE", confidence)
    assert [suspect.sample.key for suspect in misaligned(recognizer, wrong, wrong)] == ["line 0"]
    monkeypatch.setattr(module, "SURE", confidence + 0.01)
    assert misaligned(recognizer, wrong, wrong) == []
