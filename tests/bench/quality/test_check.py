"""The measuring of checks, on cases whose outcome is known."""

import numpy as np
import pytest

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.bench.quality.check import (
    HELD_OUT,
    KNOWN,
    Judged,
    acceptance,
    fit_support,
    known_sets,
    measure_support,
    pools_of,
    precision_of_errors,
    report,
    weigh_cases,
)
from drethtr.datasets.sample import Sample


@pytest.fixture
def cases(tiny_model):
    """Lines of two sets whose texts are what a small model reads, which is mostly the same letters."""
    recognizer = Recognizer(tiny_model, threads=1)
    images = [np.random.default_rng(n).integers(0, 255, (48, 200 + 9 * n)).astype(np.uint8) for n in range(16)]
    texts = [f"{reading.text[:3]} {reading.text[3:6]} abc {n}" for n, reading in enumerate(recognizer.read(images))]
    samples = [
        Sample(i, text, set="ab"[n % 2], page=str(n)) for n, (i, text) in enumerate(zip(images, texts, strict=True))
    ]
    return weigh_cases(recognizer, samples)


def test_figures_are_of_sets_and_of_pools(cases):
    fit = fit_support(cases)
    figures = {pool.name: pool for pool in measure_support(cases, {"a"}, fit)}
    assert list(figures) == ["a", "b", KNOWN, HELD_OUT]
    assert figures["a"].words == figures[KNOWN].words >= 8
    assert figures["a"].kinds["one letter"].cases >= 1
    assert all(0 <= kind.r2 <= kind.r5 <= 1 for pool in figures.values() for kind in pool.kinds.values())


def test_a_set_is_judged_by_a_fit_that_never_saw_it(cases):
    fit = fit_support(cases)
    others = fit_support([case for case in cases if case.set == "b"])
    [alone, *_] = measure_support([case for case in cases if case.set == "a"], (), others)
    [left_out, *_] = measure_support([case for case in cases if case.set == "a"], (), fit, cases)
    assert alone == left_out


def test_a_report_says_which_fit_judges(cases):
    found = measure_support(cases, (), fit_support(cases))
    assert "fit on other sets" in report(found, held_out=True) and "fit on other sets" not in report(
        found, held_out=False
    )


def test_right_texts_alone_teach_nothing(cases):
    with pytest.raises(DataError, match="nothing to fit"):
        fit_support([case for case in cases if not case.kind])


def test_average_precision_is_that_of_a_share_of_errors():
    right = np.array([0.5, 0.9])
    assert precision_of_errors(right, np.array([0.1])) == 1
    assert precision_of_errors(right, np.array([0.7])) == pytest.approx(0.05 / (0.05 + 0.95 / 2))
    assert precision_of_errors(right, np.array([0.9])) == pytest.approx(0.05), "of equals, right words come first"


def lines(right, wrong):
    truth = np.arange(len(right) + len(wrong)) < len(right)
    return Judged(np.array([*right, *wrong]), truth, ("",) * len(truth), ~truth)


def test_lines_are_accepted_as_long_as_few_wrong_ones_come_with_them():
    assert acceptance(lines([0.9] * 3 + [0.5], [0.7])) == (pytest.approx(0.9 * 3 / 4), None)
    assert acceptance(lines([0.999] * 4, [0.1])) == (pytest.approx(0.9), 1)
    assert acceptance(lines([0.5], [0.999])) == (0, 0)
    assert acceptance(lines([0.9], [0.9]))[0] == 0  # which of the two comes first is chance


def test_wrong_lines_count_as_a_tenth_of_all_however_many_there_are():
    few, many = (acceptance(lines([0.995] * 9, [0.999] * number)) for number in (1, 7))
    assert few == pytest.approx(many) and few[1] == pytest.approx(0.9)


def test_known_sets_are_those_of_the_card(tiny_model):
    assert known_sets(tiny_model) == frozenset()
    assert "hooker_en" in known_sets(Recognizer.load(threads=1).model)


def test_a_pool_without_sets_is_left_out():
    assert pools_of(["b", "a", "b"], {"b"}) == {"a": ["a"], "b": ["b"], KNOWN: ["b"], HELD_OUT: ["a"]}
    assert list(pools_of(["a"], ())) == ["a", HELD_OUT]
