"""The laws of retention: three forms, one operator."""

from functools import partial

import numpy as np
import pytest
import torch

from drethtr.base.errors import ConfigError
from drethtr.network.retention import DECAYS, RetentionState, chunkwise, parallel, recurrent
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


def gammas(schedule, subtractor, layers, heads):
    return [Scheduled(schedule, subtractor).gamma(LayerPosition(layer, layers, heads)) for layer in range(layers)]


def test_layerwise_is_the_published_table():
    """First and last head of SMALL, and first head of BASE."""
    small = gammas("layerwise", 0.86, 4, 8)
    assert np.allclose([gamma[0] for gamma in small], [0.1088, 0.3954, 0.6821, 0.9688], atol=6e-5)
    assert np.allclose([gamma[-1] for gamma in small], [0.1380, 0.4247, 0.7114, 0.9980], atol=6e-5)
    base = gammas("layerwise", 0.86, 12, 12)
    first = [0.1088, 0.1869, 0.2651, 0.3433, 0.4215, 0.4997, 0.5778, 0.6560, 0.7342, 0.8124, 0.8906, 0.9688]
    assert np.allclose([gamma[0] for gamma in base], first, atol=6e-5)
    assert np.allclose([gamma[-1] - gamma[0] for gamma in base], 0.0293, atol=6e-5)


def test_the_other_schedules_are_the_same_in_every_layer():
    spread = 1 / np.geomspace(32, 512, 8)
    headwise = np.linspace(1 - 0.86 - 1 / 32, 1 - 1 / 32, 8)
    for name, expected in {"original": 1 - spread, "small": 1 - 0.86 - spread, "headwise": headwise}.items():
        assert np.allclose(gammas(name, 0.86, 4, 8), expected, atol=1e-6)
    assert np.allclose([headwise[0], headwise[-1]], [0.1088, 0.9688], atol=6e-5)


def test_a_single_layer_remembers_as_far_as_a_last_one():
    assert np.allclose(gammas("layerwise", 0.86, 1, 8)[0], gammas("original", 0, 1, 8)[0])


@pytest.mark.parametrize(
    ("subtractor", "layer"), [(0.99, 0), (0.98, 0), (-0.1, 0), (-0.1, 1)], ids=["0.99", "0.98", "-0.1", "-0.1 later"]
)
def test_a_gamma_outside_0_and_1_is_refused_and_the_layer_named(subtractor, layer):
    with pytest.raises(ConfigError, match=rf"γ must stay between 0 and 1; .* gives \[.* at layer {layer}"):
        DECAYS.build(Scheduled("layerwise", subtractor), LayerPosition(layer, 4, 8), 16)


def test_an_unknown_schedule_lists_the_known():
    with pytest.raises(ConfigError, match="unknown decay schedule 'layer-wise'; known: original, small, headwise, lay"):
        Scheduled("layer-wise")


def test_a_scheduled_decay_is_the_same_for_every_token():
    decay = DECAYS.build(Scheduled(), LayerPosition(1, 4, 8), 16)
    log_gamma = decay(torch.randn(3, 5, 16))
    assert log_gamma.shape == (1, 8, 5)
    assert torch.equal(log_gamma.exp()[0, :, 4], log_gamma.exp()[0, :, 0])
    torch.testing.assert_close(
        log_gamma[0, :, 0].exp(), torch.tensor(Scheduled().gamma(LayerPosition(1, 4, 8))).float()
    )
    assert not decay.state_dict()


def test_a_schedule_has_values_even_where_weights_have_none():
    """A network built on the meta device, to be filled from a file, has no file to take γ from."""
    with torch.device("meta"):
        decay = DECAYS.build(Scheduled(), LayerPosition(1, 4, 8), 16)
    torch.testing.assert_close(decay.log_gamma.exp(), torch.tensor(Scheduled().gamma(LayerPosition(1, 4, 8))).float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_a_gate_follows_its_formula(dtype):
    """γ = sigmoid(x W)^(1/16), in float32 or better (paper, eq. 5)."""
    torch.manual_seed(0)
    decay, x = DECAYS.build(Gated(), LayerPosition(0, 4, 8), 16).to(dtype), torch.randn(3, 5, 16).to(dtype)
    log_gamma = decay(x)
    assert log_gamma.dtype == torch.promote_types(dtype, torch.float32)
    expected = (x.double() @ decay.gate.weight.double().T).sigmoid() ** (1 / 16)
    torch.testing.assert_close(log_gamma.exp().double(), expected.mT, rtol=1e-3, atol=0)


def test_a_fresh_gate_remembers():
    """Before it has learned anything, γ = 0.5^(1/16) = 0.9576."""
    decay = DECAYS.build(Gated(), LayerPosition(0, 4, 8), 16)
    assert torch.allclose(decay(torch.zeros(1, 1, 16)).exp(), torch.tensor(0.9576), atol=5e-5)


@pytest.mark.parametrize("temperature", [0, -16, float("nan"), float("inf")])
def test_a_gate_needs_a_temperature_above_0(temperature):
    with pytest.raises(ConfigError, match=f"temperature must be positive and finite, not {temperature}"):
        Gated(temperature)
