"""The laws of retention: three forms, one operator."""

from functools import partial

import pytest
import torch

from drethtr.network.decay import DECAYS
from drethtr.network.retention import RetentionState, chunkwise, parallel, recurrent
from drethtr.paper.variants import Gated
from drethtr.recognition.model.decay import LayerPosition, Scheduled

TOKENS = 37
FORMS = {"recurrent": recurrent, "parallel": parallel, "chunkwise": partial(chunkwise, chunk=16)}
KINDS = {
    "original": Scheduled("original"),
    "layerwise, fastest layer": Scheduled("layerwise", 0.86),
    "gated": Gated(temperature=16),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
every_decay = pytest.mark.parametrize("decay", KINDS.values(), ids=KINDS.keys())
both_ways = pytest.mark.parametrize("normalize", [False, True], ids=["plain", "normalized"])


def draw(decay, tokens=TOKENS, dtype=torch.float64):
    """q, k, v and log γ; by default in float64, where rounding cannot hide a mistake."""
    torch.manual_seed(0)
    q, k, v, x = (torch.randn(2, 4, tokens, 8, dtype=torch.float64).to(dtype) for _ in range(4))
    log_decay = DECAYS.build(decay, LayerPosition(layer=0, layers=4, heads=4), 8).double()(x[:, 0].double())
    return q, k, v, log_decay.detach()


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def inputs(request):
    return draw(request.param)


def begun(q, k, v, log_decay):
    """A state that already holds a text, not an empty one."""
    return recurrent(q.flip(2), k.flip(2), v.flip(2), log_decay, RetentionState.empty(k, v))[1]


@both_ways
@pytest.mark.parametrize("start", [lambda q, k, v, d: RetentionState.empty(k, v), begun], ids=["empty", "begun"])
@pytest.mark.parametrize(
    ("form", "settings"),
    [(parallel, {}), (chunkwise, {"chunk": 5}), (chunkwise, {"chunk": 100})],
    ids=["parallel", "chunks of 5", "one chunk"],
)
def test_every_form_equals_the_recurrent(form, settings, start, normalize, inputs):
    """Values, final state and gradients agree with the one-token-at-a-time definition."""
    results, before = [], start(*inputs)
    for compute, extra in ((recurrent, {}), (form, settings)):
        leaves = [t.clone().requires_grad_() for t in (*inputs, *before)]
        state = RetentionState(*leaves[4:])
        read, state = compute(*leaves[:4], state, normalize=normalize, **extra)
        (read.square().sum() + state.memory.sum() + state.mass.square().sum()).backward()
        results.append([read, *state, *(leaf.grad for leaf in leaves)])
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-10)


@both_ways
@pytest.mark.parametrize("cut", [1, 18, 36])
@every_form
def test_the_state_carries_everything(form, cut, normalize, inputs):
    """Reading up to a cut and going on from the state equals reading in one go."""
    _, k, v, _ = inputs
    whole, end = form(*inputs, RetentionState.empty(k, v), normalize=normalize)
    parts, state = [], RetentionState.empty(k, v)
    for piece in (slice(cut), slice(cut, None)):
        part, state = form(*(x[:, :, piece] for x in inputs), state, normalize=normalize)
        parts.append(part)
    torch.testing.assert_close([torch.cat(parts, dim=2), *state], [whole, *end], rtol=1e-10, atol=1e-10)


@both_ways
@every_form
def test_the_future_is_unseen(form, normalize, inputs):
    """Changing the last token in every respect leaves every earlier read-out as it was."""
    q, k, v, log_decay = inputs
    before, _ = form(*inputs, RetentionState.empty(k, v), normalize=normalize)
    last = torch.tensor([TOKENS - 1])
    changed = [x.index_fill(2, last, value) for x, value in ((q, 1e6), (k, -1e6), (v, 1e6), (log_decay, -50.0))]
    after, _ = form(*changed, RetentionState.empty(k, v), normalize=normalize)
    assert torch.equal(before[:, :, :-1], after[:, :, :-1])


