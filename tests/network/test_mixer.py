"""How text tokens weigh the preceding text; test_network.py has the laws that all mixers share."""

import numpy as np
import torch
from torch.testing import assert_close

from drethtr.network.attention import KeyValue
from drethtr.network.decay import build_decay
from drethtr.network.mixer import FadedWeights, RetentiveMixer, causal_mask
from drethtr.recognition.model.decay import LayerPosition, Scheduled


def test_a_query_attends_to_itself_and_the_past():
    """Queries are the last of the keys."""
    seen = causal_mask(2, 4, torch.device("cpu"))
    assert seen is not None and seen.tolist() == [[True, True, True, False], [True] * 4]
    assert causal_mask(1, 4, torch.device("cpu")) is None, "the last one sees everything"


def test_faded_weights_by_hand():
    """γ = 1/2; normalized, the decays of a row are divided by the root of their sum over the past alone."""
    decays = torch.tensor([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, 0.5, 1.0]])
    causal = torch.ones(3, 3).tril()
    plain, normalized = (FadedWeights(torch.tensor([0.5]).log(), normalize)(causal[None, None]) for normalize in (0, 1))
    assert_close(plain[0, 0], decays)
    assert_close(normalized[0, 0], decays / torch.tensor([1.0, 1.5, 1.75]).sqrt()[:, None])
    last = FadedWeights(torch.tensor([0.5]).log(), normalize=True)(torch.ones(1, 1, 1, 3))
    assert_close(last[0, 0], decays[2:] / np.sqrt(1.75))


def test_retention_by_hand():
    """Two tokens, one head 4 wide: queries are divided by 2, and γ is that of the schedule (paper, eq. 2)."""
    position = LayerPosition(0, 2, 1)
    [gamma] = Scheduled().gamma(position).tolist()
    mixer = RetentiveMixer(build_decay(Scheduled(), position, 4), normalize=False)
    q, k, v = torch.randn(3, 1, 1, 2, 4, generator=torch.Generator().manual_seed(0)).unbind()
    mixed, _ = mixer(torch.zeros(1, 2, 4), q, KeyValue(k, v), mixer.initial_state(KeyValue(k, v)), dropout=0.0)
    scores = (q @ k.mT / 2)[0, 0]
    first = scores[0, 0] * v[0, 0, 0]
    second = gamma * scores[1, 0] * v[0, 0, 0] + scores[1, 1] * v[0, 0, 1]
    assert_close(mixed[0, 0], torch.stack([first, second]))
