"""Judging searches: measures on rankings that can be worked out by hand, and the way from lines to figures."""

from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.cli.evaluate_search import table
from drethtr.evaluation.fit_search import fit_search, load_weights, save_weights
from drethtr.evaluation.retrieval import average_precision, judge
from drethtr.evaluation.search import Lines, exact_scores, fuzzy_features, queries_of
from drethtr.language.languages import Languages
from drethtr.language.learn import learn
from drethtr.lines.sample import Sample
from drethtr.recognition.posteriors import Posteriors
from drethtr.recognition.reading import Character, Reading
from drethtr.search.probability import shipped
from drethtr.text.tokenizer import Characters

ALPHABET = Characters(" abcdefghijklmnopqrstuvwxyz")
LANGUAGES = Languages(
    {
        "en": learn(
            [["the mill by the river", "a river and a mill", "the miller thinks"] * 5],
            [1.0],
            ALPHABET,
            order=4,
            most=500,
        )
    }
)


def line(truth, read, page):
    """A line of known text that was read as another one, and is certain of it."""
    characters = tuple(Character(c, 0.8, 8.0 * place, 8.0 * place + 8) for place, c in enumerate(read))
    certain = Posteriors.certain(read, [c.left for c in characters], 4.0)
    return Sample(b"", truth, "set", page=page), Reading(read, 0.8, characters, posteriors=certain)


@pytest.fixture
def lines():
    pairs = [line("The Mill.", "the mill", "1"), line("a river", "a rivet", "2"), line("the river", "the river", "2")]
    return Lines(*map(list, zip(*pairs, strict=True)))


def test_average_precision():
    ranked = np.array([True, False, True, False])
    assert average_precision(ranked, 2) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(ranked, 4) == pytest.approx((1 + 2 / 3) / 4), "two were not found"
    weights = np.array([1.0, 0, 2, 1])
    assert average_precision(ranked, 3, weights) == pytest.approx(1.0), "a line that is not drawn is no error"
    assert np.isnan(average_precision(ranked, 0))


def test_a_ranking_is_judged_over_all_pairs_and_by_query():
    relevant = np.array([[True, False, False], [False, True, True], [False, False, False]])
    scores = np.array([[0.9, 0.2, 0.0], [0.8, 0.7, 0.0], [0.3, 0.0, 0.0]])
    found = judge(scores, relevant, np.arange(3), probable=True)
    assert found.gap == pytest.approx((1 + 2 / 3) / 3) and found.map == pytest.approx((1 + 1 / 4) / 2)
    assert (found.first, found.recall_10, found.hits) == (0.5, 0.75, 5)
    assert found.recall_half == pytest.approx(2 / 3) and found.recall_nine == pytest.approx(1 / 3)
    assert found.said == pytest.approx(0.58) and found.were == 0.4 and np.isnan(found.gap_low)


def test_queries_are_words_that_occur_and_as_many_that_do_not(lines):
    queries = queries_of(lines, (ALPHABET, LANGUAGES))
    assert queries[:3] == ["mill", "riuer", "the"], "folded: u and v are one letter"
    assert not set(queries[3:]) & {"mill", "riuer", "the", "a"} and len(queries) <= 6
    assert queries == queries_of(lines, (ALPHABET, LANGUAGES))


def test_each_method_finds_what_it_can(lines):
    queries = ["mill", "riuer", "the"]
    assert (exact_scores(queries, lines) > 0).tolist() == [
        [True, False, False],
        [False, False, True],
        [True, False, True],
    ]
    fuzzy = fuzzy_features(queries, lines)
    assert fuzzy[1, 1, :2] == pytest.approx([0.8, 1]) and fuzzy[1, 0, 0] == 0
    situation = lines.situation(queries)
    assert situation.relevant.tolist() == [[True, False, False], [False, True, True], [True, False, True]]
    assert situation.chances[:, 0].tolist() == [1, 0, 1], "what is certain"


def test_weights_are_learned_from_several_sets_and_kept(lines, tmp_path):
    wrong = line("by the hill", "by the mill", "3"), line("a mile", "a mill", "4")
    lines = lines.with_others(Lines(*map(list, zip(*wrong, strict=True))))
    others = [replace(sample, set="other") for sample in lines.samples]
    with pytest.raises(DataError, match="several sets"):
        fit_search(lines, (ALPHABET, LANGUAGES))
    both = lines.with_others(Lines(others, lines.readings))
    weights, judged = fit_search(both, (ALPHABET, LANGUAGES))
    save_weights(weights, tmp_path / "weights.json")
    assert load_weights(tmp_path / "weights.json") == weights
    assert list(judged) == ["other", "set"] and judged["set"].crowd is not None
    assert judged["set"].to_json() == judged["other"].to_json(), "the same lines, judged by the same"
    assert "drethtr search" in table(judged, held_out=True)
    (tmp_path / "weights.json").write_text('{"bias": 0, "weights": {}}')
    with pytest.raises(DataError, match="no weights of a search"):
        load_weights(tmp_path / "weights.json")


def test_the_weights_in_the_package_are_whole():
    assert load_weights().search == shipped()
