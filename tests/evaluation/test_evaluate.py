import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import written

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.evaluation.evaluate import evaluate
from drethtr.evaluation.metrics import WORD_CONVENTIONS, Counts, EditKinds, bootstrap, compare, score
from drethtr.evaluation.reading import read_each, read_lines

TEXTS = ("abc", "deaf cab", "ge", "bad hack", "jail ", "n", "ode", "pine", "a a a", "log")


@pytest.fixture
def recognizer(tiny_model):
    return Recognizer(tiny_model)


@pytest.fixture
def samples():
    """Ten lines of two sets; each page of a set has two lines."""
    return [
        Sample(written(text * 2), text, set="ba"[i % 2], page=f"p{i // 4}", key=f"line {i}")
        for i, text in enumerate(TEXTS)
    ]


def test_agrees_with_reading_and_scoring_by_hand(recognizer, samples):
    scores = evaluate(recognizer, samples)
    assert list(scores.sets) == ["a", "b"]
    for name, rates in scores.sets.items():
        own = [sample for sample in samples if sample.set == name]
        readings = recognizer.read([sample.image for sample in own])
        counts = score([sample.text for sample in own], [reading.text for reading in readings])
        assert rates == bootstrap(counts, [sample.page for sample in own])
    assert scores.overall.lines == 10
    parts = scores.sets.values()
    assert scores.overall.cer == pytest.approx(
        sum(part.cer * part.characters for part in parts) / sum(part.characters for part in parts)
    )


def test_pages_of_two_sets_are_two_pages(recognizer, samples):
    """The interval of all lines would be too wide if page p0 of one set were p0 of the other."""
    apart = [replace(sample, page=f"{sample.set}-{sample.page}") for sample in samples]
    assert evaluate(recognizer, samples).overall == evaluate(recognizer, apart).overall


def test_intervals_take_six_pages(recognizer, samples):
    found = evaluate(recognizer, samples).to_json()
    assert [row["drawn"] for row in (*found["sets"], found["overall"])] == [3, 3, 6]
    assert [row["wer_unicode_high"] is None for row in (*found["sets"], found["overall"])] == [True, True, False]


def test_uncertain_texts_are_left_out_and_counted(recognizer, samples):
    marked = [replace(sample, clean=i not in (0, 1, 2)) for i, sample in enumerate(samples)]
    scores = evaluate(recognizer, marked)
    assert scores.left_out == {"a": 1, "b": 2}
    assert (scores.overall.lines, scores.sets["a"].lines, scores.sets["b"].lines) == (7, 4, 3)
    assert evaluate(recognizer, marked[3:]).overall == scores.overall


def test_limit_takes_the_same_lines_for_the_same_seed(recognizer, samples):
    first, again = (evaluate(recognizer, samples, limit=2, seed=3) for _ in range(2))
    assert first == again and [rates.lines for rates in first.sets.values()] == [2, 2]
    others = {evaluate(recognizer, samples, limit=2, seed=seed).overall.characters for seed in range(8)}
    assert len(others) > 1


def test_unknown_characters_are_counted(recognizer, samples):
    scores = evaluate(recognizer, [*samples, replace(samples[0], text="aŁŁx")])
    assert dict(scores.unknown) == {"Ł": 2, "x": 1}


def test_progress_covers_every_line(recognizer, samples, monkeypatch):
    monkeypatch.setattr("drethtr.evaluation.reading.READ_TOGETHER", 4)
    steps = []
    assert evaluate(recognizer, samples, advance=steps.append) == evaluate(recognizer, samples)
    assert steps == [1] * 10


def test_lines_without_text_have_no_rate_of_their_own(recognizer, samples):
    blank = [replace(samples[0], text=text, set="c", key="blank") for text in ("", "  ")]
    scores = evaluate(recognizer, [*samples, *blank])
    found = scores.to_json()
    row = found["sets"][2]
    assert (row["name"], row["lines"], row["characters"]) == ("c", 2, 0) and found["empty"] == {"c": 2}
    assert {value for name, value in row.items() if name.startswith(("cer", "wer"))} == {None}
    assert "NaN" not in json.dumps(found) and scores.overall.cer > evaluate(recognizer, samples).overall.cer


def test_lines_of_punctuation_have_no_words_for_unicode(recognizer, samples):
    found = evaluate(recognizer, [*samples, replace(samples[0], text="—", set="c")]).to_json()["sets"][2]
    assert found["wer_unicode"] is None and found["wer_punctuation"] is not None and found["cer"] is not None


def test_no_text_at_all_is_an_error(recognizer, samples):
    with pytest.raises(DataError, match="all 10 texts are empty"):
        evaluate(recognizer, [replace(sample, text=" ") for sample in samples])


def test_no_line_is_an_error(recognizer, samples):
    with pytest.raises(DataError, match="none of 10"):
        evaluate(recognizer, [replace(sample, clean=False) for sample in samples])


@pytest.mark.parametrize("text", ["мир", "ά", "α\u0301"])
def test_another_script_is_an_error(recognizer, samples, text):
    with pytest.raises(DataError, match="alphabet"):
        evaluate(recognizer, [replace(samples[0], text=text)])


def test_a_bad_image_is_named_by_its_sample_and_left_out(recognizer, samples):
    broken = replace(samples[0], image=b"\x89PNG")
    scores = evaluate(recognizer, [broken, *samples[1:]])
    [error] = scores.unreadable
    assert str(error).startswith("line 0: ") and scores.to_json()["unreadable"] == 1
    assert scores.overall == evaluate(recognizer, samples[1:]).overall
    with pytest.raises(DataError, match="line 0"):
        evaluate(recognizer, [broken])


def test_each_line_is_opened_once(recognizer, samples, monkeypatch):
    """By its sample, which names what is wrong with it; what is opened is not opened again."""
    expected = read_lines(recognizer, samples)
    monkeypatch.delattr("drethtr.recognition.recognizer.open_line")
    broken = replace(samples[0], image=b"\x89PNG")
    [error, *found] = read_each(recognizer, [broken, *samples])
    assert str(error).startswith("line 0: ") and found == expected


def test_a_line_too_long_is_named_by_its_sample(recognizer, samples):
    too_long = np.full((2, 20_000), 255, np.uint8)
    [error] = evaluate(recognizer, [replace(samples[0], image=too_long), *samples[1:]]).unreadable
    assert str(error).startswith("line 0: a line image of 20000 x 2 pixels is too long")


def test_edits_are_told_apart_by_line_and_by_set(recognizer, samples):
    scores = evaluate(recognizer, samples)
    found = scores.to_json()
    for line in scores.lines:
        assert sum(line.kinds) == line.counts.edits == score([line.sample.text], [line.reading.text])[0].edits
    for row in (*found["sets"], found["overall"]):
        assert sum(row[kind] for kind in EditKinds._fields) == round(row["cer"] * row["characters"])
    assert found["overall"]["deletions"] == sum(row["deletions"] for row in found["sets"])


def test_words_are_counted_in_three_conventions(recognizer, samples):
    scores = evaluate(recognizer, [replace(sample, text=f"{sample.text}, ab.") for sample in samples])
    overall = scores.to_json()["overall"]
    assert list(scores.conventions) == ["wer_punctuation", "wer_unicode"]
    for name, words_of in WORD_CONVENTIONS.items():
        own = [replace(sample, text=f"{sample.text}, ab.") for sample in samples]
        readings = [reading.text for reading in recognizer.read([sample.image for sample in own])]
        counts = [compare(sample.text, text, words_of) for sample, text in zip(own, readings, strict=True)]
        assert overall[name] == sum(counts, Counts()).wer
