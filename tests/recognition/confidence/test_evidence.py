import numpy as np
import pytest
from conftest import log_probability, written

from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.network.backend import open_network
from drethtr.recognition.confidence.evidence import gather, gather_line, in_both, line_features
from drethtr.recognition.decoding.decoded import Decoded, View, entropy_of_steps
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.decoding.strategies import CTC, Greedy
from drethtr.recognition.protocol import Precision


def seen(model, network, *texts):
    return View.of(network.encode([model.preparation(written(text)) for text in texts]))


def test_margin_and_entropy_by_hand():
    """Four steps, two of each image token; tokens 1 (the blank), 4, 5 and 6."""
    shares = np.full((4, 7), 1e-12, np.float32)
    shares[0, [1, 4]] = 0.5, 0.5
    shares[1, [4, 1, 6]] = 0.6, 0.3, 0.1
    shares[2, 1] = shares[3, 5] = 1
    decoded = Decoded((4, 5), (0.6, 0.9), ((0.0, 1.0), (1.0, 2.0)), Decoded((6, 5), (1, 1), ((0, 1), (1, 2))))
    scores = np.log(shares)
    first, second = gather_line(decoded, [0.5, 2.0], scores, entropy_of_steps(scores), 2)
    assert (first.surprise, second.surprise) == (0.5, 2.0)
    assert first.own == 0.6 and not first.agrees and second.agrees
    assert first.margin == pytest.approx(np.log(0.6 / 0.1), abs=1e-3)
    entropy = np.log(2) - sum(p * np.log(p) for p in (0.6, 0.3, 0.1))
    assert first.entropy == pytest.approx(entropy, abs=1e-3) and second.entropy == pytest.approx(0, abs=1e-3)


def test_tokens_that_the_fewest_edits_keep():
    assert in_both("wording", "sword in").tolist() == [True] * 4 + [True, True, False]
    assert in_both(["a", "b"], ["b"]).tolist() == [False, True]
    assert in_both("", "abc").tolist() == []


@pytest.mark.parametrize("strategy", [CTC(), Greedy()], ids=repr)
def test_evidence_of_a_line_does_not_depend_on_its_neighbors(strategy, tiny_model):
    network = open_network(tiny_model, "cpu", Precision.FLOAT32, 1)
    texts = ("abc", "a cab and a longer line")
    together = seen(tiny_model, network, *texts)
    of_both = gather(together, strategy.find(network, [together]))
    for text, in_batch, features in zip(texts, of_both, line_features(together), strict=True):
        view = seen(tiny_model, network, text)
        [alone] = gather(view, strategy.find(network, [view]))
        np.testing.assert_allclose(line_features(view)[0], features, atol=1e-4)
        assert len(alone) == len(in_batch) > 0
        for one, other in zip(alone, in_batch, strict=True):
            assert one.margin == pytest.approx(other.margin, abs=1e-3)
            assert one.entropy == pytest.approx(other.entropy, abs=1e-3)


def test_a_model_without_ctc_knows_less(headless_model):
    network = open_network(headless_model, "cpu", Precision.FLOAT32, 1)
    view = seen(headless_model, network, "abc")
    [known] = gather(view, Greedy().find(network, [view]))
    assert all((token.margin, token.agrees, token.entropy) == (0, True, 0) for token in known)
    assert line_features(view).shape == (1, 2 * 16)


@pytest.mark.parametrize("head", ["tiny_model", "headless_model"])
def test_ngrams_tell_how_surprising_each_token_is(head, request):
    model = request.getfixturevalue(head)
    [a, b] = model.tokenizer.encode("ab")
    ngrams = learn([Ingredient(["abab"] * 20)], model.tokenizer, order=3, most=1000)
    view = seen(model, open_network(model, "cpu", Precision.FLOAT32, 1), "abc")
    found = view.locate([Hypothesis((a, b, b), -1.0, (-0.1, -0.2, -0.3, -0.4))])
    [known], [unknown] = gather(view, found, Languages({"all": ngrams})), gather(view, found)
    first, expected, unexpected = (token.surprise for token in known)
    assert expected < 0.5 < 2 < unexpected
    assert first + expected + unexpected < -log_probability(ngrams, (a, b, b))
    assert [token.surprise for token in unknown] == [0, 0, 0]


@pytest.mark.parametrize("head", ["tiny_model", "headless_model"])
def test_a_text_that_was_cut_off_was_not_ended(head, request):
    model = request.getfixturevalue(head)
    view = seen(model, open_network(model, "cpu", Precision.FLOAT32, 1), "abc")
    for gains, ended in (((-1.0, -1.0), False), ((-1.0, -1.0, -1.0), True)):
        found = view.locate([Hypothesis((4, 5), sum(gains), gains)])
        assert found[0].ended is ended
