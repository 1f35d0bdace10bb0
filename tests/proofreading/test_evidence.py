"""Evidence for given texts, computed by hand from small tables of log-probabilities."""

import numpy as np
import pytest

from drethtr.proofreading.evidence import EncodedLine, ReadText, Stretches, TextVariants, weigh
from drethtr.proofreading.given import GivenText, pair
from drethtr.recognition.decoding.ctc_search import best_path
from drethtr.text.tokenizer import EOS, PAD, Characters

TOKENIZER = Characters.learn(["abc "])
SIZE = len(TOKENIZER.alphabet) + 4


def given(text):
    return GivenText.of(text, TOKENIZER)


def rows(*likely, best=0.9):
    """CTC log-probabilities of steps at which these characters, or blanks (`-`), are the likeliest tokens."""
    table = np.full((len(likely), SIZE), (1 - best) / (SIZE - 1))
    for step, text in enumerate(likely):
        table[step, PAD if text == "-" else TOKENIZER.encode(text)[0]] = best
    return np.log(table).astype(np.float32)


@pytest.mark.parametrize(("text", "steps"), [("abc", 3), ("aab", 4), ("aaa", 5), ("a b", 3), ("", 1)])
def test_a_text_needs_a_step_for_each_token_and_one_between_equal_ones(text, steps):
    read = ReadText("", ())
    assert EncodedLine(rows(*"-" * steps), 1, read).holds(given(text))
    assert not text or not EncodedLine(rows(*"-" * (steps - 1)), 1, read).holds(given(text))


def weighed(line, text, opinions=None):
    """Evidence for a text; the decoder finds all tokens of all variants equally likely, unless it has opinions."""
    case = TextVariants.of(line, given(text), TOKENIZER)
    even = [np.full((len(tokens) + 1, SIZE), -np.log(SIZE)) for tokens in case.texts]
    return weigh(line, case, even if opinions is None else opinions)


def test_the_worst_character_of_a_word_counts_and_is_clipped():
    """The features begin with the CTC log-probability of the word's worst character, -12 at least."""
    table = rows(*"ab c")
    table[1, TOKENIZER.encode("b")] = np.log(0.001)
    line = EncodedLine(table, 1, ReadText("ab c", (0.9, 0.9)))
    assert weighed(line, "ab c").words[:, 0] == pytest.approx(np.log([0.001, 0.9]), rel=1e-4)
    table[1, TOKENIZER.encode("b")] = -20.0
    assert weighed(line, "ab c").words[0, 0] == -12.0
    table[1, TOKENIZER.encode("b")] = -11.0
    assert weighed(line, "ab c").words[0, 0] == pytest.approx(-11.0)


def test_the_decoders_lead_is_clipped():
    line = EncodedLine(rows(*"ab"), 1, ReadText("ab", (0.9,)))
    said = np.zeros((3, SIZE))
    said[0, TOKENIZER.encode("a")], said[1, TOKENIZER.encode("b")], said[2, EOS] = 2.0, -3.0, 25.0
    word = weighed(line, "ab", [said]).words[0]
    assert (word[4], word[5]) == (-3.0, 10.0), "the worst lead inside the word, and that of what follows"


def test_the_surest_word_of_the_reading_is_shared_among_words_and_gaps():
    read = ReadText("the big house", (0.9, 0.5, 0.75))
    words, gaps = read.surest(pair(("the", "house"), read.text))
    assert words == pytest.approx(np.log([9, 3])) and gaps == pytest.approx([0, 0, 0], abs=1e-9)
    words, gaps = read.surest(pair(("the", "bighouse"), "the big house"))
    assert words == pytest.approx([np.log(9), 0], abs=1e-9)


def test_words_stand_on_their_steps():
    """Two steps make an image token."""
    line = EncodedLine(rows(*"-aa-bb  -c--"), 2, ReadText("ab c", (0.9, 0.9)))
    (left, middle), (start, right) = weighed(line, "ab c").word_edges
    assert 0 <= left <= 1 and middle == pytest.approx(3, abs=0.5) and start >= 4 and right <= 6


@pytest.fixture
def scores():
    """Log-probabilities of 40 steps and 8 tokens."""
    logits = 3 * np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def test_the_likeliest_text_gains_nothing_by_freedom(scores):
    best = best_path(scores)
    stretches = Stretches(scores, best.tokens)
    assert stretches.freedom == pytest.approx(0, abs=1e-4)
    assert stretches.free(2, 5).gain == pytest.approx(0, abs=1e-4)


def test_a_wrong_token_gains_what_it_costs(scores):
    tokens = list(best_path(scores).tokens)
    tokens[4] = next(token for token in range(4, 8) if token not in tokens[3:6])
    stretches = Stretches(scores, tuple(tokens))
    free = stretches.free(4, 5)
    assert free.gain == pytest.approx(stretches.freedom, abs=1e-3) and free.gain > 0


def test_leaving_tokens_out_is_the_score_of_the_rest(scores):
    tokens = best_path(scores).tokens
    stretches = Stretches(scores, tokens)
    rest = Stretches(scores, tokens[:3] + tokens[5:])
    assert stretches.without(3, 5) == pytest.approx(rest.score - stretches.score, abs=1e-4)
