"""Searches on the device and step by step, to be compared: the networks, and the texts of rows that change places."""

import pytest
import torch
from torch.testing import assert_close

from drethtr.network.ancestry import FORMULAS, AncestralCache, Ancestry
from drethtr.network.attention import KeyValue
from drethtr.network.backend import TorchNetwork
from drethtr.network.cache import RetentionCache
from drethtr.paper.variants import EncoderDecoder, Fade, Gated, JointSoftmax, SplitSoftmax
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.model.architecture import Retentive

NETWORKS = {
    "retention": {},
    "without normalization": {"mixer": Retentive(normalize=False)},
    "gated": {"mixer": Retentive(decay=Gated())},
    "one softmax": {"mixer": JointSoftmax()},
    "faded": {"mixer": JointSoftmax(Fade())},
    "two, faded": {"mixer": SplitSoftmax(Fade())},
    "encoder-decoder": {"architecture": EncoderDecoder(layers=1, hidden=16)},
}


def both_ways(network, memory, beams, **wanted):
    """What a search on the device finds, and one step by step."""
    return [
        NetworkScorer(TorchNetwork(network, as_on_gpu=stays), memory).search(beams, **wanted) for stays in (True, False)
    ]


def agree(found, expected):
    """Whether texts are the same, and their probabilities to rounding."""
    for here, there in zip(found, expected, strict=True):
        assert [text.tokens for text in here] == [text.tokens for text in there]
        for text, other in zip(here, there, strict=True):
            assert text.log_probability == pytest.approx(other.log_probability, rel=1e-4, abs=1e-3)
            assert text.token_log_probabilities == pytest.approx(other.token_log_probabilities, rel=1e-3, abs=1e-3)


def drawn(tokens, parents, normalize):
    """A text in both caches, whose rows change places at every step, and the last query."""
    torch.manual_seed(0)
    rows, heads, width = 6, 2, 8
    like = KeyValue(*torch.randn(2, rows, heads, 1, width))
    ancestry = Ancestry.empty(rows, tokens + 3, torch.device("cpu"))
    ours, law = AncestralCache.empty(ancestry, like, FORMULAS), RetentionCache.empty(like)
    for step in range(tokens):
        text, decay = KeyValue(*torch.randn(2, rows, heads, 1, width)), -torch.rand(rows, heads, 1)
        ancestry.begin_step()
        ours, law = ours.followed_by(text, decay), law.followed_by(text, decay)
        q = torch.randn(rows, heads, 1, width)
        assert_close(ours.read(q, normalize=normalize), law.read(q, normalize=normalize))
        if step < tokens - 1:
            chosen = parents[step]
            ancestry.end_step(chosen)
            tokens_so_far = KeyValue(*(part[chosen] for part in law.latest.tokens))
            law = RetentionCache.empty(like).followed_by(tokens_so_far, law.log_decay[chosen])
    return ours, q
