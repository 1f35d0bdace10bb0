"""Reading on behind a beginning, on lines so short that every path can be tried."""

import itertools

import numpy as np
import pytest

from drethtr.recognition.decoding.continuation import Continuation
from drethtr.recognition.decoding.ctc_search import best_path

BLANK, TOKENS, STEPS = 1, 4, 5


def random_rows(seed):
    logits = 2 * np.random.default_rng(seed).normal(size=(STEPS, TOKENS))
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)


def read(path):
    return tuple(token for token, _ in itertools.groupby(path) if token != BLANK)


def likeliest(rows, beginning):
    """The text of the best of all paths that begin so; none if there is no such path."""
    paths = [
        path for path in itertools.product(range(TOKENS), repeat=STEPS) if read(path)[: len(beginning)] == beginning
    ]
    return (
        read(max(paths, key=lambda path: sum(rows[step, token] for step, token in enumerate(path)))) if paths else None
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_best_path_that_begins_so_goes_on(seed):
    rows = random_rows(seed)
    reader = Continuation(rows, BLANK)
    for length in range(4):
        for beginning in itertools.product((0, 2, 3), repeat=length):
            expected = likeliest(rows, beginning)
            found = reader.after(beginning)
            assert (*beginning, *found) == expected if expected is not None else found == []


def test_behind_nothing_stands_the_whole_reading():
    for seed in range(20):
        rows = random_rows(seed)
        path = best_path(rows, BLANK)
        assert tuple(Continuation(rows, BLANK).after(())) == path.tokens


def test_beginnings_may_come_in_any_order():
    rows = random_rows(0)
    reader = Continuation(rows, BLANK)
    beginnings = [(2, 3, 0), (2, 3), (), (2, 0), (2, 3, 0, 2), (3,)]
    assert [reader.after(b) for b in beginnings] == [Continuation(rows, BLANK).after(b) for b in beginnings]


def test_a_letter_too_many_too_few_or_another_moves_the_rest():
    """The reading is 2 3 0; the decoder inserts, drops or changes a letter, and the rest of the line is not lost."""
    rows = np.full((9, TOKENS), -20.0, np.float32)
    rows[:, BLANK] = -0.1
    for step, token in ((1, 2), (4, 3), (7, 0)):
        rows[step, [token, BLANK]] = -0.1, -6
    rows[4, 0] = -2
    reader = Continuation(rows, BLANK)
    assert reader.after((2, 0)) == [0]  # for 3, which looks like it
    assert reader.after((3,)) == [0]  # 2 dropped
    assert reader.after((0, 2)) == [3, 0]  # 0 inserted


def test_no_path_no_tokens():
    assert Continuation(random_rows(0), BLANK).after((2,) * STEPS) == []
    assert Continuation(np.zeros((0, TOKENS), np.float32), BLANK).after(()) == []
