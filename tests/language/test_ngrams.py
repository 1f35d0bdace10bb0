"""N-grams say what is likely, and what they say is a distribution; they are stored whole, or not at all."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import log_probability

from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn, renamed
from drethtr.language.ngrams import NGrams
from drethtr.recognition.model.file import load_model, save_model
from drethtr.text.tokenizer import EOS, Characters

TOKENIZER = Characters(" abcdefgh")
TEXTS = ["abba", "a bad cafe", "add a cab", "a head", "he had a bad head", "feed a dead cab"] * 3
ORDER = 4


def learned(*, texts=TEXTS, order=ORDER, most=10_000):
    return learn([Ingredient(texts)], TOKENIZER, order=order, most=most)


def row(ngrams, state):
    return np.exp([ngrams.next(state, token) for token in range(ngrams.size)])


def after(ngrams, text):
    state = ngrams.start
    for token in TOKENIZER.encode(text):
        state = ngrams.after(state, token)
    return row(ngrams, state)


@pytest.mark.parametrize("most", [10_000, 30, 0])
@pytest.mark.parametrize("text", ["", "a", "a ba", "zz", "gggg", "hea"])
def test_what_comes_next_is_a_distribution(most, text):
    """As far as steps of a sixteenth of a nat allow."""
    assert after(learned(most=most), text.replace("z", "h")).sum() == pytest.approx(1, abs=0.1)


def test_what_was_counted_is_likely():
    ngrams = learned()
    [a, d] = TOKENIZER.encode("ad")
    assert after(ngrams, "").argmax() == a  # most lines begin so
    assert after(ngrams, "he had a ba").argmax() == d
    assert after(ngrams, "abba").argmax() == EOS
    likely, odd = (log_probability(ngrams, TOKENIZER.encode(text)) for text in ("a bad head", "gdbbhgfe"))
    assert likely > -8 and odd < -30


def test_a_text_is_as_likely_as_its_steps():
    ngrams, tokens = learned(), TOKENIZER.encode("he had")
    steps = [np.log(after(ngrams, "he had"[:n])[token]) for n, token in enumerate([*tokens, EOS])]
    assert log_probability(ngrams, tokens) == pytest.approx(sum(steps))
    assert ngrams.surprises(tokens) == pytest.approx([-step for step in steps[:-1]])


def test_absolute_discounting():
    """After `a`: of seven, three `b`, two `c`, a `d` and an `e`; the discount comes from what occurs once and twice."""
    ngrams = learned(texts=["ab", "ab", "ab", "ac", "ac", "ad", "ae"], order=2)
    once, twice = 4, 2  # ad, d and end, ae, e and end; ac, c and end
    discount = once / (once + 2 * twice)
    rows, [b, f] = after(ngrams, "a"), TOKENIZER.encode("bf")
    assert (3 - discount) / 7 < rows[b] < 3 / 7 and 0 < rows[f] < 4 * discount / 7


def test_texts_count_for_their_parts():
    one, other = ["aaaa"] * 9, ["bbbb"] * 9
    rows = [
        after(learn([Ingredient(one, part), Ingredient(other, 1 - part)], TOKENIZER, order=2, most=99), "")
        for part in (0.2, 0.8)
    ]
    [a, b] = TOKENIZER.encode("ab")
    assert rows[0][b] > 3 * rows[0][a] and rows[1][a] > 3 * rows[1][b]


def test_what_was_known_can_be_kept():
    """All of it, none, or a part; also what no new text has."""
    ngrams, new = learned(), ["hag", "a hag", "gag"] * 9
    kept, forgotten, both = (
        learn([Ingredient(new, 1 - keep), Ingredient(ngrams, keep)], TOKENIZER, order=ORDER, most=10_000)
        for keep in (1.0, 0.0, 0.5)
    )
    for text in (*TEXTS, *new):
        tokens = TOKENIZER.encode(text)
        assert log_probability(kept, tokens) == pytest.approx(log_probability(ngrams, tokens), abs=0.5)
    alone = learned(texts=new)
    likely = [
        [log_probability(some, TOKENIZER.encode(text)) for text in ("a bad cafe", "a hag")]
        for some in (forgotten, alone, both, ngrams)
    ]
    assert likely[0] == pytest.approx(likely[1], rel=0.1, abs=0.5)
    assert likely[2][0] > likely[1][0] + 5 and likely[2][1] > likely[3][1] + 5


@pytest.mark.parametrize("most", [0, 1, 5, 30])
def test_what_was_pruned_to_nothing_can_be_kept(most):
    """A small model has no n-gram of the greatest lengths, though it knows of them."""
    small, new = learned(most=most), ["hag", "a hag", "gag"] * 9
    both = learn([Ingredient(new, 0.5), Ingredient(small, 0.5)], TOKENIZER, order=ORDER, most=10_000)
    both.check()
    tokens = TOKENIZER.encode("a hag")
    assert log_probability(both, tokens) > log_probability(small, tokens) + 3
    again = learn([Ingredient(small)], TOKENIZER, order=ORDER, most=10_000)
    assert log_probability(again, tokens) == pytest.approx(log_probability(small, tokens), abs=0.5)


@pytest.mark.parametrize("most", [20, 40, 60])
def test_next_to_nothing_of_a_pruned_model_changes_nothing(most):
    """It may have an n-gram without the one that this ends in, which texts must still give its probability.

    Steps of a sixteenth of a nat leave a nat of doubt where nearly nothing is left for other tokens; it was six.
    """
    new = ["hag", "a hag", "gag", "a cafe had bad cab", "bad head", "a fad", "he had a bed"]
    alone, both = (
        learn(ingredients, TOKENIZER, order=ORDER, most=10_000)
        for ingredients in ([Ingredient(new)], [Ingredient(new, 1 - 1e-9), Ingredient(learned(most=most), 1e-9)])
    )
    for text in (*TEXTS, *new):
        tokens = TOKENIZER.encode(text)
        assert both.surprises(tokens) == pytest.approx(alone.surprises(tokens), abs=1.5), text


def test_what_is_pruned_of_what_was_known_matters_least():
    """Though nobody knows any more how often it occurred."""
    whole, again = learned(), learn([Ingredient(learned())], TOKENIZER, order=ORDER, most=40)
    texts = [TOKENIZER.encode(text) for text in TEXTS]
    lost, lost_alone = (
        sum(log_probability(whole, tokens) - log_probability(some, tokens) for tokens in texts)
        for some in (again, learned(most=0))
    )
    assert lost < lost_alone / 2


def test_ngrams_of_other_tokens_or_lengths_are_not_mixed():
    for other in (learned(order=3), learn([Ingredient(["ab"])], Characters("ab"), order=ORDER, most=9)):
        with pytest.raises(ConfigError, match=r"n-grams of up to \d tokens cannot be mixed"):
            learn([Ingredient(TEXTS, 0.5), Ingredient(other, 0.5)], TOKENIZER, order=ORDER, most=9)


def test_pruning_keeps_what_matters_most():
    whole, small = learned(), learned(most=40)
    assert len(small.tokens) < 0.6 * len(whole.tokens)
    lost = [
        log_probability(whole, TOKENIZER.encode(text)) - log_probability(small, TOKENIZER.encode(text))
        for text in TEXTS
    ]
    alone = learned(most=0)
    lost_alone = [
        log_probability(whole, TOKENIZER.encode(text)) - log_probability(alone, TOKENIZER.encode(text))
        for text in TEXTS
    ]
    assert sum(lost) < sum(lost_alone) / 2


def test_too_little_text_and_too_many_tokens_are_refused():
    with pytest.raises(DataError, match="n-grams of 4 need a line of 2 or more characters"):
        learned(texts=["a"])
    learned(texts=["ab"])
    with pytest.raises(ConfigError, match="too high for a vocabulary"):
        learn([Ingredient(TEXTS)], Characters("".join(map(chr, range(0x4E00, 0x4E00 + 9000)))), order=5, most=9)


def test_other_names_change_nothing():
    """Also where the tokens are in another order, some are new, and some are gone."""
    ngrams = learned()
    size, places = TOKENIZER.size + 2, list(range(TOKENIZER.size))
    places[4:] = [14, 5, 4, 8, 7, 6, 12, 13, 11]
    other = renamed(ngrams, places, size)
    other.check()
    for text in TEXTS:
        tokens = TOKENIZER.encode(text)
        assert log_probability(other, [places[token] for token in tokens]) == pytest.approx(
            log_probability(ngrams, tokens)
        )
    shares = row(other, other.start)
    assert 0 < shares[9] == shares[10] < shares.max() / 20
    back = renamed(other, [places.index(token) if token in places else -1 for token in range(size)], TOKENIZER.size)
    assert back.hash == ngrams.hash
    few = renamed(ngrams, [*range(4), 4, 5, *[-1] * 7], 6)
    few.check()
    assert len(few.tokens) < len(ngrams.tokens) and log_probability(few, [5, 4, 5]) < 0


def test_a_model_keeps_its_ngrams(tiny_model, tmp_path):
    ngrams = learn([Ingredient(["ab", "ba abc", "abba"])], tiny_model.tokenizer, order=3, most=99)
    path = tmp_path / "model.safetensors"
    save_model(replace(tiny_model, languages=Languages({"all": ngrams})), path)
    found = load_model(path)
    assert found.languages.models["all"].hash == ngrams.hash
    assert found.hash == replace(tiny_model, languages=Languages({"all": ngrams})).hash != tiny_model.hash
    tokens = tiny_model.tokenizer.encode("abba")
    assert log_probability(found.languages, tokens) == log_probability(ngrams, tokens)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tokens", lambda values: values + 100),
        ("tokens", lambda values: values[:-1]),
        ("tokens", lambda values: np.where(np.arange(len(values)) == 1, 1, values).astype(values.dtype)),
        ("losses", lambda values: values[:-1]),
        ("children", lambda values: values + 1),
        ("children", lambda values: -values),
        ("children", lambda values: values[::-1]),
        ("children", lambda values: values.astype(np.int64)),
        ("backoffs", lambda values: values[:-1]),
    ],
)
def test_what_is_no_tree_is_refused(name, change):
    ngrams = learned()
    changed = replace(ngrams, **{name: change(getattr(ngrams, name))})
    with pytest.raises(CheckpointError, match="n-grams"):
        NGrams.of_packed(TOKENIZER.size, changed.facts, changed.packed)


def test_ngrams_of_another_length_are_refused():
    ngrams = learned()
    for order in (0, ORDER - 1, ORDER + 1, 99):
        with pytest.raises(CheckpointError, match="n-grams"):
            NGrams.of_packed(TOKENIZER.size, {**ngrams.facts, "order": order}, ngrams.packed)