@both_ways
def test_gradients_are_finite_where_the_decay_underflows(normalize):
    """In float32 a fast head forgets to exactly 0 within 128 tokens, and the future would overflow."""
    q = torch.ones(1, 4, 128, 8, requires_grad=True)
    log_decay = DECAYS.build(Scheduled("layerwise", 0.86), LayerPosition(0, 4, 4), 8)(q[:, 0]).clone().requires_grad_()
    assert (log_decay.sum(-1).exp() == 0).any()
    read, _ = parallel(q, q, q, log_decay, RetentionState.empty(q, q), normalize=normalize)
    read.sum().backward()
    assert q.grad.isfinite().all()
    assert log_decay.grad.isfinite().all()


@every_form
def test_the_example_of_the_paper(form):
    """Appendix A by hand: with q = k = v = 1, γ = 1/2, the read-outs are 1, 1.5, 1.75."""
    ones = torch.ones(1, 1, 3, 1)
    log_half = torch.full((1, 1, 3), 0.5).log()
    read, state = form(ones, ones, ones, log_half, RetentionState.empty(ones, ones))
    torch.testing.assert_close(read.flatten(), torch.tensor([1.0, 1.5, 1.75]))
    torch.testing.assert_close(state.mass.flatten(), torch.tensor([1.75]))


def test_normalizing_divides_by_the_root_of_the_row_sum():
    """Rows of D do not sum to 1: it is a square root."""
    ones = torch.ones(1, 1, 3, 1)
    log_half = torch.full((1, 1, 3), 0.5).log()
    read, _ = parallel(ones, ones, ones, log_half, RetentionState.empty(ones, ones), normalize=True)
    torch.testing.assert_close(read.flatten(), torch.tensor([1.0, 1.5, 1.75]).sqrt())


@both_ways
@every_decay
@every_form
def test_in_float32_every_form_is_the_definition(form, decay, normalize):
    """Over 200 tokens: differences of added logs are least exact where a layer forgets fast."""
    q, k, v, log_decay = (x.float() for x in draw(decay, tokens=200))
    exact = [x.double() for x in (q, k, v, log_decay)]
    expected, end = recurrent(*exact, RetentionState.empty(*exact[1:3]), normalize=normalize)
    read, state = form(q, k, v, log_decay, RetentionState.empty(k, v), normalize=normalize)
    torch.testing.assert_close([x.double() for x in (read, *state)], [expected, *end], rtol=1e-4, atol=1e-4)


@both_ways
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@every_decay
@every_form
def test_half_precision_keeps_a_float32_state(form, decay, dtype, normalize):
    """What is remembered is as good as float32 makes it, even if γ itself comes in half precision.

    γ near 1 is where it matters: in bfloat16, 0.998 would be 1 and nothing would ever be forgotten.
    """
    q, k, v, log_decay = draw(decay, tokens=200, dtype=dtype)
    log_decay = log_decay.to(dtype)
    exact = [x.double() for x in (q, k, v, log_decay)]
    expected, end = recurrent(*exact, RetentionState.empty(*exact[1:3]), normalize=normalize)
    read, state = form(q, k, v, log_decay, RetentionState.empty(k, v), normalize=normalize)
    assert state.memory.dtype == state.mass.dtype == torch.float32
    torch.testing.assert_close([x.double() for x in state], list(end), rtol=1e-4, atol=1e-4)
    assert (read - expected).norm() < 0.02 * expected.norm()


def test_dropout_forgets_single_weights_and_keeps_the_mean():
    """The state, which later tokens build on, is never thinned out."""
    q, k, v, log_decay = (x[:1] for x in draw(Scheduled("original")))
    empty = RetentionState.empty(k, v)
    whole, end = chunkwise(q, k, v, log_decay, empty)
    many = [chunkwise(q, k, v, log_decay, empty, dropout=0.5) for _ in range(400)]
    assert not torch.equal(many[0][0], many[1][0])
    assert all(torch.equal(state.memory, end.memory) for _, state in many)
    mean = torch.stack([read for read, _ in many]).mean(0)
    assert (mean - whole).norm() < 0.1 * whole.norm()
