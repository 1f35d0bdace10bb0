"""Surprise is what the network says of the right text, token by token."""

import numpy as np
import pytest
from conftest import written

from drethtr.datasets.sample import Sample
from drethtr.paper.tables.likelihood import nats_of_lines
from drethtr.recognition.decoding.scorer import log_softmax
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, EOS


def sample(text, width=1):
    line = written(text)
    return Sample(image=line.repeat(width, axis=1), text=text)


def step_by_step(recognizer, one):
    [part] = recognizer.pieces.prepare(0, one.line())
    network = recognizer.network
    memory = network.encode([part.prepared])
    state, token, nats = network.begin(memory), BOS, 0.0
    for following in [*recognizer.model.tokenizer.encode(one.text), EOS]:
        logits, state = network.step(memory, np.array([token]), state)
        nats -= float(log_softmax(logits[0].astype(float))[following])
        token = following
    return nats


def test_it_is_the_sum_over_single_steps_whatever_the_company(tiny_model):
    recognizer = Recognizer(tiny_model)
    samples = [sample("abc"), sample("a bad cafe"), sample("hi")]
    for one, nats in zip(samples, nats_of_lines(recognizer, samples), strict=True):
        assert nats == pytest.approx(step_by_step(recognizer, one), abs=1e-3)


def test_a_line_in_pieces_has_none(tiny_model):
    samples = [sample("abc"), sample("abc", width=400)]
    nats = nats_of_lines(Recognizer(tiny_model), samples)
    assert nats[0] is not None and nats[1] is None
