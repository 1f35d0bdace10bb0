"""Judging searches: measures on rankings that can be worked out by hand, and the way from lines to figures."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bulk_runs import Here, write_shard

from drethtr.base.errors import DataError
from drethtr.bench.quality.retrieval.figures import Among, fit_search, judge_sets, load_weights, save_weights, table
from drethtr.bench.quality.retrieval.lines import IndexedLines, LabeledLines, exact_scores, fuzzy_features, queries_of
from drethtr.bench.quality.retrieval.ranking import average_precision, judge
from drethtr.bulk.inputs import Columns
from drethtr.bulk.job import open_job
from drethtr.datasets.sample import Sample
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.recognition.posteriors import Posteriors
from drethtr.recognition.reading import Character, Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.probability import CandidateLines, shipped
from drethtr.text.tokenizer import Characters

ALPHABET = Characters(" abcdefghijklmnopqrstuvwxyz")
LANGUAGES = Languages(
    {
        "en": learn(
            [Ingredient(["the mill by the river", "a river and a mill", "the miller thinks"] * 5)],
            ALPHABET,
            order=4,
            most=500,
        )
    }
)

NO_OTHERS = IndexedLines.joined([])


def both_of(lines, others):
    """Lines, then others."""
    return LabeledLines([*lines.samples, *others.samples], [*lines.readings, *others.readings])


def line(truth, read, page):
    """A line of known text that was read as another one, and is certain of it."""
    characters = tuple(Character(c, 0.8, 8.0 * place, 8.0 * place + 8) for place, c in enumerate(read))
    certain = Posteriors.certain(read, [c.left for c in characters], 4.0)
    return Sample(b"", truth, "set", page=page), Reading(read, 0.8, characters, posteriors=certain)


@pytest.fixture
def lines():
    pairs = [line("The Mill.", "the mill", "1"), line("a river", "a rivet", "2"), line("the river", "the river", "2")]
    return LabeledLines(*map(list, zip(*pairs, strict=True)))


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
    assert found.mean_probability == pytest.approx(0.58) and found.precision == 0.4 and np.isnan(found.gap_low)


def test_few_hits_look_badly_calibrated_by_chance():
    """Perfect probabilities have an ECE that falls with the root of the number of hits."""
    rng = np.random.default_rng(0)
    few, many = (
        judge(said, rng.random(said.shape) < said, np.arange(said.shape[1]), probable=True)
        for said in (rng.uniform(0.1, 0.9, (1, number)) for number in (100, 10_000))
    )
    assert few.ece > 0.05 and few.ece_by_chance == pytest.approx(10 * many.ece_by_chance, rel=0.1)
    assert many.ece < 2 * many.ece_by_chance < 0.02


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
    results = lines.indexed.search(queries)
    assert results.relevant.tolist() == [[True, False, False], [False, True, True], [True, False, True]]
    assert results.chances[:, 0].tolist() == [1, 0, 1], "what is certain"


def test_weights_are_learned_from_several_sets_and_kept(lines, tmp_path):
    wrong = line("by the hill", "by the mill", "3"), line("a mile", "a mill", "4")
    lines = both_of(lines, LabeledLines(*map(list, zip(*wrong, strict=True))))
    others = [replace(sample, set="other") for sample in lines.samples]
    with pytest.raises(DataError, match="at least two sets"):
        fit_search(lines, NO_OTHERS, (ALPHABET, LANGUAGES))
    both = both_of(lines, LabeledLines(others, lines.readings))
    weights, judged = fit_search(both, NO_OTHERS, (ALPHABET, LANGUAGES))
    save_weights(weights, tmp_path / "weights.json")
    assert load_weights(tmp_path / "weights.json") == weights
    assert list(judged) == ["other", "set"] and judged["set"].without is not None
    assert judged["set"].to_json() == judged["other"].to_json(), "the same lines, judged by the same"
    assert "drethtr search" in table(judged, held_out=True)
    (tmp_path / "weights.json").write_text('{"bias": 0, "weights": {}}')
    with pytest.raises(DataError, match="no weights for search"):
        load_weights(tmp_path / "weights.json")


def test_a_set_is_judged_by_weights_that_know_nothing_of_it(lines):
    wrong = line("by the hill", "by the mill", "3"), line("a mile", "a mill", "4")
    lines = both_of(lines, LabeledLines(*map(list, zip(*wrong, strict=True))))

    def named(name, some):
        return LabeledLines([replace(sample, set=name) for sample in some.samples], some.readings)

    rest, model = both_of(named("b", lines), named("c", lines)), (ALPHABET, LANGUAGES)
    every = both_of(named("a", lines.of([0, 3, 4])), rest)
    weights, _ = fit_search(rest, NO_OTHERS, model)
    assert fit_search(every, NO_OTHERS, model)[1]["a"] == judge_sets(every, NO_OTHERS, model, weights)["a"]


def test_the_weights_in_the_package_are_whole():
    assert load_weights().search == shipped()


def test_many_false_hits_make_a_word_without_sure_ones_less_likely():
    """As many lines that may have it, some of them surely; or none of them."""
    lines = CandidateLines.of_all(np.full(200, 200, np.uint8), np.full(200, 80, np.uint16))
    chances = np.where(np.arange(200) < 100, 0.3, 0.0)
    with_sure = np.where(np.arange(200) < 30, 1.0, chances)
    assert shipped()(with_sure, 6, lines)[50] > shipped()(chances, 6, lines)[50]


@pytest.fixture
def results(tiny_path, tmp_path):
    """Results of a batch of lines with texts, and who read them."""
    recognizer = Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)
    shard = write_shard(
        tmp_path / "lines.parquet", range(6), {3: {"bytes": b"no image", "path": None}}, text=["a mill"] * 6
    )
    job = open_job([shard], str(tmp_path / "out"), recognizer, Columns(), rows_per_part=4)
    list(job.run(Here(), lambda: recognizer))
    return str(tmp_path / "out"), recognizer


def test_lines_of_a_batch_are_like_those_of_an_index(lines, results):
    others = IndexedLines.of_batch(*results)
    assert len(others) == 5 == len(others.confidences) == len(others.steps) and all(others.words)
    own = lines.indexed.search(["mill", "zzz"])
    among = Among.of(own, lines, IndexedLines.joined([others, lines.indexed]))
    assert among.relevant.shape == (2, 3 + 5 + 3) and among.relevant[0].sum() == 1 + 5 + 1
    assert len(among.searched(0, without=False)) == 11 and len(among.searched(0, without=True)) == 5
    assert among.searched(1, without=True).tolist() == list(range(11))
    assert among.judge(shipped(), without=True).hits < among.judge(shipped(), without=False).hits


def test_a_batch_of_another_model_is_refused(results):
    folder, recognizer = results
    job = Path(folder) / "_job.json"
    job.write_text(job.read_text().replace(recognizer.model.hash, "another"))
    with pytest.raises(DataError, match="read by another model"):
        IndexedLines.of_batch(folder, recognizer)
