"""Verified drafts write what greedy decoding writes, whatever the draft."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from noise import VOCABULARY, find, network, noise_lines, noisy_weights
from real_data import LINES

from drethtr import Recognizer
from drethtr.datasets.open import open_all
from drethtr.network.backend import TorchNetwork
from drethtr.paper.variants import JointSoftmax, SplitSoftmax
from drethtr.recognition.decoding import speculative as module
from drethtr.recognition.decoding.ctc_search import best_path
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.speculative import Continuation, verify
from drethtr.recognition.decoding.stepwise import BeamSearch, beam_search
from drethtr.recognition.decoding.strategies import Greedy, VerifiedDrafts, write_greedily
from drethtr.recognition.model.architecture import Retentive
from drethtr.recognition.protocol import Precision
from drethtr.text.tokenizer import BLANK, EOS

ROOT = Path(__file__).parents[3]


@dataclass
class Draft:
    """Stands for what CTC reads: always the same text, as far as it is not written yet."""

    text: tuple[int, ...]

    def after(self, beginning):
        return list(self.text[len(beginning) :])


@pytest.mark.parametrize("mixer", [Retentive(), SplitSoftmax(), JointSoftmax()], ids=lambda mixer: type(mixer).__name__)
@pytest.mark.parametrize(("lines", "batches"), [(1, 4), (7, 2), (32, 1)])
def test_the_text_is_that_of_greedy_decoding(mixer, lines, batches):
    """Dozens of lines, most of whose drafts are quite wrong; also with few passes, when greedy decoding must help."""
    made = network(mixer=mixer)
    written = 0
    for batch in range(batches):
        memory = noise_lines(made, lines, batch)
        expected = find(Greedy(), made, memory)
        written += sum(len(line.tokens) for line in expected)
        for passes in (2, 1000):
            found = find(VerifiedDrafts(passes), made, memory)
            assert [line.tokens for line in found] == [line.tokens for line in expected]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.confidences, other.confidences, atol=1e-4)
    assert written > 5 * lines * batches


def test_in_bfloat16_the_text_is_still_that_of_greedy_decoding():
    """Rounding is coarse there, and so is the doubt: where it could decide, greedy decoding does."""
    made = TorchNetwork(noisy_weights(), Precision.BFLOAT16)
    memory = noise_lines(made, 40)
    expected, found = find(Greedy(), made, memory), find(VerifiedDrafts(1000), made, memory)
    assert [line.tokens for line in found] == [line.tokens for line in expected]
    assert sum(len(line.tokens) for line in found) > 200


def corrupted(tokens, rng):
    """A text with some letters changed."""
    return tuple(int(rng.integers(4, VOCABULARY)) if rng.random() < 0.1 else token for token in tokens)


def test_a_pass_for_every_mistake_and_one_more(monkeypatch):
    made = network()
    memory = noise_lines(made, 32)
    scorer, limits = NetworkScorer(made, memory), NetworkScorer(made, memory).text_limits()
    expected = write_greedily(scorer)
    rng = np.random.default_rng(0)
    drafts = [corrupted(text.tokens, rng) for text in expected]
    mistakes = [sum(a != b for a, b in zip(d, e.tokens, strict=True)) for d, e in zip(drafts, expected, strict=True)]
    asked = []
    predictions = module.predictions
    monkeypatch.setattr(module, "predictions", lambda some, texts: asked.append(len(texts)) or predictions(some, texts))
    found = verify(scorer, [Draft(draft) for draft in drafts], limits, passes=1000)
    assert [text.tokens for text in found] == [text.tokens for text in expected]
    assert max(mistakes) > 2
    # Lines leave when they are done: pass number n is for those with at least n mistakes before it.
    assert asked == [sum(m >= n for m in mistakes) for n in range(max(mistakes) + 1)]


@pytest.mark.parametrize("draft", [(), (5,) * 3, tuple(range(4, 12)) * 20], ids=["none", "short", "too long"])
def test_any_draft_will_do(draft):
    made = network()
    memory = noise_lines(made, 5)
    scorer, limits = NetworkScorer(made, memory), NetworkScorer(made, memory).text_limits()
    found = verify(scorer, [Draft(draft)] * 5, limits, passes=1000)
    assert [text.tokens for text in found] == [text.tokens for text in write_greedily(scorer)]


def test_what_takes_too_many_passes_is_left():
    made = network()
    memory = noise_lines(made, 5)
    scorer = NetworkScorer(made, memory)
    assert verify(scorer, [Draft(())] * 5, NetworkScorer(made, memory).text_limits(), passes=1) == [None] * 5


def test_where_rounding_could_decide_nothing_is_said():
    """Two tokens that are alike: which of them is written is for the recurrent form to say."""
    made = network()
    weight = made.text.to_logits.weight
    weight[5] = weight[4] = 3 * weight.amax(0)
    memory = noise_lines(made, 3, seed=4)
    scorer = NetworkScorer(made, memory)
    assert verify(scorer, [Draft(())] * 3, scorer.text_limits(), passes=1000) == [None] * 3
    expected, found = find(Greedy(), made, memory), find(VerifiedDrafts(), made, memory)
    assert [line.tokens for line in found] == [line.tokens for line in expected]


def test_a_text_cut_off_is_cut_off_at_the_same_place():
    made = network()
    made.text.to_logits.weight[EOS] = 0
    memory = noise_lines(made, 4)
    scorer = NetworkScorer(made, memory)
    limits = np.array([1, 2, 9, 30])
    found = verify(scorer, [Draft((6, 7) * 20)] * 4, limits, passes=1000)
    searched = beam_search(scorer, scorer.begin(), scorer.first_tokens(), BeamSearch(1, limits, EOS))
    expected = [best for [best] in searched]
    assert [(text.tokens, text.ended) for text in found] == [(text.tokens, text.ended) for text in expected]


def test_the_shipped_model_writes_what_greedy_decoding_writes():
    """Several lines at a time, and the first few alone."""
    recognizer = Recognizer.load(precision=Precision.BFLOAT16)
    made = recognizer.network
    prepared = [recognizer.pieces.prepare(0, sample.line())[0].prepared for sample in handwriting()]
    together = [prepared[start : start + 8] for start in range(0, len(prepared), 8)]
    for batch in (*together, *([alone] for alone in prepared[:3])):
        memory = made.encode(batch)
        expected, found = find(Greedy(), made, memory), find(VerifiedDrafts(), made, memory)
        assert [line.tokens for line in found] == [line.tokens for line in expected]


def handwriting():
    """The samples of the project, and some real lines where they are."""
    real = sorted(LINES.glob("[hp]*.val.parquet"))
    return open_all([str(ROOT / "samples")]) + [open_all([str(path)])[0] for path in real]


TOKENS, STEPS = 4, 5


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
    reader = Continuation(rows)
    for length in range(4):
        for beginning in itertools.product((0, 2, 3), repeat=length):
            expected = likeliest(rows, beginning)
            found = reader.after(beginning)
            assert (*beginning, *found) == expected if expected is not None else found == []


def test_behind_nothing_stands_the_whole_reading():
    for seed in range(20):
        rows = random_rows(seed)
        path = best_path(rows)
        assert tuple(Continuation(rows).after(())) == path.tokens


def test_beginnings_may_come_in_any_order():
    rows = random_rows(0)
    reader = Continuation(rows)
    beginnings = [(2, 3, 0), (2, 3), (), (2, 0), (2, 3, 0, 2), (3,)]
    assert [reader.after(b) for b in beginnings] == [Continuation(rows).after(b) for b in beginnings]


def test_a_letter_too_many_too_few_or_another_moves_the_rest():
    """The reading is 2 3 0; the decoder inserts, drops or changes a letter, and the rest of the line is not lost."""
    rows = np.full((9, TOKENS), -20.0, np.float32)
    rows[:, BLANK] = -0.1
    for step, token in ((1, 2), (4, 3), (7, 0)):
        rows[step, [token, BLANK]] = -0.1, -6
    rows[4, 0] = -2
    reader = Continuation(rows)
    assert reader.after((2, 0)) == [0]  # for 3, which looks like it
    assert reader.after((3,)) == [0]  # 2 dropped
    assert reader.after((0, 2)) == [3, 0]  # 0 inserted


def test_no_path_no_tokens():
    assert Continuation(random_rows(0)).after((2,) * STEPS) == []
    assert Continuation(np.zeros((0, TOKENS), np.float32)).after(()) == []
