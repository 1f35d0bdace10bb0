"""Long texts in pieces, and how far the two forms of the network are apart."""

import io

import noise
import pytest
import torch

from drethtr.decoding.drift import drift, text_drift
from drethtr.decoding.long_text import in_pieces, prefill, score_text


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def network(dtype=torch.float64):
    return noise.network().to(dtype)


def memory_of(made):
    return noise.noise_lines(made, 2)


def text(tokens, rows=2):
    return torch.randint(4, noise.VOCABULARY, (rows, tokens), generator=torch.Generator().manual_seed(1))


def assert_same_state(made, memory, rows, one, other):
    """Both go on alike, at once and step by step."""
    for further in (text(5, rows), text(1, rows)):
        logits, other_logits = (made.decode_text(further, memory, state)[0] for state in (one, other))
        torch.testing.assert_close(logits, other_logits)


@pytest.mark.parametrize("longest", [1, 7, 64, 1000])
@pytest.mark.parametrize("beams", [1, 3])
def test_pieces_give_what_the_whole_gives(longest, beams):
    made = network()
    memory, tokens = memory_of(made), text(150, rows=2 * beams)
    whole, after = made.decode_text(tokens, memory, made.initial_state(memory, beams))
    pieces = list(in_pieces(made, tokens, memory, made.initial_state(memory, beams), longest=longest))
    torch.testing.assert_close(torch.cat([piece.logits for piece in pieces], dim=1), whole)
    for state in (pieces[-1].state, prefill(made, tokens, memory, longest=longest)):
        assert state.length == after.length == 150
        assert_same_state(made, memory, 2 * beams, state, after)
    gains = whole[:, :-1].float().log_softmax(-1).gather(2, tokens[:, 1:, None])[..., 0]
    torch.testing.assert_close(score_text(made, tokens, memory, longest=longest), gains)


def test_a_text_of_one_token_has_nothing_to_score():
    made = network()
    assert score_text(made, text(1), memory_of(made)).shape == (2, 0)


def test_what_is_remembered_does_not_grow():
    made = network()
    memory, sizes = memory_of(made), []
    for tokens in (300, 2000):
        file = io.BytesIO()
        torch.save(prefill(made, text(tokens), memory, longest=50), file)
        sizes.append(file.getbuffer().nbytes)
    assert sizes[0] == sizes[1]


def test_exact_numbers_do_not_drift():
    made = network()
    found = drift(made, text(600), memory_of(made), longest=256)
    assert found.shape == (2, 600) and float(found.max()) < 1e-10


def test_coarser_numbers_drift_more():
    found = []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        made = network(dtype)
        found.append(float(drift(made, text(100), memory_of(made)).max()))
    exact, half, coarse = found
    assert 10 * exact < half < coarse


def test_drift_of_texts_is_told_per_line():
    """What stands behind the end of the shorter text does not count."""
    made = network(torch.bfloat16)
    memory, texts = memory_of(made), [[5, 6], list(range(4, noise.VOCABULARY)) * 8]
    together = text_drift(made, texts, memory)
    tokens = torch.tensor([[0, *texts[1]]])
    assert len(together) == 2 and together[0] < together[1]
    alone = drift(made, tokens.expand(2, -1), memory)[1]
    assert together[1] == pytest.approx(float(alone.max()), rel=0.2)
