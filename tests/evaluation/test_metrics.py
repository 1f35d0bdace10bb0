import random
from dataclasses import replace
from math import isnan

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.errors import DataError
from drethtr.evaluation import metrics
from drethtr.evaluation.metrics import (
    Counts,
    EditKinds,
    between_spaces,
    bootstrap,
    by_unicode,
    compare,
    edit_kinds,
    score,
    with_punctuation_apart,
)
from drethtr.text.normalize import for_scoring

LINES = st.text(st.sampled_from("abcÄ , .\u0308\u00a0\t"), max_size=12)


@given(pairs=st.lists(st.tuples(LINES.filter(for_scoring), LINES), min_size=1, max_size=6))
def test_rates_agree_with_jiwer(pairs):
    references, hypotheses = zip(*pairs, strict=True)
    total = sum(score(references, hypotheses), Counts())
    texts = [for_scoring(line) for line in references], [for_scoring(line) for line in hypotheses]
    assert total.cer == pytest.approx(jiwer.cer(*texts))
    assert total.wer == pytest.approx(jiwer.wer(*texts))


def test_counts_by_hand():
    assert compare("Ein  Haus,", "ein Haus ,") == Counts(edits=2, characters=9, word_edits=3, words=2, lines=1)


def test_kinds_of_edits_by_hand():
    assert edit_kinds("Haus,", "Hans") == EditKinds(substitutions=1, insertions=0, deletions=1)
    assert edit_kinds(" ", "two  words") == EditKinds(substitutions=0, insertions=9, deletions=0)


@given(pair=st.tuples(LINES, LINES))
def test_kinds_of_edits_sum_to_all_edits(pair):
    assert sum(edit_kinds(*pair)) == compare(*pair).edits


def test_both_spellings_of_an_accent_are_equal():
    assert compare("über", "u\u0308ber").edits == 0


def test_an_empty_reference_counts_what_was_invented():
    assert compare(" ", "two words") == Counts(edits=9, word_edits=2, lines=1)
    assert compare("", "") == Counts(lines=1)
    assert isnan(compare("", "ab").cer) and isnan(compare("", "ab").wer)
    assert (compare("", "x") + compare("abcd", "abcd")).cer == 1 / 4


def test_rates_are_of_the_corpus_not_means_of_lines():
    rates = bootstrap(score(["a", "bcde fghij"], ["x", "bcde fghij"]))
    assert rates.cer == 1 / 11
    assert rates.wer == 1 / 3
    assert (rates.lines, rates.characters) == (2, 11)


def test_as_many_readings_as_references():
    with pytest.raises(ValueError, match="zip"):
        score(["a", "b"], ["a"])


def test_nothing_to_score_is_refused():
    with pytest.raises(DataError, match="no lines"):
        bootstrap([])


def lines_of_pages(pages, lines, seed=0):
    """Pages differ much from each other, lines of a page do not."""
    rng = random.Random(seed)
    rates = [rng.uniform(0, 20) for _ in range(pages)]
    counts = [Counts(round(rate), 100, round(rate / 2), 20, 1) for rate in rates for _ in range(lines)]
    return counts, [f"page {page}" for page in range(pages) for _ in range(lines)]


def test_interval_holds_the_rate_and_narrows_with_more_lines():
    few, many = (bootstrap(lines_of_pages(pages, 1)[0]) for pages in (20, 2000))
    for rates in (few, many):
        assert rates.cer_low < rates.cer < rates.cer_high
        assert rates.wer_low < rates.wer < rates.wer_high
    assert many.cer_high - many.cer_low < (few.cer_high - few.cer_low) / 5


def test_interval_is_that_of_the_normal_law(monkeypatch):
    """With 400 lines of equal length the rate is a mean, whose interval is known."""
    monkeypatch.setattr(metrics, "DRAWS", 10_000)
    counts, _ = lines_of_pages(400, 1)
    edits = [line.edits / 100 for line in counts]
    mean = sum(edits) / 400
    error = (sum((edit - mean) ** 2 for edit in edits) / 400) ** 0.5 / 400**0.5
    rates = bootstrap(counts)
    assert rates.cer_low == pytest.approx(mean - 1.96 * error, abs=0.05 * error)
    assert rates.cer_high == pytest.approx(mean + 1.96 * error, abs=0.05 * error)


