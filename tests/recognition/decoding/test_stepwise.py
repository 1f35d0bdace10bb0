"""Search on a writer small enough to try every text."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from drethtr.base.arrays import Floats, Ints
from drethtr.recognition.decoding.scorer import log_softmax
from drethtr.recognition.decoding.stepwise import BeamSearch, beam_search

START, END, LIMIT = 0, 1, 4
TEXTS = [
    text
    for length in range(1, LIMIT + 1)
    for text in itertools.product([END, 2, 3, 4], repeat=length)
    if END not in text[:-1] and (text[-1] == END or length == LIMIT)
]


class Memory(NamedTuple):
    """The last token but one of each row, and a number that is no array beside it, as in a real state."""

    position: int
    before: Ints


@dataclass(frozen=True)
class Chain:
    """Writes by the last two tokens; `scores` (lines, before, last, next) are stored once per line."""

    scores: Floats

    def step(self, tokens, state):
        lines = np.repeat(np.arange(len(self.scores)), len(tokens) // len(self.scores))
        return self.scores[lines, state.before, tokens], Memory(state.position + 1, tokens)

    def reorder(self, state, rows):
        return state._replace(before=state.before[rows])

    def keep(self, lines):
        return Chain(self.scores[lines])


def random_scores(seed, lines=2, sharpness=2.0):
    """For each line, log-probabilities of the next of 5 tokens given the last two; the start comes never again."""
    logits = sharpness * np.random.default_rng(seed).standard_normal((lines, 5, 5, 5))
    logits[..., START] = -np.inf
    return log_softmax(logits)


@pytest.fixture(params=range(20))
def scores(request):
    return random_scores(request.param)


def search(scores, beams=5, limit=LIMIT, **options):
    return searched(Chain(scores), beams, limit, **options)


def searched(chain, beams, limit, **options):
    """`limit` is one for all lines, or (lines,)."""
    first = np.full(len(chain.scores), START)
    limits = np.broadcast_to(limit, len(first))
    return beam_search(chain, Memory(0, first), first, BeamSearch(beams, limits, END, **options))


def gains(line, text):
    history = (START, START, *text)
    return [line[a, b, c].item() for a, b, c in zip(history, history[1:], text, strict=False)]


def without_end(text):
    return tuple(token for token in text if token != END)


@pytest.mark.parametrize("exponent", [0, 0.6, 1])
@pytest.mark.parametrize("nbest", [1, 4])
def test_wide_beam_finds_the_best_texts(scores, exponent, nbest):
    for line, found in zip(scores, search(scores, beams=300, length_exponent=exponent, nbest=nbest), strict=True):
        best = sorted(TEXTS, key=lambda text: sum(gains(line, text)) / len(text) ** exponent, reverse=True)[:nbest]
        assert [text.tokens for text in found] == [without_end(text) for text in best]
        for text, expected in zip(found, best, strict=True):
            assert text.log_probability == pytest.approx(sum(gains(line, expected)), abs=1e-5)
            assert text.token_log_probabilities == pytest.approx(gains(line, expected), abs=1e-5)
            assert text.ended == (expected[-1] == END)


def narrow_beam(line, beams, exponent, limit):
    """The law of the search in plain words, one candidate after the other."""
    running, closed = [()], []
    for length in range(1, limit + 1):
        longer = [(*text, token) for text in running for token in (END, 2, 3, 4)]
        longer = sorted(longer, key=lambda text: sum(gains(line, text)), reverse=True)[: beams - len(closed)]
        closed += [text for text in longer if text[-1] == END or length == limit]
        running = [text for text in longer if text not in closed]
    return without_end(max(closed, key=lambda text: sum(gains(line, text)) / len(text) ** exponent))


@pytest.mark.parametrize("beams", [2, 3, 5])
def test_narrow_beam_follows_its_law(scores, beams):
    """A beam that is not reordered with its state, or loses its texts, is found out here and nowhere else."""
    for line, found in zip(scores, search(scores, beams=beams, limit=12), strict=True):
        assert found[0].tokens == narrow_beam(line, beams, 1, limit=12)


def test_greedy_takes_the_likeliest_token(scores):
    for line, [found] in zip(scores, search(scores, beams=1), strict=True):
        text = [START, START]
        while len(text) < LIMIT + 2 and text[-1] != END:
            text.append(int(line[text[-2], text[-1]].argmax()))
        assert found.tokens == without_end(text[2:])
        assert found.token_log_probabilities == pytest.approx(gains(line, text[2:]))
        assert found.log_probability == pytest.approx(sum(gains(line, text[2:])))


@pytest.mark.parametrize("beams", [1, 5])
@pytest.mark.parametrize("limit", [12, np.array([12, 3, 12, 1, 12, 12, 5, 12])], ids=["one limit", "limits"])
def test_lines_do_not_change_each_other(beams, limit):
    """The texts differ in length, so lines leave at every step while others go on."""
    for seed in range(20):
        scores = random_scores(seed, lines=8, sharpness=3.0)
        limits = np.broadcast_to(limit, 8)
        alone = [search(scores[n : n + 1], beams, limit=limits[n : n + 1])[0] for n in range(8)]
        assert search(scores, beams, limit=limit) == alone


@pytest.mark.parametrize("beams", [1, 5])
def test_done_lines_leave(beams):
    """Line n can only write n tokens and end, so the scorer is asked for ever fewer lines."""
    asked = []

    class Counting(Chain):
        def step(self, tokens, state):
            asked.append(len(self.scores))
            lines = np.repeat(np.arange(len(self.scores)), len(tokens) // len(self.scores))
            left = self.scores[lines, 0, 0, 0] - state.position
            certain = np.full((len(tokens), 5), -np.inf)
            certain[range(len(tokens)), np.where(left > 0, 2, END)] = 0
            return certain, Memory(state.position + 1, tokens)

        def keep(self, lines):
            return Counting(self.scores[lines])

    lengths = np.broadcast_to(np.array([3, 0, 2, 3]).reshape(4, 1, 1, 1), (4, 5, 5, 5))
    texts = [best for [best] in searched(Counting(lengths), beams, 99)]
    assert [len(text.tokens) for text in texts] == [3, 0, 2, 3]
    assert asked == [4, 3, 3, 2]


def test_a_line_is_done_when_nothing_can_beat_its_text():
    """After (2, END) for 0.02 in all, whatever goes on has cost 4, more than 0.02 / 2 per token even at the limit."""
    line = np.full((5, 5, 5), -6.0)
    line[START, START, 2] = -0.01
    line[START, 2, END] = -0.01
    steps = []

    class Counting(Chain):
        def step(self, tokens, state):
            steps.append(state.position)
            return super().step(tokens, state)

    [[best]] = searched(Counting(line[None]), 5, 100)
    assert best.tokens == (2,)
    assert steps == [0, 1]


def test_no_more_texts_than_there_are():
    line = np.full((5, 5, 5), -np.inf)
    line[START, START, [END, 2]] = np.log([0.4, 0.6])
    line[START, 2, END] = 0
    assert [text.tokens for text in search(line[None], nbest=4)[0]] == [(2,), ()]


def test_what_is_impossible_takes_no_place():
    """At first only 2 can follow, then anything, then the end: five texts for five beams."""
    line = np.full((5, 5, 5), -np.inf)
    line[START, START, 2] = 0
    line[START, 2] = -np.arange(5.0)
    line[2, :, END] = 0
    assert [text.tokens for text in search(line[None], nbest=5)[0]] == [(2, 0), (2,), (2, 2), (2, 3), (2, 4)]


def test_a_text_cut_off_has_not_ended():
    never = np.broadcast_to(log_softmax(np.array([-np.inf, -np.inf, 0.6, 0.3, 0.1])), (1, 5, 5, 5))
    for found in (search(never, beams=1)[0][0], search(never)[0][0]):
        assert found.tokens == (2, 2, 2, 2)
        assert not found.ended
        assert len(found.token_log_probabilities) == LIMIT


def test_the_exponent_decides_between_short_and_long():
    """Ending at once costs 1.0; writing on costs 0.46, 0.9 and 0.02: less per token, but more in all."""
    line = np.full((5, 5, 5), -np.inf)
    line[START, START, [END, 2]] = [-1.0, -0.46]
    line[START, 2, [END, 2]] = [-3.0, -0.9]
    line[2, 2, [END, 3]] = [-0.02, -4.0]
    assert search(line[None], length_exponent=0.0)[0][0].tokens == ()
    assert search(line[None], length_exponent=1.0)[0][0].tokens == (2, 2)


def test_no_lines_no_texts():
    assert search(random_scores(0)[:0]) == search(random_scores(0)[:0], beams=1) == []
