"""Waiting changes nothing: what is read and what is remembered are those of the recurrent definition."""

import pytest
import torch

from drethtr.network.attention import KeyValue
from drethtr.network.cache import RetentionCache, buffer_size
from drethtr.network.network import select_rows
from drethtr.network.retention import DECAYS, RetentionState, recurrent
from drethtr.paper.variants import Gated
from drethtr.recognition.model.decay import LayerPosition, Scheduled

ROWS, HEADS, WIDTH, TOKENS = 3, 4, 8, 21
KINDS = {"layerwise": Scheduled("layerwise"), "original": Scheduled("original"), "gated": Gated()}
both_ways = pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def inputs(request):
    torch.manual_seed(0)
    q, k, v, x = torch.randn(4, ROWS, HEADS, TOKENS, WIDTH, dtype=torch.float64)
    decay = DECAYS.build(request.param, LayerPosition(layer=1, layers=4, heads=HEADS), WIDTH).double()
    return q, k, v, decay(x[:, 0]).detach()


def steps(q, k, v, log_decay):
    for n in range(q.shape[2]):
        at = slice(n, n + 1)
        yield q[:, :, at], KeyValue(k[:, :, at], v[:, :, at]), log_decay[:, :, at]


@both_ways
def test_reads_and_remembers_as_the_definition_does(inputs, normalize):
    q, k, v, log_decay = inputs
    expected, end = recurrent(q, k, v, log_decay, RetentionState.empty(k, v), normalize=normalize)
    state, reads = RetentionCache.empty(KeyValue(k, v)), []
    for asked, text, decay in steps(*inputs):
        state = state.followed_by(text, decay)
        reads.append(state.read(asked, normalize=normalize))
        state = state.absorb_if_full()
        assert state.latest.length < buffer_size(WIDTH)
    torch.testing.assert_close(torch.cat(reads, dim=2), expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(tuple(state.full_memory()), tuple(end), rtol=1e-10, atol=1e-10)


def test_rows_may_change_places_at_any_step(inputs):
    q, k, v, log_decay = inputs
    state, plain = RetentionCache.empty(KeyValue(k, v)), RetentionState.empty(k, v)
    generator = torch.Generator().manual_seed(0)
    for asked, text, decay in steps(q, k, v, log_decay):
        rows = torch.randint(ROWS, (ROWS,), generator=generator)
        plain = select_rows(plain, rows)
        state = select_rows(state.absorb_if_full(), rows).followed_by(text, decay)
        expected, plain = recurrent(asked, *text, decay, plain)
        torch.testing.assert_close(state.read(asked, normalize=False), expected, rtol=1e-10, atol=1e-10)
    rows = torch.tensor([2, 0])
    settled, expected = select_rows(state, rows).full_memory(), select_rows(plain, rows)
    torch.testing.assert_close(tuple(settled), tuple(expected), rtol=1e-10, atol=1e-10)


def test_a_short_text_needs_no_memory(inputs):
    _, k, v, _ = inputs
    state, memories = RetentionCache.empty(KeyValue(k, v)), []
    for _, text, decay in steps(*inputs):
        state = state.followed_by(text, decay).absorb_if_full()
        memories.append(state.memory is not None)
    assert memories == [number >= buffer_size(WIDTH) for number in range(1, TOKENS + 1)]


def test_nothing_written_is_an_empty_memory(inputs):
    _, k, v, _ = inputs
    memory, mass = RetentionCache.empty(KeyValue(k, v)).full_memory()
    assert memory.shape == (ROWS, HEADS, WIDTH, WIDTH) and not memory.any() and not mass.any()


@pytest.mark.parametrize("width", [2, 64, 128])
def test_those_who_wait_take_the_room_of_the_memory(width):
    keys_and_values, memory = 2 * buffer_size(width) * width, width * width
    assert keys_and_values == memory
