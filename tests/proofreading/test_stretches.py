import numpy as np
import pytest

from drethtr.proofreading.stretches import Stretches
from drethtr.recognition.decoding.ctc_search import best_path
from drethtr.text.tokenizer import PAD


@pytest.fixture
def rows():
    """Log-probabilities of 40 steps and 8 tokens."""
    logits = 3 * np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def test_the_likeliest_text_gains_nothing_by_freedom(rows):
    best = best_path(rows, PAD)
    stretches = Stretches(rows, best.tokens)
    assert stretches.freedom == pytest.approx(0, abs=1e-4)
    assert stretches.free(2, 5).gain == pytest.approx(0, abs=1e-4)


def test_a_wrong_token_gains_what_it_costs(rows):
    tokens = list(best_path(rows, PAD).tokens)
    tokens[4] = next(token for token in range(4, 8) if token not in tokens[3:6])
    stretches = Stretches(rows, tuple(tokens))
    free = stretches.free(4, 5)
    assert free.gain == pytest.approx(stretches.freedom, abs=1e-3) and free.gain > 0


def test_leaving_tokens_out_is_the_score_of_the_rest(rows):
    tokens = best_path(rows, PAD).tokens
    stretches = Stretches(rows, tokens)
    rest = Stretches(rows, tokens[:3] + tokens[5:])
    assert stretches.without(3, 5) == pytest.approx(rest.score - stretches.score, abs=1e-4)
