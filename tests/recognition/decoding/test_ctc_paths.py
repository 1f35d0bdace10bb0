"""How likely texts are by all paths of a CTC head, whatever they are compared with on the way."""

import itertools
from math import inf

import numpy as np
import pytest
import torch

from drethtr.base.native import native
from drethtr.recognition.decoding import ctc_paths
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.text.tokenizer import BLANK

TOKENS, STEPS = 4, 6
TEXTS = [text for length in range(5) for text in itertools.product((0, 2, 3), repeat=length)]


@pytest.fixture(params=["compiled", "python"], autouse=True)
def form(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(ctc_paths, "native", None)
    elif native is None:
        pytest.skip("not compiled")


def random_rows(seed, steps=STEPS, tokens=TOKENS):
    logits = 3 * np.random.default_rng(seed).normal(size=(steps, tokens))
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)


def likelihoods(rows, texts):
    """As torch sums over all paths."""
    many = torch.from_numpy(rows).double()[:, None].expand(-1, len(texts), -1)
    targets = torch.tensor([token for text in texts for token in text], dtype=torch.long)
    lengths = torch.tensor([len(text) for text in texts])
    steps = torch.full((len(texts),), len(rows))
    losses = torch.nn.functional.ctc_loss(many, targets, steps, lengths, blank=BLANK, reduction="none")
    return (-losses).tolist()


@pytest.mark.parametrize("base", [(), (2,), (2, 2, 0), (3, 0, 3, 0), (0, 0, 0, 0, 0, 0, 0)])
def test_every_text_is_as_likely_as_all_its_paths(base):
    rows = random_rows(len(base))
    scores = TextScores(rows)
    scores.lean_on(base)
    for text, expected in zip(TEXTS, likelihoods(rows, TEXTS), strict=True):
        assert scores(text) == pytest.approx(expected), text


def test_what_it_was_compared_with_before_does_not_matter():
    rng, rows = np.random.default_rng(0), random_rows(9, steps=120, tokens=30)
    scores = TextScores(rows)
    for _ in range(20):
        base = tuple(rng.integers(2, 8, size=rng.integers(0, 30)).tolist())
        scores.lean_on(base)
        place = int(rng.integers(0, len(base) + 1))
        for text in (base, (*base[:place], 5, *base[place:]), base[:place] + base[place + 1 :], base[place:]):
            assert scores(text) == pytest.approx(TextScores(rows)(text), abs=1e-9)
            assert scores(text) == pytest.approx(likelihoods(rows, [text])[0])


def test_a_text_that_needs_more_steps_is_impossible():
    """The same token twice needs a blank between."""
    scores = TextScores(random_rows(1, steps=3))
    assert scores((2, 0, 2)) > -inf and scores((2, 2)) > -inf
    assert scores((2, 2, 2)) == scores((2, 2, 0)) == scores((2, 0, 2, 0)) == -inf


def test_what_the_head_rules_out_is_hardly_possible():
    rows = random_rows(2)
    rows[:, 3] = -np.inf
    scores = TextScores(rows)
    assert scores((2, 0)) == pytest.approx(likelihoods(rows, [(2, 0)])[0]) and scores((2, 3)) < -900
