import numpy as np
import pytest
import torch
from conftest import written

from drethtr.recognition.batching import stack
from drethtr.recognition.confidence.evidence import gather, impressions, in_both, weigh
from drethtr.recognition.search.decoded import Decoded, located
from drethtr.recognition.search.search import Hypothesis
from drethtr.recognition.search.strategies import CTC, Greedy


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


def encoded(model, *texts):
    return model.network.encode_image(*stack([model.preparation(written(text)) for text in texts]))


def test_margin_and_entropy_by_hand():
    """Four steps, two of each image token; tokens 1 (the blank), 4, 5 and 6."""
    shares = np.full((4, 7), 1e-12, np.float32)
    shares[0, [1, 4]] = 0.5, 0.5
    shares[1, [4, 1, 6]] = 0.6, 0.3, 0.1
    shares[2, 1] = shares[3, 5] = 1
    decoded = Decoded((4, 5), (0.6, 0.9), ((0.0, 1.0), (1.0, 2.0)), Decoded((6, 5), (1, 1), ((0, 1), (1, 2))))
    first, second = weigh(decoded, np.log(shares), 2)
    assert first.own == 0.6 and not first.agrees and second.agrees
    assert first.margin == pytest.approx(np.log(0.6 / 0.1), abs=1e-3)
    entropy = np.log(2) - sum(p * np.log(p) for p in (0.6, 0.3, 0.1))
    assert first.entropy == pytest.approx(entropy, abs=1e-3) and second.entropy == pytest.approx(0, abs=1e-3)


def test_tokens_that_the_fewest_edits_keep():
    assert in_both("wording", "sword in").tolist() == [True] * 4 + [True, True, False]
    assert in_both(["a", "b"], ["b"]).tolist() == [False, True]
    assert in_both("", "abc").tolist() == []


@pytest.mark.parametrize("decoder", [CTC(), Greedy()], ids=repr)
def test_evidence_of_a_line_does_not_depend_on_its_neighbors(decoder, tiny_model):
    texts = ("abc", "a cab and a longer line")
    together = encoded(tiny_model, *texts)
    of_both = gather(together, decoder.decode(tiny_model.network, together))
    for text, in_batch in zip(texts, of_both, strict=True):
        memory = encoded(tiny_model, text)
        [alone] = gather(memory, decoder.decode(tiny_model.network, memory))
        np.testing.assert_allclose(alone.impression, in_batch.impression, atol=1e-4)
        assert len(alone.tokens) == len(in_batch.tokens) > 0
        for one, other in zip(alone.tokens, in_batch.tokens, strict=True):
            assert one.margin == pytest.approx(other.margin, abs=1e-3)
            assert one.entropy == pytest.approx(other.entropy, abs=1e-3)


def test_a_model_without_ctc_knows_less(tiny_model):
    tiny_model.network.ctc = None
    memory = encoded(tiny_model, "abc")
    [known] = gather(memory, Greedy().decode(tiny_model.network, memory))
    assert all((token.margin, token.agrees, token.entropy) == (0, True, 0) for token in known.tokens)
    assert impressions(memory).shape == (1, 2 * 16)


@pytest.mark.parametrize("head", [True, False], ids=["with CTC", "without"])
def test_a_text_that_was_cut_off_was_not_ended(head, tiny_model):
    if not head:
        tiny_model.network.ctc = None
    memory = encoded(tiny_model, "abc")
    for gains, ended in (((-1.0, -1.0), False), ((-1.0, -1.0, -1.0), True)):
        found = located(tiny_model.network, memory, [Hypothesis((4, 5), sum(gains), gains)])
        assert gather(memory, found)[0].ended is ended
