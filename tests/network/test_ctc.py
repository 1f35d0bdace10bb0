from itertools import groupby, product

import pytest
import torch

from drethtr.base.errors import ConfigError
from drethtr.network.ctc import CTCHead, CTCReading, characters_begun, ctc_loss
from drethtr.network.embedding import sinusoid
from drethtr.recognition.model.architecture import CTCConfig
from drethtr.text.tokenizer import BLANK

VOCABULARY = 5


def peaky(path):
    """Logits (1, steps, vocabulary) of a reader without doubt."""
    return torch.nn.functional.one_hot(torch.tensor([path]), VOCABULARY) * 40.0


@pytest.mark.parametrize(
    ("path", "begun"),
    [
        ([1, 3, 1, 1, 4, 1], [0, 1, 1, 1, 2, 2]),
        ([3, 3, 3, 1, 4, 4], [1, 1, 1, 1, 2, 2]),
        ([3, 1, 3, 4, 2, 0], [1, 1, 2, 3, 4, 5]),
        ([1, 1, 1], [0, 0, 0]),
    ],
    ids=["blanks", "held", "doubled and neighbors", "nothing"],
)
def test_characters_begun_are_counted(path, begun):
    """A character held over several steps has begun once, a doubled one twice."""
    torch.testing.assert_close(characters_begun(peaky(path)), torch.tensor([begun]).float())


def test_doubt_is_counted_by_its_share():
    even = torch.zeros(1, 1, VOCABULARY)
    assert characters_begun(even).item() == pytest.approx(0.8)


def head(dtype=torch.float32, **settings):
    torch.manual_seed(0)
    return CTCHead(CTCConfig(**settings), 6, 8, VOCABULARY).to(dtype)


@pytest.mark.parametrize("steps", [1, 3])
def test_the_refined_reading_starts_as_the_draft(steps):
    """Each image token's draft stands in each of its steps."""
    ctc = head(steps=steps)
    features, tokens = torch.randn(2, 4, 6), torch.randn(2, 4, 8)
    draft = ctc.draft(features)
    corrected = ctc.refined(tokens, draft)
    ctc.reset_correction()
    assert torch.equal(ctc.refined(tokens, draft), draft.repeat_interleave(steps, dim=1))
    assert corrected.shape == (2, 4 * steps, VOCABULARY) and not torch.isclose(corrected[:, ::steps], draft).all()


def test_the_decoder_is_told_the_draft_and_where_it_is():
    """One step after another: place by place the sinusoid of the characters begun, and what seems to stand there."""
    ctc, tokens, draft = head(), torch.randn(1, 3, 8), peaky([3, 1, 4])
    told = ctc.add_draft(tokens, draft) - tokens
    expected = ctc.place(sinusoid(torch.tensor([[1.0, 1.0, 2.0]]), 8)) + ctc.inform.weight.T[[3, 1, 4]]
    torch.testing.assert_close(told, expected, rtol=1e-4, atol=1e-5)


def test_telling_teaches_the_draft_nothing():
    """The draft learns from its own reading; the decoder may not bend it into a message."""
    ctc, draft = head(), peaky([3, 1, 4]).requires_grad_()
    told = ctc.add_draft(torch.randn(1, 3, 8), draft)
    told.square().sum().backward()
    assert draft.grad is None and ctc.inform.weight.grad.any() and ctc.place.weight.grad.any()


def test_a_decoder_that_is_not_told_sees_its_tokens_only():
    ctc, tokens = head(inform_decoder=False), torch.randn(1, 3, 8)
    assert ctc.add_draft(tokens, peaky([3, 1, 4])) is tokens
    assert not [name for name in ctc.state_dict() if "inform" in name or "place" in name]


def test_steps_count_what_is_not_padding():
    reading = CTCReading(torch.zeros(2, 5, VOCABULARY), torch.zeros(2, 15, VOCABULARY), torch.tensor([5, 2]))
    assert reading.steps.tolist() == [15, 6]


def by_hand(logits, tokens):
    """-log of the summed probability of all paths that read as `tokens`."""
    probabilities = logits.double().softmax(-1)
    total = torch.tensor(0.0, dtype=torch.float64)
    for path in product(range(VOCABULARY), repeat=len(logits)):
        if [token for token, _ in groupby(path) if token != BLANK] == tokens:
            total = total + torch.stack([probabilities[step, token] for step, token in enumerate(path)]).prod()
    return -total.log()


TEXTS = {"one": [3], "two": [3, 0], "doubled": [2, 2], "none": [], "full": [0, 2, 3, 4]}


@pytest.mark.parametrize("tokens", TEXTS.values(), ids=TEXTS.keys())
def test_the_loss_is_the_sum_over_all_paths(tokens):
    torch.manual_seed(0)
    logits = torch.randn(4, VOCABULARY)
    padded = torch.tensor([tokens + [BLANK] * (6 - len(tokens))])
    loss = ctc_loss(logits[None], torch.tensor([4]), padded, torch.tensor([len(tokens)]))
    torch.testing.assert_close(loss.double(), by_hand(logits, tokens)[None], rtol=1e-5, atol=1e-5)


def test_padding_of_steps_and_texts_changes_no_loss():
    torch.manual_seed(0)
    logits, steps = torch.randn(2, 6, VOCABULARY), torch.tensor([3, 6])
    tokens, lengths = torch.tensor([[2, BLANK, BLANK], [3, 0, 4]]), torch.tensor([1, 3])
    together = ctc_loss(logits, steps, tokens, lengths)
    first = ctc_loss(logits[:1, :3], steps[:1], tokens[:1, :1], lengths[:1])
    second = ctc_loss(logits[1:], steps[1:], tokens[1:], lengths[1:])
    torch.testing.assert_close(together, torch.cat([first, second]))


@pytest.mark.parametrize("tokens", [[3, 0, 2, 4], [3, 3, 0]], ids=["too long", "doubled"])
def test_a_text_that_does_not_fit_teaches_nothing(tokens):
    """Three steps hold at most three characters, and two alike need a blank between them."""
    logits = torch.randn(1, 3, VOCABULARY, requires_grad=True)
    loss = ctc_loss(logits, torch.tensor([3]), torch.tensor([tokens]), torch.tensor([len(tokens)]))
    loss.sum().backward()
    assert loss.tolist() == [0.0]
    assert not logits.grad.any()


def test_half_precision_is_lifted():
    logits = torch.randn(1, 3, VOCABULARY)
    given = torch.tensor([3]), torch.tensor([[3]]), torch.tensor([1])
    half = ctc_loss(logits.bfloat16(), *given)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, ctc_loss(logits, *given), rtol=0.02, atol=0.02)
    assert characters_begun(logits.bfloat16()).dtype == torch.float32


def test_a_head_without_steps_is_refused():
    with pytest.raises(ConfigError, match="steps must be at least 1, not 0"):
        CTCConfig(steps=0)
