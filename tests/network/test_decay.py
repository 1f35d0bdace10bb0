import numpy as np
import pytest
import torch

from drethtr.base.errors import ConfigError
from drethtr.network.decay import DECAYS
from drethtr.paper.variants import Gated
from drethtr.recognition.model.decay import LayerPosition, Scheduled


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
