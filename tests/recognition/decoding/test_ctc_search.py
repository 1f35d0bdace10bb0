"""CTC on lines so short that every path can be tried."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from conftest import log_probability

from drethtr.base.native import native
from drethtr.language.languages import Languages, WeightedLanguages, WeightedNGrams
from drethtr.language.learn import Ingredient, learn
from drethtr.recognition.decoding import ctc_paths, ctc_search
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.ctc_search import align, best_path, nothing_new, prefix_search, search_languages
from drethtr.text.tokenizer import BLANK, Characters

STEPS = 5
ALL = {"beams": 1000, "tokens_per_step": 4}


@pytest.fixture(params=["compiled", "python"], autouse=True)
def form(request, monkeypatch):
    """Both forms of the loops; the compiled one is tested against the other in tests/base/test_native.py, too."""
    if request.param == "python":
        monkeypatch.setattr(ctc_search, "native", None)
        monkeypatch.setattr(ctc_paths, "native", None)
    elif native is None:
        pytest.skip("not compiled")


def random_rows(seed, scale=2.0, steps=STEPS, impossible=0.0):
    rng = np.random.default_rng(seed)
    logits = scale * rng.normal(size=(steps, 4))
    logits[rng.random((steps, 4)) < impossible] = -np.inf
    logits[(logits == -np.inf).all(1), 0] = 0.0
    return (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(params=range(20))
def log_probs(request):
    """Of 4 tokens at 5 steps; every other line has tokens that are impossible at some steps."""
    return random_rows(request.param, impossible=0.2 * (request.param % 2))


def read(path):
    return tuple(token for token, _ in itertools.groupby(path) if token != BLANK)


def paths(log_probs):
    """Every possible path with its probability."""
    rows = np.exp(log_probs.astype(np.float64)).tolist()
    for path in itertools.product(range(4), repeat=len(rows)):
        probability = math.prod(row[token] for row, token in zip(rows, path, strict=True))
        if probability > 0:
            yield path, probability


def text_probabilities(log_probs):
    texts = defaultdict(float)
    for path, probability in paths(log_probs):
        texts[read(path)] += probability
    return dict(texts)


def test_wide_prefix_search_finds_every_text_with_its_probability(log_probs):
    expected = text_probabilities(log_probs)
    found = prefix_search(log_probs, **ALL)
    assert {text.tokens: math.exp(text.log_probability) for text in found} == pytest.approx(expected)
    assert [text.tokens for text in found] == sorted(expected, key=expected.__getitem__, reverse=True)


def test_wide_prefix_search_with_language_weighs_every_text(log_probs):
    """Tokens 2 and 3 stand for letters here, as ends of lines mean nothing to the CTC head."""
    tokenizer = Characters("ab")
    ngrams = learn([Ingredient(["ab", "aab", "ba", "abab"])], tokenizer, order=3, most=99)
    language_model = WeightedNGrams(ngrams, weight=0.7)
    letters = np.full((STEPS, tokenizer.size), -np.inf, dtype=np.float32)
    letters[:, [BLANK, 4, 5]] = log_probs[:, [1, 2, 3]]
    expected = {}
    for path in itertools.product((BLANK, 4, 5), repeat=STEPS):
        text, probability = read(path), math.exp(sum(float(letters[step, token]) for step, token in enumerate(path)))
        expected[text] = expected.get(text, 0.0) + probability
    scores = {
        text: math.log(probability) + 0.7 * (log_probability(ngrams, text) + 2 * len(text))
        for text, probability in expected.items()
        if probability
    }
    found = prefix_search(letters, **ALL, language_model=language_model)
    assert {text.tokens: text.score for text in found} == pytest.approx(scores)
    assert [text.tokens for text in found] == sorted(scores, key=scores.__getitem__, reverse=True)
    language_models = WeightedLanguages(Languages({"en": ngrams}), 0.7)
    assert all(text.score == pytest.approx(text.log_probability + language_models.score(text.tokens)) for text in found)
    narrow = prefix_search(letters, beams=4, margin=20.0, language_model=language_model)
    assert all(text.score <= scores[text.tokens] + 1e-9 for text in narrow)


def test_every_text_is_in_the_language_that_finds_it_likeliest(log_probs):
    tokenizer = Characters("ab")
    languages = Languages(
        {
            name: learn([Ingredient(texts)], tokenizer, order=3, most=99)
            for name, texts in (("one", ["ab", "aab", "abab"]), ("two", ["bb", "bba", "b b"]))
        }
    )
    letters = np.full((STEPS, tokenizer.size), -np.inf, dtype=np.float32)
    letters[:, [BLANK, 4, 5]] = log_probs[:, [1, 2, 3]]
    draft = best_path(letters).tokens
    found = search_languages(letters, WeightedLanguages(languages, 0.7), draft, **ALL)
    each = [prefix_search(letters, language_model=WeightedNGrams(one, 0.7), **ALL) for one in languages.models.values()]
    assert len({text.tokens for text in found}) == len(found) == len(each[0])
    for text in found:
        assert text.score == max(other.score for some in each for other in some if other.tokens == text.tokens)
        assert text.score == pytest.approx(text.log_probability + WeightedLanguages(languages, 0.7).score(text.tokens))
    assert [text.score for text in found] == sorted((text.score for text in found), reverse=True)


def test_narrow_prefix_search_is_bounded_by_the_truth(log_probs):
    expected = text_probabilities(log_probs)
    found = prefix_search(log_probs, beams=3, tokens_per_step=2)
    assert len({text.tokens for text in found}) == len(found) <= 3
    for text in found:
        assert math.exp(text.log_probability) <= expected[text.tokens] * (1 + 1e-9)


def test_narrow_prefix_search_keeps_the_best_at_every_step():
    """A line long enough for the beams to matter, against the plain algorithm."""
    for seed in range(20):
        log_probs = random_rows(seed, steps=12)
        best, *_ = prefix_search(log_probs, beams=3, tokens_per_step=4)
        tokens, probability = plain_prefix_search(np.exp(log_probs.astype(np.float64)).tolist(), beams=3)
        assert best.tokens == tokens
        assert math.exp(best.log_probability) == pytest.approx(probability)


def plain_prefix_search(rows, beams):
    kept = {(): (1.0, 0.0)}
    for row in rows:
        after = defaultdict(lambda: [0.0, 0.0])
        for text, (in_blank, in_token) in kept.items():
            after[text][0] += (in_blank + in_token) * row[BLANK]
            for token in (0, 2, 3):
                again = text[-1:] == (token,)
                after[(*text, token)][1] += (in_blank if again else in_blank + in_token) * row[token]
                if again:
                    after[text][1] += in_token * row[token]
        kept = dict(sorted(after.items(), key=lambda item: sum(item[1]), reverse=True)[:beams])
    text, masses = max(kept.items(), key=lambda item: sum(item[1]))
    return text, sum(masses)


def test_likelihood_is_the_sum_over_all_paths(log_probs):
    scores = TextScores(log_probs)
    for text, probability in text_probabilities(log_probs).items():
        assert math.exp(scores(text)) == pytest.approx(probability)
    assert scores((0, 0, 2, 2)) == -math.inf


def test_best_path_of_a_line():
    rows = np.full((6, 4), 0.01, dtype=np.float32)
    rows[range(6), [2, 2, 1, 2, 3, 3]] = 0.9
    rows[1, 2] = 0.95
    found = best_path(np.log(rows))
    assert found.tokens == (2, 2, 3)
    assert found.spans == ((0, 2), (3, 4), (4, 6))
    assert found.token_log_probabilities == pytest.approx([math.log(p) for p in (0.95, 0.9, 0.9)])


def test_best_path_is_the_likeliest_path(log_probs):
    likeliest, _ = max(paths(log_probs), key=lambda item: item[1])
    found = best_path(log_probs)
    assert found.tokens == read(likeliest)
    path = align(log_probs, found.tokens)
    assert (path.tokens, path.spans) == (found.tokens, found.spans)
    assert path.token_log_probabilities == pytest.approx(found.token_log_probabilities)


def test_alignment_is_the_likeliest_path_of_its_text(log_probs):
    best = {}
    for path, probability in paths(log_probs):
        if probability > best.get(read(path), ((), 0))[1]:
            best[read(path)] = path, probability
    for text, (path, _) in best.items():
        found = align(log_probs, text)
        runs = [(token, len(list(run))) for token, run in itertools.groupby(path)]
        ends = list(itertools.accumulate(length for _, length in runs))
        spans = [(end - n, end) for (token, n), end in zip(runs, ends, strict=True) if token != BLANK]
        assert found.spans == tuple(spans)
        surest = [log_probs[a:b, token].max().item() for token, (a, b) in zip(text, spans, strict=True)]
        assert found.token_log_probabilities == pytest.approx(surest)


@pytest.mark.parametrize(
    ("tokens", "spans"),
    [
        ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (3, 5)]),
        ((0, 2, 3, 0, 2, 3, 0), [(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (3, 4), (4, 5)]),
    ],
    ids=["no room for the blanks between", "more tokens than steps"],
)
def test_what_does_not_fit_is_spread_evenly(tokens, spans):
    rows = np.log(np.full((STEPS, 4), 0.25, dtype=np.float32))
    found = align(rows, tokens)
    assert found.spans == tuple(spans)
    assert found.token_log_probabilities == pytest.approx([math.log(0.25)] * len(tokens))


def test_an_impossible_token_is_spread_too():
    rows = np.array([[-1.0, -0.5, -np.inf]] * 4, dtype=np.float32)
    assert align(rows, (0, 2)) == ((0, 2), (-1.0, -math.inf), ((0, 2), (2, 4)))


def test_no_steps_no_text():
    none = np.zeros((0, 4), dtype=np.float32)
    assert best_path(none) == ((), (), ())
    assert TextScores(none)(()) == 0 and TextScores(none)((2,)) == -math.inf
    assert prefix_search(none)[0].tokens == ()
    assert align(none, ()) == ((), (), ())
    assert align(none, (2,)) == ((2,), (-math.inf,), ((0, 0),))


def test_a_text_longer_than_its_line_takes_no_memory():
    endless = np.broadcast_to(np.int64(2), 1 << 50)
    assert ctc_search.viterbi_in_python(random_rows(0), endless) is None


def test_prefixes_far_behind_are_given_up():
    """With a margin, every text found is that near to the best; the best one stays."""
    for seed in range(20):
        log_probs = random_rows(seed, scale=4.0, steps=12)
        everything = prefix_search(log_probs, beams=100)
        near = prefix_search(log_probs, beams=100, margin=2.0)
        assert near[0].tokens == everything[0].tokens
        assert all(text.log_probability > near[0].log_probability - 2 for text in near)
        assert 1 <= len(near) < len(everything)


def test_blanks_beyond_doubt_are_passed_over():
    """With a margin, long pauses change no text, and scores hardly."""
    pause = np.full((6, 4), np.log(1e-4), dtype=np.float32)
    pause[:, BLANK] = np.log(1 - 3e-4)
    for seed in range(20):
        parts = [random_rows((seed, part), scale=4.0, steps=2) for part in range(4)]
        log_probs = np.concatenate([part for between in parts for part in (pause, between)])
        assert nothing_new(log_probs[:, BLANK]).sum() >= 4 * len(pause) - 3
        everything = prefix_search(log_probs, beams=100)
        near = prefix_search(log_probs, beams=100, margin=20.0)
        assert near[0].tokens == everything[0].tokens
        assert near[0].score == pytest.approx(everything[0].score, abs=0.1)


def test_after_an_impossible_step_no_text_is_left():
    rows = random_rows(0)
    rows[2] = -np.inf
    assert prefix_search(rows) == prefix_search(rows, margin=6.0) == []
