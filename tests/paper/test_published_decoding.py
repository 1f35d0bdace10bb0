"""The released code's answers for one line at a time, from a batch of all lines."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import written

from drethtr.base.errors import ConfigError
from drethtr.network.backend import TorchNetwork
from drethtr.paper.authors import load
from drethtr.paper.published_decoding import PublishedBeam, PublishedGreedy, published_beam_search
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.scorer import NetworkScorer, log_softmax
from drethtr.recognition.decoding.stepwise import BeamSearch, beam_search
from drethtr.recognition.decoding.strategies import decoder_name, strategy_named
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, EOS, PAD

FIXTURE = Path(__file__).parents[1] / "network" / "fixtures" / "parity" / "decode_bi_ret_published.npz"


@pytest.fixture(scope="module")
def arrays():
    with np.load(FIXTURE) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def network(arrays):
    state = {name.removeprefix("w/"): torch.tensor(array) for name, array in arrays.items() if name.startswith("w/")}
    return TorchNetwork(load(state, heads=json.loads(str(arrays["meta"]))["heads"]))


@pytest.fixture(scope="module")
def memory(arrays, network):
    tokens = torch.tensor(arrays["in/img_tokens"])
    with torch.inference_mode():
        return network.to_image_memory(
            network.text.encode_tokens(tokens, torch.full(tokens.shape[:1], tokens.shape[1]))
        )


def until_end(row):
    """A row of ids, cut before its end."""
    return tuple(row[: row.index(EOS)]) if EOS in row else tuple(row)


def search(network, memory, beams, limit):
    scorer = NetworkScorer(network, memory, forbidden=())
    return published_beam_search(scorer, scorer.begin(), scorer.first_tokens(), end=EOS, beams=beams, limit=limit)


@pytest.mark.parametrize("beams", [2, 5])
def test_beam_search_finds_what_the_released_one_finds(arrays, network, memory, beams):
    expected = arrays[f"out/solo_beam{beams}_recurrent"].tolist()
    assert expected == arrays[f"out/solo_beam{beams}_kv_cached"].tolist()
    found = search(network, memory, beams, limit=len(expected[0]))
    assert [hypothesis.tokens for hypothesis in found] == [until_end(row) for row in expected]
    assert sum(hypothesis.ended for hypothesis in found) == sum(EOS in row for row in expected) > 0


def test_one_beam_is_greedy(arrays, network, memory):
    expected = arrays["out/solo_greedy_recurrent"].tolist()
    scorer = NetworkScorer(network, memory, forbidden=())
    first, limit = scorer.first_tokens(), len(expected[0]) - 1
    wanted = BeamSearch(1, np.full(len(first), limit), EOS)
    taken = [best for [best] in beam_search(scorer, scorer.begin(), first, wanted)]
    searched = search(network, memory, beams=1, limit=limit)
    for row, one, other in zip(expected, taken, searched, strict=True):
        assert row[0] == BOS and one.tokens == other.tokens == until_end(row[1:])
        assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities)
    assert sum(one.ended for one in taken) >= 2 and len({one.tokens for one in taken}) > 2


class Chain:
    """Scores the next token by the last one and its place; each line has its own tables (lines, places, last, next)."""

    def __init__(self, tables):
        self.tables = tables

    def step(self, tokens, place):
        tables = self.tables[:, place].repeat(len(tokens) // len(self.tables), 0)
        return tables[np.arange(len(tokens)), tokens], place + 1

    def reorder(self, place, rows):
        return place

    def keep(self, lines):
        return Chain(self.tables[lines])


def spelled_out(tables, beams):
    """The same search for one line, with lists."""
    written = [((), 0.0)]
    for table in tables:
        longer = [
            ((*tokens, token), score + gain)
            for tokens, score in written
            for token, gain in enumerate(table[tokens[-1] if tokens else BOS].tolist())
        ]
        written = sorted(longer, key=lambda pair: -pair[1])[:beams]
        if all(EOS in tokens for tokens, _ in written):
            break
    return until_end(list(written[0][0]))


@pytest.mark.parametrize("beams", [1, 3, 4])
def test_the_search_is_what_it_says(beams):
    tables = log_softmax(2 * np.random.default_rng(3).normal(size=(40, 12, 6, 6)))
    first = np.full(40, BOS)
    found = published_beam_search(Chain(tables), 0, first, end=EOS, beams=beams, limit=12)
    expected = [spelled_out(line, beams) for line in tables]
    assert [hypothesis.tokens for hypothesis in found] == expected
    assert len({len(tokens) for tokens in expected}) > 3


def test_more_beams_than_tokens(network, memory):
    assert len(search(network, memory, beams=30, limit=5)) == 8


@pytest.mark.parametrize("strategy", [PublishedGreedy(limit=24), PublishedBeam(2, limit=24)], ids=repr)
def test_marks_are_no_text(arrays, network, memory, strategy):
    name = "greedy_recurrent" if isinstance(strategy, PublishedGreedy) else "beam2_recurrent"
    expected = arrays[f"out/solo_{name}"][:, -24:].tolist()
    decoded = strategy.find(network, [View.of(memory)])
    for one, row in zip(decoded, expected, strict=True):
        assert one.tokens == tuple(token for token in until_end(row) if token not in (BOS, PAD))
        assert len(one.confidences) == len(one.spans) == len(one.tokens)


@pytest.mark.parametrize("strategy", [PublishedGreedy(), PublishedBeam(3, limit=20)], ids=repr)
def test_any_model_can_be_read_so(tiny_model, strategy):
    alone, together = Recognizer(tiny_model, strategy), [written("abc"), written("a longer line")]
    assert [reading.text for reading in alone.read(together)] == [alone.read([line])[0].text for line in together]


@pytest.mark.parametrize(("name", "meant"), [("published", PublishedGreedy()), ("published:7", PublishedBeam(7))])
def test_a_person_can_ask_for_it(name, meant):
    assert strategy_named(name) == meant and decoder_name(meant) == name


@pytest.mark.parametrize("setting", [{"limit": 0}, {"beams": 0}, {"beams": 101}], ids=str)
def test_senseless_settings_are_refused(setting):
    with pytest.raises(ConfigError):
        PublishedBeam(**setting)