def test_the_interval_of_few_pages_contains_the_true_rate():
    """What 95 % of the draws of ten pages lie between held it in 89 % of cases only."""
    rng = np.random.default_rng(0)
    trials = [[Counts(round(edits), 10_000) for edits in rng.normal(1000, 200, 10)] for _ in range(400)]
    held = [rates.cer_low <= 0.1 <= rates.cer_high for rates in map(bootstrap, trials)]
    assert 0.93 <= np.mean(held) <= 0.97


def test_draws_of_pages_without_text_have_no_rate():
    """What was read there was divided by one character."""
    rates = bootstrap([Counts(edits=50)] * 9 + [Counts(10, 100, 2, 20)])
    assert rates.cer == 4.6
    assert rates.cer_high < 20
    assert isnan(bootstrap([Counts(edits=1)] * 6).cer_high)


def test_lines_of_a_page_are_not_independent():
    counts, pages = lines_of_pages(20, 30)
    by_line, by_page = bootstrap(counts), bootstrap(counts, pages)
    assert by_page.cer == by_line.cer
    assert by_page.cer_high - by_page.cer_low > 3 * (by_line.cer_high - by_line.cer_low)


def test_lines_without_a_page_are_drawn_alone():
    counts, pages = lines_of_pages(20, 2)
    assert bootstrap(counts, [""] * 40) == bootstrap(counts)
    assert replace(bootstrap(counts, ["only page"] * 40), drawn=40) == bootstrap(counts)
    alone = [f"line {n}" for n in range(20)] + pages[20:]
    assert bootstrap(counts, [""] * 20 + pages[20:]) == bootstrap(counts, alone)


def test_five_pages_are_too_few():
    counts, pages = lines_of_pages(6, 2)
    rates = bootstrap(counts, pages)
    assert rates.drawn == 6 and rates.sure
    assert not bootstrap(counts[2:], pages[2:]).sure and not bootstrap(counts, ["only page"] * 12).sure


def test_large_collections_are_drawn_bit_by_bit(monkeypatch):
    """A hundred thousand lines of unknown page took a gigabyte to draw; the interval stays what it was."""
    counts, _ = lines_of_pages(20, 1)
    at_once = bootstrap(counts)
    monkeypatch.setattr(metrics, "DRAWN_TOGETHER", 7 * 20)
    assert bootstrap(counts) == at_once


def test_three_conventions():
    text = 'Gaitskell\'s "3.5" (no.)'
    assert between_spaces(text) == ["Gaitskell's", '"3.5"', "(no.)"]
    assert with_punctuation_apart(text) == ["Gaitskell", "'", "s", '"', "3", ".", "5", '"', "(", "no", ".", ")"]
    assert by_unicode(text) == ["Gaitskell's", "3.5", "no"]


def test_only_some_signs_are_separate_words():
    """Those that the published systems split at."""
    assert with_punctuation_apart("5°—«a’b» – $3 d'or") == ["5", "°", "—", "«a’b»", "–", "$3", "d", "'", "or"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l'été, 1,5 et 1 , 5", ["l'été", "1,5", "et", "1", "5"]),
        ("a_b _ a.b. x:y 3a", ["a_b", "a.b", "x:y", "3a"]),
        ("u\u0308ber Ö\u0308\u2019s", ["u\u0308ber", "Ö\u0308\u2019s"]),
        ("мир, λόγος!", ["мир", "λόγος"]),
        ("中文 ab", ["中", "文", "ab"]),
        ("— … ! ?", []),
        ("Mr. & Mrs.", ["Mr", "Mrs"]),
        ("vier-\u00adzig Ⅳ 2²", ["vier", "zig", "Ⅳ", "2", "²"]),
        ("½ a\ue000b \ue001 ③½", ["½", "a\ue000b", "\ue001", "③", "½"]),
    ],
)
def test_unicode_words(text, words):
    """As the segmenter of ICU and the package uniseg cut them, and dinglehopper keeps them."""
    assert [word.strip("\u00ad") for word in by_unicode(text)] == words
